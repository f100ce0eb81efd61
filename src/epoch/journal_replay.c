// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "base/compare.h"
#include "epoch/disk.h"
#include "epoch/journal_internal.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>

/* The heads of all segments are read first (journal_heads.c), then their records, one by one. Files
 * are changed only if all records before the damaged end of the journal are valid. */

#define BLOCK_RECORDS 4096

struct numbered {
	uint32_t number; /* the first member, because compare_u32 compares it */
	struct reader is;
};

struct reading {
	const struct journal_identity *identity;
	uint32_t positions; /* number of positions of the largest epoch */
	journal_replayed *replayed;
	void *context;
	/* the first epoch whose records are replayed; UINT32_MAX: no segment has been read yet */
	uint32_t oldest;

	struct journal_path path;
	uint32_t epoch; /* first epoch of the segment */
	uint64_t size;
	struct journal_end at; /* how far the journal was read */

	struct numbered *readers; /* ordered by number */
	struct reader next;	  /* the reader whose READER records are being read */
	uint32_t n_readers;
	size_t readers_capacity;
};

static int refuse(const struct reading *reading, const char *format, ...)
	printf_like(2, 3);

static int refuse(const struct reading *reading, const char *format, ...)
{
	char text[200];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_error("%s: byte %" PRIu64 ": found %s" JOURNAL_REFUSED, reading->path.text,
		reading->at.offset, text);
	return -EINVAL;
}

/* Returns NULL if the segment has no reader of this number, or a compaction has removed it. */
static const struct reader *find_reader(const struct reading *reading, uint32_t number)
{
	const struct numbered *found = NULL;
	if (reading->n_readers > 0)
		found = bsearch(&number, reading->readers, reading->n_readers,
			sizeof(*found), compare_u32);
	return found ? &found->is : NULL;
}

static int add_reader(struct reading *reading, const struct disk_record *disk)
{
	uint8_t part = disk->detail;
	uint64_t id = record_reader(disk);
	if (part == READER_SKIPPED)
		reading->at.readers += le32toh(disk->value);
	if (part == READER_SKIPPED || part == READER_SEAM)
		return 0;
	if (part != READER_THREAD) {
		*(part == READER_RANK ? &reading->next.rank : &reading->next.script) = id;
		return 0;
	}
	if (!array_make_room(
		    reading->readers, reading->n_readers, &reading->readers_capacity))
		return -ENOMEM;
	reading->next.thread = id;
	reading->readers[reading->n_readers++] =
		(struct numbered){++reading->at.readers, reading->next};
	reading->next = (struct reader){0};
	return 0;
}

