// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "base/compare.h"
#include "epoch/journal_internal.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

/* HASH_ADD without memory leaves the element's hh.tbl NULL instead of exiting. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * Compacts a segment that has far more records than positions. The last opens of each script,
 * the READERs that are still needed, and all records of other kinds stay; other opens are dropped.
 *
 *  journal-0003      | head | BEGUN | BOUND | READER OPENED OPENED ... OPENED | later |
 *  journal-0003.new  | head | BEGUN | BOUND | READER OPENED            SEAM   | later |
 *
 * The later records, written since the compaction began, are copied unchanged while no thread
 * writes. In journal-0003 the first later record follows a record R, and its checksum continues the
 * checksum of R. In journal-0003.new the first later record follows the SEAM. The value of the SEAM
 * is chosen so that the SEAM has the same checksum as R.
 *
 * When journal-0003.new is completely on the disk, it is renamed to journal-0003. If the process
 * ends before, an incomplete journal-0003.new is left, which is never read.
 */

#define BLOCK_RECORDS 4096
#define OPENS_KEPT 4	/* opens of a script that stay, for each position of the epoch */
#define SCRIPTS_KEPT 32 /* scripts whose opens stay: twice as many as an engine knows */
#define LONG_POSITION (16 * sizeof(struct disk_record))

struct script_opens {
	uint64_t id;
	uint64_t opens, seen;
	/* number of the script's last open among the opens of all scripts, from 1 on */
	uint64_t last;
	bool kept;
	UT_hash_handle hh;
};

/* A reader (a thread) that has a number in the segment. */
struct told {
	uint32_t number; /* the first member, because compare_u32 compares it */
	bool needed;
	struct script_opens *script;
	/* number of the reader's last open among its script's opens, from 1 on; 0: no open */
	uint64_t last;
};

struct compaction {
	struct journal *journal;
	uint32_t number; /* number of the segment */
	int from, to;
	uint64_t end;  /* offset in `from`: later records are copied unchanged */
	uint64_t kept; /* number of last opens of each script that stay */
	struct disk_head head;
	struct journal_path beside;

	struct script_opens *scripts;
	uint64_t opens;
	struct told *told;
	size_t n_told, room;
	/* the appending thread may still refer to these readers by their numbers */
	struct reader_numbers numbers;

	uint32_t checksum; /* checksum of the record that is being read */
	struct disk_record parts[READER_PARTS];
	struct reader next;

	/* state of the new file */
	size_t at; /* index in `told` of the reader whose records come next */
	uint32_t skipped;
	uint32_t written_checksum;
	uint64_t offset;
	bool replaced;
	size_t n_out;
	struct disk_record out[BLOCK_RECORDS];
};

typedef int visit(struct compaction *compaction, const struct disk_record *record);

static int read_all(struct compaction *compaction, visit *each)
{
	const size_t unit = sizeof(struct disk_record);
	auto_free struct disk_record *block = malloc(BLOCK_RECORDS * unit);
	uint64_t offset = sizeof(struct disk_head);
	compaction->checksum = le32toh(compaction->head.checksum);
	memset(&compaction->numbers, 0, sizeof(compaction->numbers));
	int err = block ? 0 : -ENOMEM;
	while (!err && offset < compaction->end) {
		size_t n = BLOCK_RECORDS * unit, bytes;
		n = n < compaction->end - offset ? n : compaction->end - offset;
		err = disk_read(compaction->from, block, n, offset, &bytes);
		if (!err && bytes < n)
			err = -EIO;
		for (size_t i = 0; i < n / unit && !err; i++) {
			compaction->checksum =
				record_checksum(&block[i], compaction->checksum);
			err = compaction->checksum == le32toh(block[i].checksum)
				      ? each(compaction, &block[i])
				      : -EIO;
		}
		offset += n;
	}
	return err;
}

/* --- readers and opens in the segment ------------------------------------------------- */

static struct script_opens *get_script(struct compaction *compaction, uint64_t id)
{
	struct script_opens *script;
	HASH_FIND(hh, compaction->scripts, &id, sizeof(id), script);
	if (script)
		return script;
	script = calloc(1, sizeof(*script));
	if (!script)
		return NULL;
	script->id = id;
	HASH_ADD(hh, compaction->scripts, id, sizeof(script->id), script);
	if (!script->hh.tbl) {
		free(script);
		return NULL;
	}
	return script;
}

