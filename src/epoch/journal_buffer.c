// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/journal_internal.h"
#include "base/ensure.h"
#include "base/fault.h"

/*
 *  | record | record | SEGMENT | head ... | BEGUN | record | record |
 *                 ^ done: the bytes before are in the file          ^ n
 */

#define SMALLEST 4096
#define LARGE (UINT32_C(1) << 20)

bool buffer_grow(struct record_buffer *buffer, size_t n)
{
	size_t capacity = buffer->capacity ? buffer->capacity : SMALLEST;
	while (capacity - buffer->n < n)
		capacity *= 2;
	uint8_t *grown =
		fault_hit("journal.memory") ? NULL : realloc(buffer->bytes, capacity);
	if (!grown)
		return false;
	buffer->bytes = grown;
	buffer->capacity = capacity;
	return true;
}

static uint8_t kind_at(const struct record_buffer *buffer, size_t at)
{
	return buffer->bytes[at + offsetof(struct disk_record, kind)];
}

bool buffer_at_segment(const struct record_buffer *buffer)
{
	return buffer->done % sizeof(struct disk_record) == 0 &&
	       kind_at(buffer, buffer->done) == RECORD_SEGMENT;
}

size_t buffer_run_end(const struct record_buffer *buffer)
{
	const size_t unit = sizeof(struct disk_record);
	size_t at = (buffer->done + unit - 1) / unit * unit;
	ensure(buffer->n % unit == 0);
	while (at < buffer->n && kind_at(buffer, at) != RECORD_SEGMENT)
		at += unit;
	return at;
}

static struct disk_record *record_at(const struct record_buffer *buffer, size_t at)
{
	return (struct disk_record *)(buffer->bytes + at);
}

void buffer_seal(struct record_buffer *buffer, uint32_t *checksum)
{
	for (size_t at = 0; at < buffer->n; at += sizeof(struct disk_record)) {
		if (kind_at(buffer, at) == RECORD_SEGMENT) {
			at += sizeof(struct disk_record);
			const struct disk_head *head =
				(const void *)record_at(buffer, at);
			*checksum = le32toh(head->checksum);
			at += sizeof(*head);
		}
		struct disk_record *record = record_at(buffer, at);
		*checksum = record_checksum(record, *checksum);
		record->checksum = htole32(*checksum);
	}
}

void buffer_reset(struct record_buffer *buffer)
{
	buffer->n = 0;
	buffer->done = 0;
	if (buffer->capacity <= LARGE)
		return;
	free(buffer->bytes);
	buffer->bytes = NULL;
	buffer->capacity = 0;
}