static int check_fields(const struct reading *reading, const struct disk_record *disk)
{
	const struct journal_identity *identity = reading->identity;
	uint32_t positions = reading->positions;
	uint32_t position = le32toh(disk->position), value = le32toh(disk->value);
	bool begins = reading->at.offset == sizeof(struct disk_head);
	bool restored = disk->kind == RECORD_RESTORED;
	if (begins != (disk->kind == RECORD_BEGUN || (restored && disk->detail == 0)))
		return refuse(reading, "a record of kind %u, allowed: %s", disk->kind,
			begins ? "kind 1 (BEGUN) or 7 (RESTORED), as the first"
			       : "kind 1 (BEGUN) as the first only");
	if (le16toh(disk->back) > reading->epoch || (begins && disk->back != 0))
		return refuse(reading,
			"a record about %u epochs before, allowed: up to %u",
			le16toh(disk->back), begins ? 0 : reading->epoch);
	if (restored && (position > value || value > positions))
		return refuse(reading,
			"a RESTORED with %u of %u consumed, allowed: up to %u of %u",
			position, value, value, positions);
	if (position >= positions && disk->kind != RECORD_READER && !restored)
		return refuse(
			reading, "position %u, allowed: below %u", position, positions);
	switch (disk->kind) {
	case RECORD_BEGUN:
		if (disk->detail > 1)
			return refuse(reading, "a BEGUN with detail %u, allowed: 0, 1",
				disk->detail);
		if (value > positions)
			return refuse(reading, "a BEGUN with %u bound, allowed: up to %u",
				value, positions);
		break;
	case RECORD_BOUND:
		if (value >= identity->samples)
			return refuse(reading, "sample %u, allowed: below %u", value,
				identity->samples);
		if (disk->detail > SERVED_SKIPPED)
			return refuse(reading, "a BOUND with detail %u, allowed: 0 to %d",
				disk->detail, SERVED_SKIPPED);
		break;
	case RECORD_OPENED:
		if (value > 0 && !find_reader(reading, value))
			return refuse(reading,
				"reader %u, allowed: up to %u, the numbers given so far",
				value, reading->at.readers);
		if ((disk->detail & ~DETAIL_LABEL) >= OPENED_HOWS)
			return refuse(reading,
				"an OPENED with detail %u, allowed: 0 to %d, and 128 "
				"more",
				disk->detail, OPENED_HOWS - 1);
		break;
	case RECORD_READER:
		if (disk->detail == READER_SKIPPED &&
			value > UINT32_MAX - 1 - reading->at.readers)
			return refuse(reading,
				"%u numbers of readers skipped, allowed: up to %u", value,
				UINT32_MAX - 1 - reading->at.readers);
		if (disk->detail >= READER_PARTS && disk->detail != READER_SKIPPED &&
			disk->detail != READER_SEAM)
			return refuse(reading,
				"a READER with detail %u, allowed: 0 to %d", disk->detail,
				READER_PARTS - 1);
		break;
	case RECORD_RESTORED:
		if (disk->detail > 1)
			return refuse(reading, "a RESTORED with detail %u, allowed: 0, 1",
				disk->detail);
		break;
	case RECORD_CONSUMED:
	case RECORD_ENDED:
	case RECORD_LET_GO:
		break;
	default:
		return refuse(reading, "a record of kind %u, allowed: 1 to %d and %d",
			disk->kind, RECORD_KINDS - 1, RECORD_READER);
	}
	return 0;
}

static struct record decode(const struct reading *reading, const struct disk_record *disk)
{
	uint32_t value = le32toh(disk->value);
	struct record record = {
		.kind = (enum record_kind)disk->kind,
		.epoch = reading->epoch - le16toh(disk->back),
		.position = le32toh(disk->position),
	};
	if (disk->kind == RECORD_BEGUN) {
		record.rolls = disk->detail;
		record.bound = value;
	}
	if (disk->kind == RECORD_RESTORED) {
		record.position = 0;
		record.bound = value;
		record.consumed = le32toh(disk->position);
		record.drains = disk->detail;
		record.segment = reading->at.last;
	}
	if (disk->kind == RECORD_BOUND) {
		record.sample = value;
		record.served = (enum served)disk->detail;
	}
	if (disk->kind == RECORD_OPENED) {
		record.how = (enum opened_how)(disk->detail & ~DETAIL_LABEL);
		record.label = disk->detail & DETAIL_LABEL;
	}
	if (disk->kind == RECORD_OPENED && value > 0)
		record.reader = *find_reader(reading, value);
	return record;
}

static const char *const kind_names[RECORD_KINDS] = {
	[RECORD_BEGUN] = "BEGUN",
	[RECORD_BOUND] = "BOUND",
	[RECORD_OPENED] = "OPENED",
	[RECORD_CONSUMED] = "CONSUMED",
	[RECORD_ENDED] = "ENDED",
	[RECORD_LET_GO] = "LET_GO",
	[RECORD_RESTORED] = "RESTORED",
};

static int replay_record(struct reading *reading, const struct disk_record *disk)
{
	const char *reason = "it contradicts the records before it";
	int err = check_fields(reading, disk);
	if (err)
		return err;
	if (disk->kind == RECORD_READER)
		return add_reader(reading, disk);
	struct record record = decode(reading, disk);
	if (record.kind == RECORD_RESTORED) /* RESTORED makes all earlier records void */
		reading->oldest = record.epoch;
	if (record.epoch < reading->oldest && record.kind != RECORD_BEGUN)
		return 0;
	err = reading->replayed(reading->context, &record, &reason);
	if (err == -EINVAL)
		return refuse(reading, "%s of epoch %u, position %u, sample %u: %s",
			kind_names[record.kind], record.epoch, record.position,
			record.sample, reason);
	return err;
}