static struct told *find_told(const struct compaction *compaction, uint32_t number)
{
	return compaction->n_told > 0
		       ? bsearch(&number, compaction->told, compaction->n_told,
				 sizeof(struct told), compare_u32)
		       : NULL;
}

/* Returns NULL if there is no memory. */
static struct script_opens *script_of(
	struct compaction *compaction, const struct disk_record *opened)
{
	const struct told *told = find_told(compaction, le32toh(opened->value));
	return told ? told->script : get_script(compaction, 0);
}

static int add_told(struct compaction *compaction)
{
	struct script_opens *script = get_script(compaction, compaction->next.script);
	if (!script ||
		!array_make_room(compaction->told, compaction->n_told, &compaction->room))
		return -ENOMEM;
	compaction->told[compaction->n_told++] = (struct told){
		.number = reader_give_number(&compaction->numbers, &compaction->next),
		.script = script};
	compaction->next = (struct reader){0};
	return 0;
}

static int count_reader(struct compaction *compaction, const struct disk_record *record)
{
	switch (record->detail) {
	case READER_SCRIPT:
		compaction->next.script = record_reader(record);
		return 0;
	case READER_RANK:
		compaction->next.rank = record_reader(record);
		return 0;
	case READER_THREAD:
		compaction->next.thread = record_reader(record);
		return add_told(compaction);
	case READER_SKIPPED:
		compaction->numbers.n += le32toh(record->value);
		return 0;
	default:
		return 0;
	}
}

static int count(struct compaction *compaction, const struct disk_record *record)
{
	if (record->kind == RECORD_READER)
		return count_reader(compaction, record);
	if (record->kind != RECORD_OPENED)
		return 0;
	struct told *told = find_told(compaction, le32toh(record->value));
	struct script_opens *script = script_of(compaction, record);
	if (!script)
		return -ENOMEM;
	script->opens++;
	script->last = ++compaction->opens;
	if (told)
		told->last = script->opens;
	return 0;
}

/* Returns a number that tells how long an engine would remember the script; it is larger for a
 * longer time. Engines first forget scripts that have opened few files, or no file for long. */
static uint64_t known_until(
	const struct compaction *compaction, const struct script_opens *script)
{
	uint64_t most = compaction->kept;
	return script->last + (script->opens < most ? script->opens : most);
}

static void choose_scripts(struct compaction *compaction)
{
	struct script_opens *kept[SCRIPTS_KEPT], *script = compaction->scripts;
	size_t n = 0, least;
	for (; script; script = script->hh.next) {
		least = 0;
		for (size_t i = 1; i < n; i++)
			if (known_until(compaction, kept[i]) <
				known_until(compaction, kept[least]))
				least = i;
		if (n < SCRIPTS_KEPT)
			least = n++;
		else if (known_until(compaction, script) <=
			 known_until(compaction, kept[least]))
			continue;
		else
			kept[least]->kept = false;
		kept[least] = script;
		script->kept = true;
	}
}

static bool is_kept(const struct compaction *compaction,
	const struct script_opens *script, uint64_t nth)
{
	return script->kept && nth > 0 && nth + compaction->kept > script->opens;
}

/* Readers stay if one of their opens stays, or if later records may refer to their numbers. */
static void choose_readers(struct compaction *compaction)
{
	for (size_t i = 0; i < compaction->n_told; i++) {
		struct told *told = &compaction->told[i];
		told->needed = is_kept(compaction, told->script, told->last);
	}
	for (size_t set = 0; set < READER_SETS; set++)
		for (size_t i = 0; i < READER_WAYS; i++) {
			struct told *told = find_told(
				compaction, compaction->numbers.sets[set][i].number);
			if (told)
				told->needed = true;
		}
}

/* --- the new file ---------------------------------------------------------------------- */

static int write_out(struct compaction *compaction)
{
	size_t done;
	int err = disk_write(compaction->to, compaction->out,
		compaction->n_out * sizeof(compaction->out[0]), compaction->offset,
		"journal.write", &done);
	compaction->offset += done;
	compaction->n_out = 0;
	return err;
}

