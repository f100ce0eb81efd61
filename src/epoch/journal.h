// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "epoch/order.h"
#include "epoch/record.h"

#include <stddef.h>

/*
 * The journal of one job: the records of its epochs' decisions, in files that outlive the
 * daemon. joaderfs-state(5) describes the format.
 *
 *   <directory>/journal-0003   a segment: from the record that begins epoch 3 up to the record
 *                              that begins the next epoch. After the job has gone back to an
 *                              earlier epoch, segments have higher numbers than their epochs
 *
 *   Flow: journal_open replays the files -> journal_append takes each record, in memory ->
 *         journal_flush writes it before any request is answered -> journal_sync once a
 *         second -> journal_forget when the orders of epochs are in files of their own.
 *   Owns: its files and buffers.
 *   Threads: only one thread at a time may call journal_append (under the caller's lock); any
 *         thread may call the other functions.
 *   Locks: journal_append takes none. The other functions take the journal's lock, under which no
 *         thread writes files; it may be taken under the scheduler's.
 *   Errors: 0 or -errno, logged where the detail is known. A file system that is full
 *         loses nothing: records stay in memory and are written when there is room.
 *   Life: a record survives the end of the process when it is flushed, a power failure when
 *         it is synced.
 */

struct journal;

/* The job to which a journal belongs. The journal of another job, catalogue or selection is not
 * replayed. */
struct journal_identity {
	const char *job; /* the job's name */
	/* the job's number, which the job gets again after a restart */
	uint32_t id;
	uint32_t positions;   /* number of an epoch's positions */
	uint32_t samples;     /* all ids in the catalogue are below this number */
	uint64_t fingerprint; /* hash of the selected samples (dataset_fingerprint) */
	/* The sets of samples that earlier editions of the dataset had: a segment may also belong
	 * to one of these. Only journal_open uses them. */
	const struct order_set *others;
	size_t n_others;
};

/* Receives each record of a replay. Returns 0, or -EINVAL with *ret_reason set to a static text. */
typedef int journal_replayed(
	void *context, const struct record *record, const char **ret_reason);

/* The result of journal_open. */
enum journal_found {
	JOURNAL_NEW,  /* there was no journal */
	JOURNAL_SAME, /* the journal belongs to this job and was replayed */
	/* the selection or the samples differ; the journal was not replayed */
	JOURNAL_OTHER,
};

/* Opens the journal in an existing directory, and replays it. An incomplete or damaged end of the
 * newest segment is cut off, moved to a file beside the segment, and logged. Records of epochs
 * before the oldest segment are skipped. If *ret_found is JOURNAL_OTHER, only heads were read, the
 * difference was logged, *ret is NULL, and the caller decides whether to call journal_set_aside.
 * -EINVAL, logged: a record is impossible, or a segment is missing, damaged or of another version;
 * no file was changed. -errno of files, -ENOMEM. */
must_check int journal_open(const char *directory,
	const struct journal_identity *identity, journal_replayed *replayed,
	void *context, enum journal_found *ret_found, struct journal **ret);

/* Returns the epoch with which each segment begins, and the epoch's set, in the order of the
 * segments. The caller frees *ret. Incomplete heads are left out; journal_open reports them. */
must_check int journal_sets(
	const char *directory, struct order_found **ret, size_t *ret_n);

/* Moves all journals and orders of the directory to <directory>/before/, in place of files that
 * were moved there earlier: all of them or none, even if the process or the machine dies. The
 * journal must not be open. */
must_check int journal_set_aside(const char *directory);

/* Removes the journals and orders of a removed job, including those in before/. directory: an open
 * descriptor. Follows no link. Other files stay, and before/ stays if it has other files. */
must_check int journal_remove_all(int directory);

/* Returns the number that distinguishes this journal from all others, also from later journals of
 * the same job; 0: the journal has no segment yet. */
uint64_t journal_id(const struct journal *journal);

/* Returns a path for an order file of the next segment, which must begin with a RESTORED
 * (record.h). drains = false: the file has the order of the epoch that will run; true: the order of
 * the epoch that will drain. The caller frees the path; NULL: no memory. */
char *journal_next_order(
	const struct journal *journal, const char *directory, bool drains);
/* Works like journal_next_order, but for the RESTORED of a segment that exists. */
char *journal_order_of(const char *directory, uint32_t segment, bool drains);

/* Makes room in memory for a few records, so that appending these can't fail. -ENOMEM */
must_check int journal_reserve(struct journal *journal);

/* Tells the journal which set of samples the next segments belong to. */
void journal_use(struct journal *journal, const struct order_set *set);

/* Appends a record in memory, without a system call, in some tens of ns. A BEGUN begins a segment;
 * its epoch must be later than all that have begun. A RESTORED with drains = false also begins a
 * segment, but may have any epoch; before that, the caller must write the files of
 * journal_next_order and call journal_reserve. If there is no memory, this is logged, and records
 * of positions are omitted until the next BEGUN can be appended. The journal can still be
 * replayed. */
void journal_append(struct journal *journal, const struct record *record);

/* Passes all appended records to the kernel. If the disk has no room, they stay in memory, and a
 * flush at least 100 ms later tries again. If an epoch has begun, waits until the records before it
 * are on the disk. The caller must hold no lock. */
void journal_flush(struct journal *journal);

/* Brings all flushed records to the disk. Returns 0, also if there is nothing to do. -errno, logged
 * the first time: a disk that has failed once to store data is not trusted until the next epoch
 * begins. -ENOSPC and similar: records can't be written now; -ENOMEM: they can't be appended. */
must_check int journal_sync(struct journal *journal);

/* Compacts the last segment if it has far more records than positions, because scripts keep opening
 * files of current/ in one epoch: only their last opens stay. A replay then gives the same epochs,
 * and the scripts' last opens. One thread at a time may call the function. It may take long;
 * meanwhile other threads can call journal_flush. A failure is logged, and changes nothing. */
void journal_compact(struct journal *journal);

/* Removes segments that only have records of epochs before this one, but never the newest segment.
 * First brings the records of all other segments to the disk; if this fails, removes nothing. */
void journal_forget(struct journal *journal, uint32_t epoch);

/* Abandons the journal of a removed job: when the function returns, no thread writes to the
 * journal, and none will. The caller must hold no lock. */
void journal_abandon(struct journal *journal);

/* Flushes, syncs and closes the journal. No file is removed. */
void journal_close(struct journal **journal);
