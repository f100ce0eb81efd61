// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "epoch/order.h"
#include "epoch/record.h"

#include <stddef.h>

/*
 * The journal of one job: the records of its epochs' decisions, in files that outlive the daemon
 * (joaderfs-state(5)).
 *
 *  <directory>/journal-0003   a segment: from the record that begins epoch 3 up to the record that
 *                             begins the next epoch. After the job has gone back, segments have
 *                             higher numbers than their epochs
 *
 *  Flow: journal_open replays the files -> journal_append takes each record, in memory ->
 *        journal_flush writes it before any request is answered -> journal_sync once a second ->
 *        journal_forget when the orders of epochs are in files of their own.
 *  Owns: the files and buffers of the journal.
 *  Threads: one thread at a time may call journal_append, journal_reserve, journal_use,
 *        journal_next_order and journal_id, under the caller's lock; any thread may call the
 *        other functions.
 *  Locks: these five functions take none. The other functions take the journal's lock. Files are
 *        not written under this lock, so it may be taken under the scheduler's lock.
 *  Errors: 0 or -errno, logged where the detail is known. A full file system loses nothing: records
 *        stay in memory and are written when there is room.
 *  Life: a flushed record survives the end of the process. A synced record also survives a power
 *        failure.
 */

struct journal;

/* The job of a journal. A journal of another job or other samples is not replayed. */
struct journal_identity {
	const char *job;
	uint32_t id;	      /* the job's number; a restart does not change it */
	uint32_t positions;   /* number of positions of an epoch */
	uint32_t samples;     /* all ids of the catalogue are below this number */
	uint64_t fingerprint; /* hash of the selected samples (dataset_fingerprint) */
	/* the sets of earlier editions, to which segments may also belong; only for journal_open */
	const struct order_set *others;
	size_t n_others;
};

/* Receives each record of a replay. -EINVAL: *ret_reason is a static text. */
typedef int journal_replayed(
	void *context, const struct record *record, const char **ret_reason);

enum journal_found {
	JOURNAL_NEW,
	JOURNAL_SAME,  /* the journal is this job's and was replayed */
	JOURNAL_OTHER, /* selection or samples differ: not replayed */
};

/* Opens the journal in an existing directory, and replays the records of the oldest segment's epoch
 * and later epochs. An incomplete or damaged end of the newest segment is cut off, moved to a file
 * beside the segment, and logged. If *ret_found is JOURNAL_OTHER, *ret is NULL, the difference was
 * logged, and the caller may call journal_set_aside. -EINVAL, logged: a record is impossible, or a
 * segment is missing, damaged or of another version; no file was changed. -errno of files,
 * -ENOMEM. */
must_check int journal_open(const char *directory,
	const struct journal_identity *identity, journal_replayed *replayed,
	void *context, enum journal_found *ret_found, struct journal **ret);

/* Lists the first epoch of each segment with its set, in the order of the segments. The caller
 * frees *ret. Segments with incomplete heads are left out. */
must_check int journal_sets(
	const char *directory, struct order_found **ret, size_t *ret_n);

/* Moves all journals and orders of the directory to <directory>/before/, and removes the files that
 * were moved there earlier. Either all files are moved or none, even if the process or the machine
 * dies. The journal must not be open. */
must_check int journal_set_aside(const char *directory);

/* Removes the journals and orders of a removed job, also those in before/, and then before/
 * itself if it is empty. Keeps all other files, and follows no link. directory: an open
 * descriptor of the job's directory. */
must_check int journal_remove_all(int directory);

/* Returns a number that no other or earlier journal has; 0: there is no segment yet. */
uint64_t journal_id(const struct journal *journal);

/* Returns the path of an order file beside the next segment, which must begin with a RESTORED.
 * drains: the file is for the epoch that will drain, not for the one that will run. The caller
 * frees the path. NULL: no memory. */
char *journal_next_order(
	const struct journal *journal, const char *directory, bool drains);
/* Returns the order file's path beside an existing segment; drains: as in journal_next_order. */
char *journal_order_of(const char *directory, uint32_t segment, bool drains);

/* Makes room for a few records, so that the next journal_append calls can't fail. -ENOMEM */
must_check int journal_reserve(struct journal *journal);

/* Makes the segments that begin from now on belong to this set of samples. */
void journal_use(struct journal *journal, const struct order_set *set);

/* Appends a record in memory, without a system call, in some tens of ns. A BEGUN begins a segment;
 * the epoch of the BEGUN must be later than all epochs that have begun. A RESTORED with drains =
 * false begins a segment of any epoch, after the caller has written the files of journal_next_order
 * and called journal_reserve. If there is no memory, logs this, and omits records of positions
 * until the next BEGUN can be appended, so that a replay stays possible. */
void journal_append(struct journal *journal, const struct record *record);

/* Passes all appended records to the kernel. If the disk has no room, they stay in memory until a
 * flush at least 100 ms later. If an epoch has begun, waits until the records before it are on the
 * disk. The caller must hold no lock. */
void journal_flush(struct journal *journal);

/* Brings all flushed records to the disk. -errno, logged the first time: a disk that has failed
 * once to store data is not trusted until the next epoch begins. -ENOSPC and similar: records can't
 * be written now; -ENOMEM: they can't be appended. */
must_check int journal_sync(struct journal *journal);

/* Compacts the last segment if it has far more records than positions, because scripts keep opening
 * files of current/ in one epoch. Only each script's last opens stay. A replay gives the same
 * epochs, with these opens. Takes long: one thread at a time may call this, while others call
 * journal_flush. A failure is logged, and harmless. */
void journal_compact(struct journal *journal);

/* Removes the segments whose records all are of epochs before `epoch`, but never the newest
 * segment. First syncs the journal; if this fails, removes nothing. */
void journal_forget(struct journal *journal, uint32_t epoch);

/* Abandons the journal of a removed job: no thread writes to it when the function returns, or
 * later. The caller must hold no lock. */
void journal_abandon(struct journal *journal);

/* Closes the journal after a flush and a sync. No file is removed. */
void journal_close(struct journal **journal);