static int put(struct compaction *compaction, const struct disk_record *record)
{
	struct disk_record *out = &compaction->out[compaction->n_out];
	*out = *record;
	compaction->written_checksum = record_checksum(out, compaction->written_checksum);
	out->checksum = htole32(compaction->written_checksum);
	return ++compaction->n_out < BLOCK_RECORDS ? 0 : write_out(compaction);
}

static int put_skipped(struct compaction *compaction)
{
	struct disk_record skipped = {.kind = RECORD_READER,
		.detail = READER_SKIPPED,
		.value = htole32(compaction->skipped)};
	if (compaction->skipped == 0)
		return 0;
	compaction->skipped = 0;
	return put(compaction, &skipped);
}

static int put_reader(struct compaction *compaction, const struct disk_record *record)
{
	int err = 0;
	if (record->detail == READER_SKIPPED)
		compaction->skipped += le32toh(record->value);
	if (record->detail >= READER_PARTS)
		return 0;
	compaction->parts[record->detail] = *record;
	if (record->detail != READER_THREAD)
		return 0;
	if (!compaction->told[compaction->at++].needed) {
		compaction->skipped++;
		return 0;
	}
	err = put_skipped(compaction);
	for (uint8_t part = READER_PARTS; part-- > 0 && !err;)
		err = put(compaction, &compaction->parts[part]);
	return err;
}

static int put_kept(struct compaction *compaction, const struct disk_record *record)
{
	if (record->kind == RECORD_READER)
		return put_reader(compaction, record);
	if (record->kind == RECORD_OPENED) {
		struct script_opens *script = script_of(compaction, record);
		if (!script || !is_kept(compaction, script, ++script->seen))
			return 0;
	}
	return put(compaction, record);
}

/* Writes a SEAM whose checksum is that of the last record before `end`. For each checksum there is
 * exactly one value of the SEAM. */
static int put_seam(struct compaction *compaction)
{
	const uint32_t polynomial = UINT32_C(0xedb88320);
	struct disk_record seam = {.kind = RECORD_READER, .detail = READER_SEAM};
	const uint8_t *bytes = (const uint8_t *)&seam + sizeof(seam.checksum);
	size_t before = offsetof(struct disk_record, value) - sizeof(seam.checksum);
	uint32_t state = ~(uint32_t)crc32_z(compaction->written_checksum, bytes, before);
	uint32_t wanted = ~compaction->checksum;
	for (unsigned bit = 0; bit < 32; bit++)
		wanted = wanted >> 31 ? (wanted ^ polynomial) << 1 | 1 : wanted << 1;
	seam.value = htole32(state ^ wanted);
	return put(compaction, &seam);
}

static int make_file(struct compaction *compaction)
{
	const struct disk_head *head = &compaction->head;
	size_t done;
	int flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
	int err = journal_path(compaction->journal->directory, compaction->number, ".new",
		&compaction->beside);
	if (err)
		return err;
	compaction->to = open(compaction->beside.text, flags, 0644);
	if (compaction->to < 0)
		return -errno;
	err = disk_write(compaction->to, head, sizeof(*head), 0, "journal.write", &done);
	compaction->offset = sizeof(*head);
	compaction->written_checksum = le32toh(head->checksum);
	if (!err)
		err = read_all(compaction, put_kept);
	if (!err)
		err = put_skipped(compaction);
	if (!err)
		err = put_seam(compaction);
	if (!err)
		err = write_out(compaction);
	return err ? err : disk_sync(compaction->to, "journal.sync");
}

/* --- the new file replaces the old one -------------------------------------------------- */

/* Copies the records that were written during the compaction. No thread writes now. */
static int copy_rest(struct compaction *compaction, uint64_t end)
{
	size_t n = sizeof(compaction->out), done;
	for (uint64_t at = compaction->end; at < end; at += done) {
		n = n < end - at ? n : end - at;
		int err = disk_read(compaction->from, compaction->out, n, at, &done);
		if (!err && done < n)
			err = -EIO;
		if (!err)
			err = disk_write(compaction->to, compaction->out, n,
				compaction->offset, "journal.write", &done);
		if (err)
			return err;
		compaction->offset += n;
	}
	return disk_sync(compaction->to, "journal.sync");
}

