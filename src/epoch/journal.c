// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/journal_internal.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/random.h>

/*
 * A record goes through two buffers in memory to the file:
 *
 *  append   record -> filling             under the caller's lock, and no other
 *  flush    filling <-> writing -> file   one thread at a time writes; others wait, and
 *                                         then one of them writes what came meanwhile
 */

#define RETRY_NS UINT64_C(100000000)
#define LONG_FROM (UINT64_C(1) << 20)

static void log_not_written(const struct journal *journal, int err)
{
	log_error("journal %s: can't be written: %s; the daemon keeps its records in "
		  "memory until it can write them; if the daemon ends before, they are "
		  "lost, and their samples are drawn anew",
		journal->directory, strerror(-err));
}

static void log_not_synced(const struct journal *journal, uint32_t epoch, int err)
{
	log_error(
		"journal %s: can't be written to the disk: %s; a restart of the daemon "
		"loses nothing, but a power failure may lose what was drawn in epoch %u",
		journal->directory, strerror(-err), epoch);
}

static int failed_to_sync(struct journal *journal)
{
	LOCK_SCOPE(&journal->lock);
	return journal->sync_error;
}

/* Stores the error of a sync, and logs it. Later syncs of the segment return this error, too: the
 * kernel may have dropped the data that it could not write, and a later sync would not notice. */
static void note_not_synced(struct journal *journal, uint32_t epoch, int err)
{
	log_not_synced(journal, epoch, err);
	LOCK_SCOPE(&journal->lock);
	journal->sync_error = err;
}

static int sync_names(struct journal *journal)
{
	uint32_t created;
	bool all;
	{
		LOCK_SCOPE(&journal->lock);
		created = journal->created;
		all = created == journal->entered;
	}
	int err = all ? 0 : disk_sync_directory(journal->directory, "journal.sync");
	if (err)
		return err;
	LOCK_SCOPE(&journal->lock);
	journal->entered = created;
	return 0;
}

/* Brings the previous segment and its name to the disk before the next one exists, so that only the
 * last segment can be incomplete after a power failure. */
static void sync_before(struct journal *journal)
{
	if (journal->fd < 0 || failed_to_sync(journal))
		return;
	int err = disk_sync(journal->fd, "journal.sync");
	if (!err)
		err = sync_names(journal);
	if (err)
		note_not_synced(journal, journal->file, err);
}

/* Creates a segment's file. Writes the bytes to a file of another name first, and then renames it:
 * so a file with the segment's name always has the bytes of this segment, and never those of an
 * older file. *ret_unsynced: -errno if the disk may lack the file. */
