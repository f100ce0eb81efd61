// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "epoch/epoch.h"
#include "epoch/order.h"
#include "image/tensor.h"

/* Opens and releases positions of epochs, and tells which sample each position holds. */

struct sched;
struct sched_job;    /* references are counted: see sched_job_find */
struct sched_handle; /* an open position: holds its tensor */

struct dataset;

/* The number that an open of a file in current/ has instead of an epoch's number. The job's engine
 * chooses the epoch at the open (epoch/current.c). */
#define SCHED_CURRENT EPOCH_CURRENT

struct sched_opened {
	/* 0, -EIO, -ENOMEM, -EINTR (reader interrupted), -ENODEV (job removed, shutdown) ... */
	int status;
	/* the sample is bad, and its position is consumed; after an error without `bad` the
	 * position can be opened again */
	bool bad;
	struct sched_handle *handle; /* NULL unless status is 0 */
};
struct sched_reader {
	struct reader who;
	bool done; /* The thread has read its previous file to the end. */
	/* Worker processes read for the reader's process, so the reader's process probably only
	 * looks at files. */
	bool looks;
	bool resent;  /* An earlier daemon may already have begun to answer this open. */
	bool unknown; /* The kernel does not tell which process reads. */
	bool elsewhere; /* The reader is one of several ranks, some on other machines. */
	/* The file contains images. Its open counts as that of an image, even if the open only
	 * binds the position. */
	bool images;
	long thread;  /* thread id, as in /proc; 0: not known */
	long program; /* id in /proc of process number who.rank; 0: not known */
};

/* If sched_open returns 0, `opened` is called exactly once, by any thread, perhaps before
 * sched_open returns. `parking` (may be NULL) is called before a wait, in the caller's thread; from
 * then on any thread may call sched_cancel with the ticket. */
struct sched_open_callbacks {
	void (*opened)(void *context, const struct sched_opened *opened);
	void (*parking)(void *context, uint64_t ticket);
	void *context;
	/* The choice of the epoch for SCHED_CURRENT depends on the reader. */
	struct sched_reader reader;
	/* version of the file names (sched_edition.names) that led to the position */
	uint32_t names;
	/* The open binds the position, but prepares no tensor, and counts nothing. Such an open may
	 * have to wait until the epoch begins; sched_undo gives its handle back. */
	bool label;
};

/* Opens a position: binds the position to a sample, and calls `opened` at once, or when the sample
 * is prepared. A refused open returns an error and calls nothing: -ENOENT: no such epoch or
 * position; -ESTALE: the epoch is over and the position was never bound, or the file names have
 * changed (callbacks->names); -EAGAIN: the epoch is the next one and may not begin yet, because at
 * most half of the running epoch is bound, or another script reads current/; -EBUSY: the job
 * refuses a second script in current/; -EOPNOTSUPP: reader.elsewhere, and the job refuses scripts
 * on several machines; -ENODEV: the job was removed, or the daemon stops; -EIO, -ENOMEM. */
must_check int sched_open(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks);

/* Opens a sample for another daemon, with a preparation (preparation_print) that a job of the
 * dataset has. The sample is prepared here; nothing is bound, counted or consumed. sched_undo gives
 * the handle back. -ENOENT: no job has this preparation; -EAGAIN: the sample is being fetched from
 * another daemon; -ENOSPC: the cache is full and lacks the sample, so the other daemon prepares it;
 * -EINVAL: no such sample. */
must_check int sched_open_sample(struct sched *sched, const struct dataset *dataset,
	const char *preparation, sample_id sample,
	const struct sched_open_callbacks *callbacks);

/* Cancels a waiting open, whose `opened` gets -EINTR. Ignores unknown and finished tickets. */
void sched_cancel(struct sched *sched, uint64_t ticket);

/* Returns the sample of a position that is bound, or that can have only one (layout = mirror, order
 * = sequential, classes with a fixed mapping); otherwise SAMPLE_NONE. Changes nothing. */
sample_id sched_bound(struct sched_job *job, uint32_t epoch, uint32_t position);
/* Tells whether the epoch's order is saved, so that sched_bound would read a file. */
bool sched_bound_is_saved(struct sched_job *job, uint32_t epoch, uint32_t position);

/* Returns how many ns the open waited for its tensor. */
uint64_t sched_handle_waited(const struct sched_handle *handle);
/* Adds the duration of an open's answer, without the wait for its tensor (sched_handle_waited), to
 * the job's total. Takes no lock. */
void sched_job_took(struct sched_job *job, uint64_t ns);

const struct tensor *sched_handle_tensor(const struct sched_handle *handle);
sample_id sched_handle_sample(const struct sched_handle *handle);
uint32_t sched_handle_epoch(const struct sched_handle *handle); /* never SCHED_CURRENT */
/* Gives the handle back. The first release of a position consumes the position. */
void sched_release(struct sched_handle *handle);
/* Gives back a handle whose file was not read: the position is not consumed. */
void sched_undo(struct sched_handle *handle);

/* Consumes n positions, from `position` on, that readers had opened through an earlier daemon and
 * have released now. Ignores positions that are not bound, or already consumed. */
void sched_consume(struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n);

/* Finds the position's label if the label does not depend on the sample (order = sequential, layout
 * = classes, labels = fixed). Returns false if the label depends on the sample. SCHED_CURRENT: also
 * returns false if the job has several editions, because the label may depend on the epoch. */
bool sched_label(struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t *ret);

/* Counts, among n positions from `position` on, those that the epoch leaves out (bad_sample =
 * skip). SCHED_CURRENT: the epoch that a script would read if it began now. */
uint32_t sched_skipped(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n);
/* Returns a number that changes whenever the positions that the epoch leaves out change. */
uint64_t sched_skipped_mark(struct sched_job *job, uint32_t epoch);
bool sched_skips(const struct sched_job *job);
/* Returns the bad samples, which later epochs leave out. The caller frees the bitmap; NULL:
 * bad_sample = fail, or no memory. */
roaring_bitmap_t *sched_job_bad(struct sched_job *job);

/* Finds the epoch's k-th binding (from 0). Returns false if the epoch has fewer bindings. */
bool sched_binding(
	struct sched_job *job, uint32_t epoch, uint32_t k, struct binding *ret);

/* Tells whether the epoch has begun, so that its edition stays. False for SCHED_CURRENT. */
bool sched_has_begun(struct sched_job *job, uint32_t epoch);

/* Tells whether sched_bindings would find bindings. */
bool sched_has_order(struct sched_job *job, uint32_t epoch);

/* Copies up to n bindings, from the k-th on, and returns their number. */
uint32_t sched_bindings(struct sched_job *job, uint32_t epoch, uint32_t k, uint32_t n,
	struct binding *ret);