static int replace(struct compaction *compaction)
{
	struct journal *journal = compaction->journal;
	struct journal_path path;
	int err = journal_path(journal->directory, compaction->number, "", &path);
	if (!err)
		err = copy_rest(compaction, journal->offset);
	if (!err && rename(compaction->beside.text, path.text) != 0)
		err = -errno;
	if (err)
		return err;
	LOCK_SCOPE(&journal->lock);
	int old = journal->fd;
	journal->fd = compaction->to;
	journal->offset = compaction->offset;
	/* the segment's name leads to a new file now: counted as created, so that the next sync
	 * also writes the name to the disk */
	journal->created++;
	compaction->to = -1;
	compaction->replaced = true;
	close(old);
	return 0;
}

/* Waits until this thread alone may write (journal->busy). Returns false if the segment is not the
 * last one any more, if a sync of it has failed, or if the journal is abandoned. */
static bool take_turn(struct compaction *compaction)
{
	struct journal *journal = compaction->journal;
	LOCK_SCOPE(&journal->lock);
	while (journal->busy)
		lock_wait(&journal->lock, &journal->changed);
	journal->busy = !journal->abandoned && journal->file == compaction->number &&
			!journal->sync_error;
	return journal->busy;
}

static void end_turn(struct journal *journal)
{
	LOCK_SCOPE(&journal->lock);
	journal->busy = false;
	pthread_cond_broadcast(&journal->changed);
}

static int compact(struct compaction *compaction)
{
	int err = read_all(compaction, count);
	if (err)
		return err;
	choose_scripts(compaction);
	choose_readers(compaction);
	err = make_file(compaction);
	if (err || !take_turn(compaction))
		return err;
	err = replace(compaction);
	end_turn(compaction->journal);
	return err;
}

static bool begin(struct journal *journal, struct compaction *ret)
{
	LOCK_SCOPE(&journal->lock);
	if (journal->busy || journal->fd < 0 || journal->abandoned ||
		journal->sync_error || journal->offset < journal->long_from ||
		journal->offset < 2 * journal->compacted)
		return false;
	ret->from = fcntl(journal->fd, F_DUPFD_CLOEXEC, 0);
	ret->number = journal->file;
	ret->end = journal->offset - journal->offset % sizeof(struct disk_record);
	journal->compacting = ret->from >= 0;
	return journal->compacting;
}

static bool is_long(struct compaction *compaction)
{
	struct disk_head *head = &compaction->head;
	size_t n;
	if (disk_read(compaction->from, head, sizeof(*head), 0, &n) != 0 ||
		n < sizeof(*head))
		return false;
	uint64_t positions = le32toh(head->positions);
	compaction->kept = OPENS_KEPT * positions;
	return compaction->end >=
	       compaction->journal->long_from + LONG_POSITION * positions;
}

static void finish(struct compaction *compaction, bool tried)
{
	struct journal *journal = compaction->journal;
	struct script_opens *script, *next;
	HASH_ITER (hh, compaction->scripts, script, next) {
		HASH_DELETE(hh, compaction->scripts, script);
		free(script);
	}
	free(compaction->told);
	close(compaction->from);
	if (compaction->to >= 0) {
		unlink(compaction->beside.text);
		close(compaction->to);
	}
	LOCK_SCOPE(&journal->lock);
	if (tried && journal->file == compaction->number)
		journal->compacted =
			compaction->replaced ? compaction->offset : compaction->end;
	journal->compacting = false;
	pthread_cond_broadcast(&journal->changed);
}

void journal_compact(struct journal *journal)
{
	auto_free struct compaction *compaction = calloc(1, sizeof(*compaction));
	if (!compaction)
		return;
	compaction->journal = journal;
	compaction->to = -1;
	if (!begin(journal, compaction))
		return;
	bool tried = is_long(compaction);
	int err = tried ? compact(compaction) : 0;
	if (err)
		log_warn("journal %s: its last segment, of %" PRIu64
			 " bytes, can't be compacted: %s; nothing is lost",
			journal->directory, compaction->end, strerror(-err));
	finish(compaction, tried);
}