static int create_segment(const char *path, const char *beside, const void *bytes,
	size_t n, int *ret, int *ret_unsynced)
{
	size_t done;
	int fd = open(beside, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	int err = disk_write(fd, bytes, n, 0, "journal.write", &done);
	*ret_unsynced = err ? 0 : disk_sync(fd, "journal.sync");
	if (!err && rename(beside, path) != 0)
		err = -errno;
	if (err) {
		unlink(beside);
		close(fd);
		return err;
	}
	*ret = fd;
	return 0;
}

/* bytes: a SEGMENT, and the head and first record of the new file */
static int begin_segment(struct journal *journal, const uint8_t *bytes)
{
	const size_t n = BUFFER_SEGMENT - sizeof(struct disk_record);
	const uint8_t *head = bytes + sizeof(struct disk_record);
	struct journal_path path, beside;
	uint32_t epoch;
	int fd = -1, unsynced = 0;
	memcpy(&epoch, head + offsetof(struct disk_head, epoch), sizeof(epoch));
	epoch = le32toh(epoch);
	int err = journal_path(journal->directory, epoch, "", &path);
	if (!err)
		err = journal_path(journal->directory, epoch, ".new", &beside);
	if (!err) {
		sync_before(journal);
		err = create_segment(path.text, beside.text, head, n, &fd, &unsynced);
	}
	if (err)
		return err;
	if (unsynced)
		log_not_synced(journal, epoch, unsynced);
	uint32_t lag;
	memcpy(&lag, head + offsetof(struct disk_head, lag), sizeof(lag));
	int old = journal->fd;
	{
		LOCK_SCOPE(&journal->lock);
		journal->fd = fd;
		journal->file = epoch;
		journal->sync_error = unsynced;
		journal->file_lag = le32toh(lag);
		journal->compacted = 0;
		journal->created++;
		if (old < 0)
			journal->first = epoch;
	}
	journal->offset = n;
	if (old >= 0)
		close(old);
	return 0;
}

/* *ret_done: number of bytes of journal->writing that were written now, also after a failure */
static int write_buffer(struct journal *journal, size_t *ret_done)
{
	struct record_buffer *buffer = journal->writing;
	size_t begin = buffer->done;
	int err = 0;
	while (!err && buffer->done < buffer->n) {
		size_t n = 0;
		if (buffer_at_segment(buffer)) {
			err = begin_segment(journal, buffer->bytes + buffer->done);
			n = err ? 0 : BUFFER_SEGMENT;
		} else {
			err = disk_write(journal->fd, buffer->bytes + buffer->done,
				buffer_run_end(buffer) - buffer->done, journal->offset,
				"journal.write", &n);
			journal->offset += n;
		}
		buffer->done += n;
	}
	*ret_done = buffer->done - begin;
	return err;
}

static void log_write(struct journal *journal, int err)
{
	if (err && !journal->write_error)
		log_not_written(journal, err);
	if (!err && journal->write_error)
		log_info("journal %s: can be written again; nothing is missing in it",
			journal->directory);
}

/* Exchanges the two buffers. journal->filling is NULL while another thread appends a record. */
static void take_records(struct journal *journal)
{
	struct record_buffer *filling;
	do {
		while (!(filling = atomic_load(&journal->filling)))
			sched_yield();
	} while (!atomic_compare_exchange_strong(
		&journal->filling, &filling, journal->writing));
	journal->writing = filling;
}

/* Releases the lock while it writes. Only one thread at a time may call this function. */
static void write_locked(struct journal *journal)
{
	size_t done;
	lock_assert_held(&journal->lock);
	journal->busy = true;
	lock_release(&journal->lock);
	if (journal->writing->n == 0) {
		take_records(journal);
		buffer_seal(journal->writing, &journal->checksum);
	}
	int err = write_buffer(journal, &done);
	if (!err)
		buffer_reset(journal->writing);
	log_write(journal, err);
	lock_take(&journal->lock);
	journal->written += done;
	journal->write_error = err;
	journal->retry_ns = err ? clock_now_ns() + RETRY_NS : 0;
	journal->busy = false;
	pthread_cond_broadcast(&journal->changed);
}

static bool must_not_retry_locked(const struct journal *journal)
{
	lock_assert_held(&journal->lock);
	return journal->retry_ns && clock_now_ns() < journal->retry_ns;
}

void journal_flush(struct journal *journal)
{
	LOCK_SCOPE(&journal->lock);
	uint64_t wanted = atomic_load(&journal->appended);
	while (journal->written < wanted && !journal->abandoned)
		if (journal->busy)
			lock_wait(&journal->lock, &journal->changed);
		else if (must_not_retry_locked(journal))
			return;
		else
			write_locked(journal);
}

void journal_abandon(struct journal *journal)
{
	LOCK_SCOPE(&journal->lock);
	journal->abandoned = true;
	while (journal->busy || journal->compacting)
		lock_wait(&journal->lock, &journal->changed);
}

struct to_sync {
	int fd; /* -1: no data to sync */
	uint32_t epoch;
	uint64_t written;
	uint32_t created;
	bool directory;
};

/* Returns -errno if an earlier sync has failed: then no sync can bring all data to the disk. */
static int note_to_sync(struct journal *journal, struct to_sync *ret)
{
	LOCK_SCOPE(&journal->lock);
	*ret = (struct to_sync){.fd = -1,
		.epoch = journal->file,
		.written = journal->written,
		.created = journal->created,
		.directory = journal->created != journal->entered && !journal->abandoned};
	if (journal->sync_error || journal->abandoned)
		return journal->sync_error;
	if (journal->written > journal->synced && journal->fd >= 0) {
		ret->fd = fcntl(journal->fd, F_DUPFD_CLOEXEC, 0);
		if (ret->fd < 0)
			return -errno;
	}
	return 0;
}

static void note_synced(struct journal *journal, const struct to_sync *what)
{
	LOCK_SCOPE(&journal->lock);
	if (what->written > journal->synced)
		journal->synced = what->written;
	if (what->directory)
		journal->entered = what->created;
}

static int unwritten(struct journal *journal)
{
	LOCK_SCOPE(&journal->lock);
	return atomic_load(&journal->incomplete) ? -ENOMEM : journal->write_error;
}

int journal_sync(struct journal *journal)
{
	struct to_sync what;
	int err = note_to_sync(journal, &what);
	if (err)
		return err;
	if (what.fd >= 0) {
		err = disk_sync(what.fd, "journal.sync");
		close(what.fd);
	}
	if (!err && what.directory)
		err = disk_sync_directory(journal->directory, "journal.sync");
	if (err)
		note_not_synced(journal, what.epoch, err);
	else if (what.fd >= 0 || what.directory)
		note_synced(journal, &what);
	return err ? err : unwritten(journal);
}

static int remove_segment_file(
	const struct journal *journal, uint32_t number, const char *ending)
{
	struct journal_path path;
	int err = journal_path(journal->directory, number, ending, &path);
	if (err)
		return err;
	if (unlink(path.text) != 0 && errno != ENOENT)
		err = -errno;
	if (err)
		log_warn("%s: can't be removed: %s", path.text, strerror(-err));
	return err;
}

/* others: the caller also removes newer segments. Then this removal is synced, because a power
 * failure could otherwise bring this segment back without the newer ones. */
static int remove_segment(const struct journal *journal, uint32_t number, bool others)
{
	int err = remove_segment_file(journal, number, ".new");
	if (!err)
		err = remove_segment_file(journal, number, "");
	for (size_t i = 0; i < 2 && !err; i++)
		err = remove_segment_file(journal, number, journal_order_endings[i]);
	if (err || !others)
		return err;
	err = disk_sync_directory(journal->directory, "journal.sync");
	if (err)
		log_warn("%s: can't be synced: %s", journal->directory, strerror(-err));
	return err;
}

void journal_forget(struct journal *journal, uint32_t epoch)
{
	uint32_t first, end;
	{
		LOCK_SCOPE(&journal->lock);
		first = journal->first;
		end = journal->fd < 0 ? first : journal->file;
		if (end > journal->file_lag && epoch < end - journal->file_lag)
			end = epoch + journal->file_lag;
	}
	/* The later segments must be on the disk before the earlier ones are removed. Otherwise a
	 * power failure could lose all of them. */
	if (first >= end || journal_sync(journal) != 0)
		return;
	for (uint32_t i = first; i < end; i++)
		if (remove_segment(journal, i, i + 1 < end) != 0)
			return;
	LOCK_SCOPE(&journal->lock);
	journal->first = end > journal->first ? end : journal->first;
}

uint64_t journal_id(const struct journal *journal)
{
	return journal->begun ? journal->id : 0;
}

static int go_on(struct journal *journal, const struct journal_end *end)
{
	struct journal_path path;
	int err = journal_open_segment(
		journal->directory, end->last, O_RDWR, &path, &journal->fd);
	if (err)
		return err;
	journal->begun = true;
	journal->id = end->journal;
	journal->lag = journal->file_lag = end->lag;
	journal->epoch = end->last - end->lag;
	journal->file = end->last;
	journal->first = end->first;
	journal->offset = end->offset;
	journal->appended = end->offset;
	/* the records are in the file, though perhaps not on the disk yet */
	journal->written = end->offset;
	journal->created = 1;
	journal->checksum = end->checksum;
	journal->readers.n = end->readers;
	return 0;
}

static void journal_free(struct journal *journal)
{
	if (journal->fd >= 0)
		close(journal->fd);
	pthread_cond_destroy(&journal->changed);
	lock_destroy(&journal->lock);
	free(journal->buffers[0].bytes);
	free(journal->buffers[1].bytes);
	free(journal->directory);
	free(journal);
}

static int journal_new(const char *directory, const struct journal_identity *identity,
	struct journal **ret)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	if (!journal)
		return -ENOMEM;
	journal->directory = strdup(directory);
	if (!journal->directory) {
		free(journal);
		return -ENOMEM;
	}
	lock_init(&journal->lock, LOCK_RANK_JOURNAL, "journal");
	ensure(pthread_cond_init(&journal->changed, NULL) == 0);
	journal->identity = *identity;
	/* these two pointers are only valid during journal_open */
	journal->identity.job = NULL;
	journal->identity.others = NULL;
	journal->most_positions = journal_most_positions(identity);
	journal->filling = &journal->buffers[0];
	journal->writing = &journal->buffers[1];
	journal->fd = -1;
	journal->long_from = LONG_FROM;
	if (getrandom(&journal->id, sizeof(journal->id), 0) != sizeof(journal->id))
		journal->id = clock_now_ns();
	*ret = journal;
	return 0;
}

int journal_open(const char *directory, const struct journal_identity *identity,
	journal_replayed *replayed, void *context, enum journal_found *ret_found,
	struct journal **ret)
{
	struct journal_end end;
	*ret = NULL;
	int err = journal_undo_aside(directory);
	if (!err)
		err = journal_replay(
			directory, identity, replayed, context, ret_found, &end);
	if (err || *ret_found == JOURNAL_OTHER)
		return err;
	struct journal *journal = NULL;
	err = journal_new(directory, identity, &journal);
	if (!err && *ret_found == JOURNAL_SAME)
		err = go_on(journal, &end);
	if (!err)
		*ret = journal;
	else if (journal)
		journal_free(journal);
	return err;
}

void journal_close(struct journal **journal)
{
	struct journal *old = *journal;
	*journal = NULL;
	if (!old)
		return;
	old->retry_ns = 0;
	journal_flush(old);
	uint64_t appended = atomic_load(&old->appended);
	(void)!journal_sync(old); /* an error is logged */
	if (old->written < appended && !old->abandoned)
		log_error("journal %s: %" PRIu64
			  " bytes could not be written and are lost",
			old->directory, appended - old->written);
	journal_free(old);
}
