// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "epoch/order.h"
#include "epoch/record.h"

#include <stddef.h>

/*
 * The journal of one job: the records of what its epochs decided, in files that outlive
 * the daemon. joaderfs-state(5) describes the format.
 *
 *   <directory>/journal-0003   a segment: from the record that begins epoch 3 up to that
 *                              which begins the next. When the job goes back to an earlier
 *                              epoch, the number is that of no epoch any more
 *
 *   Flow: journal_open replays what there is -> journal_append for each record, in
 *         memory -> journal_flush writes it before anybody is told -> journal_sync once a
 *         second -> journal_forget when the orders of epochs are in files of their own.
 *   Owns: its files and buffers.
 *   Threads: append by one thread at a time (the caller's lock); the others by any.
 *   Locks: one of its own for the buffer, held for a copy; nobody writes under it. It may
 *         be taken under the scheduler's.
 *   Errors: 0 or -errno, logged where the detail is known. A file system that is full
 *         loses nothing: records stay in memory and are written when there is room.
 *   Life: survives the end of the process as soon as it is flushed, a power failure when
 *         it is synced.
 */

struct journal;

/* Whose journal it is: that of another job, catalogue or selection is refused. */
struct journal_identity {
	const char *job;      /* its name */
	uint32_t id;	      /* the job's, kept for its name */
	uint32_t positions;   /* of an epoch */
	uint32_t samples;     /* ids of the catalogue are below this */
	uint64_t fingerprint; /* of the selected samples: dataset_fingerprint */
	/* Segments may also be of these: epochs from before the dataset was scanned again.
	 * Needed by journal_open only. */
	const struct order_set *others;
	size_t n_others;
};

/* Gets each record of a replay. 0, or -EINVAL with *ret_reason set to a static text. */
typedef int journal_replayed(
	void *context, const struct record *record, const char **ret_reason);

/* What journal_open found. */
enum journal_found {
	JOURNAL_NEW,   /* nothing */
	JOURNAL_SAME,  /* this job's; replayed */
	JOURNAL_OTHER, /* of another selection, or the samples have changed: not read */
};

/*
 * Opens the journal in the directory (which exists) and replays it. A torn or damaged
 * tail of the newest segment is cut off, kept beside it under another name, and logged.
 * What segments tell of epochs before the oldest of them is passed over. The reading of a
 * journal of JOURNAL_OTHER stops at its head, what differs is logged; *ret is NULL then,
 * and the caller decides (journal_set_aside). -EINVAL: a record is impossible, a segment
 * is missing, damaged or of another version, which was logged; nothing was changed.
 * -errno of files, -ENOMEM.
 */
must_check int journal_open(const char *directory,
	const struct journal_identity *identity, journal_replayed *replayed,
	void *context, enum journal_found *ret_found, struct journal **ret);

/* Of which samples the epochs are that segments begin with, in the order of the segments; the
 * caller frees *ret. What is not a whole head is left out, and told by journal_open. */
must_check int journal_sets(
	const char *directory, struct order_found **ret, size_t *ret_n);

/* Moves all journals and orders of the directory to <directory>/before/, in place of what
 * was set aside earlier; all of them or none, also if the process or the machine dies.
 * The journal is not open. */
must_check int journal_set_aside(const char *directory);

/* Removes the journals and orders in an open directory, also those set aside, and follows
 * no link. Other files stay, and before/ with it if they are there. Their job is removed. */
must_check int journal_remove_all(int directory);

/* What tells the journal from all others, also from one that the job begins anew; 0: it has
 * no segment yet. */
uint64_t journal_id(const struct journal *journal);

/*
 * The file with the order that a RESTORED goes on with, when that is the next record which
 * begins a segment. To be freed; NULL: no memory. journal_order_of: of a segment that is
 * there.
 */
char *journal_next_order(
	const struct journal *journal, const char *directory, bool drains);
char *journal_order_of(const char *directory, uint32_t segment, bool drains);

/* There is memory for the next few records. -ENOMEM */
must_check int journal_reserve(struct journal *journal);

/* Segments that begin from now on are of these samples. */
void journal_use(struct journal *journal, const struct order_set *set);

/*
 * Into memory: some tens of ns, no system call. A record that begins an epoch begins a
 * segment; it comes first, its epoch is after all that have begun. So does a RESTORED that
 * does not drain, whatever its epoch; the files of journal_next_order are there, and the
 * caller has reserved. Without memory what is
 * told of the positions of these epochs is left out from then on (the journal remains one
 * that can be replayed), which is logged; from the next BEGUN on all is written again.
 */
void journal_append(struct journal *journal, const struct record *record);

/*
 * Everything that was appended is in the hands of the kernel afterwards, if that can be
 * had without waiting for room on the disk: else it stays in memory, and a flush at least
 * 100 ms later tries again. Where an epoch has begun, this waits until what was told
 * before is on the disk. No lock held.
 */
void journal_flush(struct journal *journal);

/*
 * Everything flushed is on the disk. 0, also when there was nothing to do; -errno, logged
 * at its first time: a disk that has once failed to keep what it was given is not trusted
 * until the next epoch begins; -ENOSPC and the like while records can't be written,
 * -ENOMEM while they can't be appended.
 */
must_check int journal_sync(struct journal *journal);

/*
 * The last segment is written anew if it has grown to many times its positions: of scripts
 * that open files of current/ for ever in one epoch only the last opens stay. A replay then
 * gives the same epochs, and knows of these scripts what they have opened lately. By one thread
 * at a time; it may take long, and others flush meanwhile. What fails is logged, and changes
 * nothing.
 */
void journal_compact(struct journal *journal);

/* Segments that only tell of epochs before this one are removed, never the newest. What
 * is left is brought to the disk first; if that fails nothing is removed. */
void journal_forget(struct journal *journal, uint32_t epoch);

/* Its job is removed: nothing is written from now on, and nobody writes any more when it
 * returns. No lock held. */
void journal_abandon(struct journal *journal);

/* Flushes, syncs and closes. Removes nothing. */
void journal_close(struct journal **journal);
