// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "tier/tier_file.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define VERSION 1

struct head {
	char magic[8];
	uint32_t version;
	uint32_t id;
	uint64_t identity;
	uint64_t bytes;
	uint32_t bytes_crc;
	uint32_t head_crc;
};

_Static_assert(sizeof(struct head) == RECORD_HEAD, "without gaps");

void record_name(sample_id id, uint64_t identity, char ret[RECORD_NAME])
{
	snprintf(ret, RECORD_NAME, "%06" PRIx32 "/%08" PRIx32 "-%016" PRIx64,
		id / RECORD_FANOUT, id, identity);
}

bool record_parse_name(const char *directory, const char *name, sample_id *ret_id,
	uint64_t *ret_identity)
{
	char expected[RECORD_NAME], found[RECORD_NAME];
	if (sscanf(name, "%8" SCNx32 "-%16" SCNx64, ret_id, ret_identity) != 2)
		return false;
	record_name(*ret_id, *ret_identity, expected);
	int n = snprintf(found, sizeof(found), "%s/%s", directory, name);
	return n > 0 && (size_t)n < sizeof(found) && strcmp(expected, found) == 0;
}

static uint32_t crc_of(const void *bytes, uint64_t n)
{
	return (uint32_t)crc32_z(0, bytes, n);
}

void record_make_head(sample_id id, uint64_t identity, const void *bytes, uint64_t n,
	uint8_t ret[RECORD_HEAD])
{
	struct head head = {.magic = {'j', 'o', 'a', 'd', 't', 'i', 'e', 'r'},
		.version = htole32(VERSION),
		.id = htole32(id),
		.identity = htole64(identity),
		.bytes = htole64(n),
		.bytes_crc = htole32(crc_of(bytes, n))};
	head.head_crc = htole32(crc_of(&head, offsetof(struct head, head_crc)));
	memcpy(ret, &head, sizeof(head));
}

bool record_is_whole(const uint8_t head[RECORD_HEAD], sample_id id, uint64_t identity,
	const void *bytes, uint64_t n)
{
	uint8_t expected[RECORD_HEAD];
	record_make_head(id, identity, bytes, n, expected);
	return memcmp(expected, head, sizeof(expected)) == 0;
}
