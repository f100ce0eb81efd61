// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "base/byte_order.h"
#include "coord/coord_facts.h"
#include "coord/coord_resp_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The server may be broken or hostile, so types, lengths and ranges are checked. */

/* --- texts and numbers ------------------------------------------------------------------ */

bool resp_is_array(const redisReply *reply, size_t least)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements >= least;
}

bool resp_is_text(const redisReply *reply, size_t size)
{
	return reply->type == REDIS_REPLY_STRING && (size_t)reply->len < size &&
	       strlen(reply->str) == (size_t)reply->len;
}

bool resp_take_name(const redisReply *reply, char ret[COORD_NAME])
{
	if (!resp_is_text(reply, COORD_NAME) || !coord_name_is_good(reply->str))
		return false;
	strcpy(ret, reply->str);
	return true;
}

static bool take_digits(const char **at, int base, uint64_t most, uint64_t *ret)
{
	char *end;
	if (!isxdigit((unsigned char)**at)) /* strtoull would accept signs and spaces */
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, base);
	bool good = end != *at && errno == 0 && *ret <= most;
	*at = end;
	return good;
}

bool resp_take_u64(const redisReply *reply, uint64_t most, uint64_t *ret)
{
	if (reply->type == REDIS_REPLY_INTEGER) {
		*ret = (uint64_t)reply->integer;
		return reply->integer >= 0 && *ret <= most;
	}
	const char *at = reply->str;
	return resp_is_text(reply, 32) && take_digits(&at, 10, most, ret) && !*at;
}

bool resp_take_u32(const redisReply *reply, uint32_t least, uint32_t most, uint32_t *ret)
{
	uint64_t number;
	if (!resp_take_u64(reply, most, &number))
		return false;
	*ret = (uint32_t)number;
	return number >= least;
}

bool resp_take_flag(const redisReply *reply, bool *ret)
{
	uint32_t number;
	bool good = resp_take_u32(reply, 0, 1, &number);
	*ret = good && number;
	return good;
}

bool resp_take_hex(const redisReply *reply, uint64_t *ret)
{
	const char *at = reply->str;
	return resp_is_text(reply, 32) && resp_take_hex_at(&at, ret) && !*at;
}

bool resp_take_hex_at(const char **at, uint64_t *ret)
{
	return take_digits(at, 16, UINT64_MAX, ret);
}

bool resp_take_position(const redisReply *reply, struct coord_position *ret)
{
	uint64_t epoch, position;
	const char *at = reply->str;
	if (!resp_is_text(reply, 32) || !take_digits(&at, 10, COORD_EPOCHS, &epoch) ||
		*at++ != ':' || !take_digits(&at, 10, UINT32_MAX - 1, &position))
		return false;
	*ret = (struct coord_position){(uint32_t)epoch, (uint32_t)position};
	return *at == '\0';
}

/* --- sets of samples -------------------------------------------------------------------- */

/* A roaring bitmap has a container for the values with equal upper 16 bits, the container's key. A
 * container is an array, bits, or runs of consecutive values. The portable format has these parts:
 * a cookie, which tells whether any container has runs; the number of containers; if any has runs,
 * a bit for each container, which is set if this container has runs; the key and count - 1 of each
 * container; the offset of each container; the containers. The library's own reader trusts the
 * counts in containers, so this reader checks them. */

#define COOKIE_PLAIN 12346
#define COOKIE_RUNS 12347
#define OFFSETS_FROM 4	/* a set with runs and fewer containers has no offsets */
#define ARRAY_MOST 4096 /* most values in an array; more are stored as bits */
#define BITS_BYTES 8192

struct ids {
	const uint8_t *at;
	size_t left;
	roaring_bitmap_t *set;
	uint64_t next; /* least allowed next value */
	size_t n;      /* buffered values */
	uint32_t values[256];
};

static const uint8_t *take_bytes(struct ids *ids, size_t n)
{
	const uint8_t *at = ids->at;
	if (n > ids->left)
		return NULL;
	ids->at += n;
	ids->left -= n;
	return at;
}