/* Replays the records of a segment up to the first record that is incomplete or has a wrong
 * checksum. */
static int replay_records(struct reading *reading, int fd)
{
	const size_t unit = sizeof(struct disk_record);
	auto_free struct disk_record *block = malloc(BLOCK_RECORDS * unit);
	if (!block)
		return -ENOMEM;
	for (;;) {
		size_t bytes;
		int err = disk_read(
			fd, block, BLOCK_RECORDS * unit, reading->at.offset, &bytes);
		if (err)
			return disk_cant(reading->path.text, "read", err);
		for (size_t i = 0; i < bytes / unit; i++) {
			uint32_t sum = record_checksum(&block[i], reading->at.checksum);
			if (sum != le32toh(block[i].checksum))
				return 0;
			err = replay_record(reading, &block[i]);
			if (err)
				return err;
			reading->at.checksum = sum;
			reading->at.offset += unit;
		}
		if (bytes / unit < BLOCK_RECORDS)
			return 0;
	}
}

static int replay_segment(struct reading *reading, const char *directory, uint32_t epoch)
{
	struct disk_head head;
	enum head_found found;
	struct stat st;
	auto_close int fd = -1;
	reading->at.last = epoch;
	reading->n_readers = reading->at.readers = 0;
	int err = journal_open_segment(directory, epoch, O_RDONLY, &reading->path, &fd);
	if (!err && fstat(fd, &st) != 0)
		err = disk_cant(reading->path.text, "read", -errno);
	if (!err)
		err = head_read(fd, reading->path.text, epoch, &head, &found);
	if (err)
		return err;
	if (found != HEAD_GOOD)
		return -EINVAL;
	reading->at.lag = le32toh(head.lag);
	reading->epoch = epoch - reading->at.lag;
	reading->at.journal = head_journal(&head);
	if (reading->oldest == UINT32_MAX)
		reading->oldest = reading->epoch;
	reading->size = (uint64_t)st.st_size;
	reading->at.offset = sizeof(head);
	reading->at.checksum = le32toh(head.checksum);
	return replay_records(reading, fd);
}

/* torn: a segment with an incomplete head follows the n segments */
static int replay_segments(struct reading *reading, const char *directory,
	const uint32_t *segments, size_t n, bool torn, enum journal_found *ret_found,
	struct journal_end *ret)
{
	int err = 0;
	*ret_found = JOURNAL_NEW;
	for (size_t i = 0; i < n && !err; i++) {
		bool last = i == n - 1 && !torn;
		err = replay_segment(reading, directory, segments[i]);
		if (err)
			break;
		bool some = reading->at.offset > sizeof(struct disk_head);
		if (!last && (!some || reading->at.offset < reading->size))
			err = refuse(reading, "a damaged record, allowed: only at the "
					      "end of the last segment");
		else if (reading->at.offset < reading->size || !some)
			err = journal_cut(directory, segments[i], reading->at.offset);
		if (!err && some) {
			*ret = reading->at;
			*ret_found = JOURNAL_SAME;
		}
	}
	return !err && torn ? journal_cut(directory, segments[n], 0) : err;
}

int journal_replay(const char *directory, const struct journal_identity *identity,
	journal_replayed *replayed, void *context, enum journal_found *ret_found,
	struct journal_end *ret)
{
	auto_free uint32_t *segments = NULL;
	size_t n;
	bool torn;
	*ret_found = JOURNAL_NEW;
	int err = disk_list(directory, JOURNAL_PREFIX, "", &segments, &n);
	if (err)
		return disk_cant(directory, "read", err);
	if (n == 0)
		return 0;
	err = journal_read_heads(directory, identity, segments, n, ret_found, &torn);
	if (err || *ret_found == JOURNAL_OTHER)
		return err;
	struct reading reading = {
		.identity = identity,
		.positions = journal_most_positions(identity),
		.replayed = replayed,
		.context = context,
		.oldest = UINT32_MAX,
		.at.first = segments[0],
	};
	err = replay_segments(
		&reading, directory, segments, n - torn, torn, ret_found, ret);
	free(reading.readers);
	return err;
}
