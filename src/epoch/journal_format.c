// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/journal_internal.h"
#include "base/ensure.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

uint32_t record_checksum(const struct disk_record *record, uint32_t before)
{
	const uint8_t *bytes = (const uint8_t *)record;
	const size_t own = sizeof(record->checksum);
	return (uint32_t)crc32_z(before, bytes + own, sizeof(*record) - own);
}

static uint8_t detail_of(const struct record *record)
{
	switch (record->kind) {
	case RECORD_BEGUN:
		return record->rolls;
	case RECORD_BOUND:
		return (uint8_t)record->served;
	case RECORD_OPENED:
		return (uint8_t)(record->how | (record->label ? DETAIL_LABEL : 0));
	default:
		return 0;
	}
}

struct disk_record record_encode(
	const struct record *record, uint32_t segment, uint32_t number)
{
	ensure(record->kind >= RECORD_BEGUN && record->kind < RECORD_KINDS);
	ensure(record->epoch <= segment && segment - record->epoch <= UINT16_MAX);
	bool of_position = record->kind == RECORD_BOUND ||
			   record->kind == RECORD_OPENED ||
			   record->kind == RECORD_CONSUMED;
	uint32_t value = record->kind == RECORD_BOUND	 ? record->sample
			 : record->kind == RECORD_OPENED ? number
							 : 0;
	return (struct disk_record){
		.kind = (uint8_t)record->kind,
		.detail = detail_of(record),
		.back = htole16((uint16_t)(segment - record->epoch)),
		.position = htole32(of_position ? record->position : 0),
		.value = htole32(value),
	};
}

struct disk_record record_encode_reader(uint64_t id, uint8_t part)
{
	return (struct disk_record){
		.kind = RECORD_READER,
		.detail = part,
		.position = htole32((uint32_t)id),
		.value = htole32((uint32_t)(id >> 32)),
	};
}

uint64_t record_reader(const struct disk_record *record)
{
	return (uint64_t)le32toh(record->value) << 32 | le32toh(record->position);
}

static uint64_t wall_clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint32_t head_checksum(const struct disk_head *head)
{
	return (uint32_t)crc32_z(
		0, (const uint8_t *)head, offsetof(struct disk_head, checksum));
}

struct disk_head head_encode(
	const struct journal_identity *identity, uint32_t epoch, uint32_t before)
{
	struct disk_head head = {
		.version = htole32(JOURNAL_VERSION),
		.id = htole32(identity->id),
		.positions = htole32(identity->positions),
		.samples = htole32(identity->samples),
		.fingerprint = htole64(identity->fingerprint),
		.begun_ns = htole64(wall_clock_ns()),
		.epoch = htole32(epoch),
		.before = htole32(before),
	};
	memcpy(head.magic, JOURNAL_MAGIC, sizeof(head.magic));
	head.checksum = htole32(head_checksum(&head));
	return head;
}

int journal_path(const char *directory, uint32_t epoch, const char *ending,
	struct journal_path *ret)
{
	int n = snprintf(ret->text, sizeof(ret->text), "%s/" JOURNAL_PREFIX "%04u%s",
		directory, epoch, ending);
	if (n > 0 && (size_t)n < sizeof(ret->text))
		return 0;
	log_error("%s: %s", directory, strerror(ENAMETOOLONG));
	return -ENAMETOOLONG;
}