static void add_values(struct ids *ids)
{
	roaring_bitmap_add_many(ids->set, ids->n, ids->values);
	ids->n = 0;
}

static bool add_range(struct ids *ids, uint64_t from, uint64_t n)
{
	if (from < ids->next || from + n > SAMPLE_NONE)
		return false;
	roaring_bitmap_add_range(ids->set, from, from + n);
	ids->next = from + n;
	return true;
}

static bool add_value(struct ids *ids, uint32_t value)
{
	if (value < ids->next || value == SAMPLE_NONE)
		return false;
	ids->next = (uint64_t)value + 1;
	ids->values[ids->n++] = value;
	if (ids->n == sizeof(ids->values) / sizeof(ids->values[0]))
		add_values(ids);
	return true;
}

static bool take_runs(struct ids *ids, uint32_t base, uint32_t *ret_count)
{
	const uint8_t *head = take_bytes(ids, 2);
	uint32_t n = head ? get_le16(head) : 0;
	const uint8_t *runs = take_bytes(ids, 4 * (size_t)n);
	*ret_count = 0;
	for (uint32_t i = 0; runs && i < n; i++) {
		uint32_t from = get_le16(runs + 4 * i),
			 count = get_le16(runs + 4 * i + 2);
		if (from + count > UINT16_MAX || !add_range(ids, base + from, count + 1U))
			return false;
		*ret_count += count + 1U;
	}
	return runs != NULL;
}

static bool take_array(struct ids *ids, uint32_t base, uint32_t n)
{
	const uint8_t *values = take_bytes(ids, 2 * (size_t)n);
	for (uint32_t i = 0; values && i < n; i++)
		if (!add_value(ids, base + get_le16(values + 2 * i)))
			return false;
	return values != NULL;
}

static bool take_bits(struct ids *ids, uint32_t base, uint32_t n)
{
	const uint8_t *bits = take_bytes(ids, BITS_BYTES);
	uint32_t count = 0;
	for (uint32_t i = 0; bits && i < 8 * BITS_BYTES; i++) {
		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		count++;
		if (!add_value(ids, base + i))
			return false;
	}
	return count == n;
}

static bool take_container(struct ids *ids, const uint8_t *head, bool runs)
{
	uint32_t base = (uint32_t)get_le16(head) << 16, n = get_le16(head + 2) + 1U,
		 count;
	if (runs)
		return take_runs(ids, base, &count) && count == n;
	return n > ARRAY_MOST ? take_bits(ids, base, n) : take_array(ids, base, n);
}

static bool take_set(struct ids *ids)
{
	const uint8_t *word = take_bytes(ids, 4), *runs = NULL;
	uint32_t cookie = word ? get_le32(word) : 0, n;
	if ((cookie & UINT16_MAX) == COOKIE_RUNS) {
		n = (cookie >> 16) + 1;
		runs = take_bytes(ids, (n + 7) / 8);
		if (!runs)
			return false;
	} else {
		word = take_bytes(ids, 4);
		n = word ? get_le32(word) : 0;
		if (cookie != COOKIE_PLAIN || !word || n > UINT16_MAX + 1U)
			return false;
	}
	const uint8_t *heads = take_bytes(ids, 4 * (size_t)n);
	if (!heads)
		return false;
	if ((!runs || n >= OFFSETS_FROM) && !take_bytes(ids, 4 * (size_t)n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!take_container(ids, heads + 4 * i, runs && runs[i / 8] >> i % 8 & 1))
			return false;
	return ids->left == 0;
}

int resp_take_ids(const redisReply *reply, roaring_bitmap_t **ret)
{
	*ret = NULL;
	if (reply->type != REDIS_REPLY_STRING)
		return -EBADE;
	*ret = roaring_bitmap_create();
	if (!*ret)
		return -ENOMEM;
	struct ids ids = {.at = (const uint8_t *)reply->str,
		.left = (size_t)reply->len,
		.set = *ret};
	bool good = take_set(&ids);
	add_values(&ids);
	if (!good)
		bitmap_free(ret);
	return good ? 0 : -EBADE;
}

#endif
