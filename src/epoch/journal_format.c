// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "epoch/journal_internal.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

uint32_t record_checksum(const struct disk_record *record, uint32_t before)
{
	const uint8_t *bytes = (const uint8_t *)record;
	const size_t own = sizeof(record->checksum);
	return (uint32_t)crc32_z(before, bytes + own, sizeof(*record) - own);
}

struct disk_record record_encode(
	const struct record *record, uint32_t segment, uint32_t number)
{
	ensure(record->kind >= RECORD_BEGUN && record->kind < RECORD_KINDS);
	ensure(record->epoch <= segment && segment - record->epoch <= UINT16_MAX);
	uint32_t detail = 0, position = 0, value = 0;
	switch (record->kind) {
	case RECORD_BOUND:
		detail = record->served;
		position = record->position;
		value = record->sample;
		break;
	case RECORD_OPENED:
		detail = record->how | (record->label ? DETAIL_LABEL : 0);
		position = record->position;
		value = number;
		break;
	case RECORD_CONSUMED:
		position = record->position;
		break;
	case RECORD_RESTORED:
		detail = record->drains;
		position = record->consumed;
		value = record->bound;
		break;
	case RECORD_BEGUN:
		detail = record->rolls;
		value = record->bound;
		break;
	default:
		break;
	}
	return (struct disk_record){
		.kind = (uint8_t)record->kind,
		.detail = (uint8_t)detail,
		.back = htole16((uint16_t)(segment - record->epoch)),
		.position = htole32(position),
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

uint32_t head_checksum(const struct disk_head *head)
{
	return (uint32_t)crc32_z(
		0, (const uint8_t *)head, offsetof(struct disk_head, checksum));
}

uint64_t head_journal(const struct disk_head *head)
{
	return (uint64_t)le32toh(head->journal[1]) << 32 | le32toh(head->journal[0]);
}

struct disk_head head_encode(
	const struct journal_identity *identity, const struct segment *segment)
{
	struct disk_head head = {
		.version = htole32(JOURNAL_VERSION),
		.id = htole32(identity->id),
		.positions = htole32(identity->positions),
		.samples = htole32(identity->samples),
		.fingerprint = htole64(identity->fingerprint),
		.begun_ns = htole64(clock_ns(CLOCK_REALTIME)),
		.epoch = htole32(segment->number),
		.before = htole32(segment->before),
		.lag = htole32(segment->lag),
		.journal = {htole32((uint32_t)segment->journal),
			htole32((uint32_t)(segment->journal >> 32))},
	};
	memcpy(head.magic, JOURNAL_MAGIC, sizeof(head.magic));
	head.checksum = htole32(head_checksum(&head));
	return head;
}

const char *const journal_order_endings[2] = {".running", ".draining"};

char *journal_order_of(const char *directory, uint32_t segment, bool drains)
{
	return aprintf("%s/" JOURNAL_PREFIX "%04u%s", directory, segment,
		journal_order_endings[drains]);
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
