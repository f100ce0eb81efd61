// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "epoch/epoch.h"
#include "epoch/order.h"
#include "image/tensor.h"

/* Positions of epochs: files are opened and released, and which sample each holds. */

struct sched;
struct sched_job;    /* counted reference, see sched_job_find */
struct sched_handle; /* an open position: holds its tensor */

struct dataset;

/*
 * The epoch of current/: for each position the one that a script which knows no epochs
 * means. The last epoch is read again and again. current.c of epoch/ has the rules.
 *
 * layout = mirror: every epoch, and this one, holds the same samples in dataset order;
 * any position may be opened at any time, nothing is bound or consumed.
 */
#define SCHED_CURRENT EPOCH_CURRENT

struct sched_opened {
	/* 0, or -EIO, -ENOMEM, -EINTR (the reader gave up), -ENODEV (job removed,
	 * shutdown) ... */
	int status;
	/* The sample itself is bad, and its position consumed. After another failure the
	 * position can be opened again, as if nothing was. */
	bool bad;
	struct sched_handle *handle; /* NULL unless status is 0 */
};
/* Who opens, and what. */
struct sched_reader {
	struct reader who;
	bool done;	/* its thread has read to the end what it opened last */
	bool looks;	/* its process has workers that read */
	bool resent;	/* the daemon before this one may have begun to answer it */
	bool unknown;	/* the kernel tells no process */
	bool elsewhere; /* who.rank is one of several ranks; some are on other machines */
	bool images;	/* of a file of images, although only the sample is asked for */
	long thread;	/* its number in /proc; 0: not known */
	long program;	/* the number of the process that is who.rank; 0: not known */
};

/*
 * How an open reports back. `opened` is called exactly once after sched_open returned 0,
 * by any thread, perhaps before sched_open returns. `parking` (may be NULL) is called
 * before that, in the caller's thread, when the open has to wait: its ticket may be given
 * to sched_cancel from then on, at any time, also from within `parking`.
 */
struct sched_open_callbacks {
	void (*opened)(void *context, const struct sched_opened *opened);
	void (*parking)(void *context, uint64_t ticket);
	void *context;
	struct sched_reader reader; /* for SCHED_CURRENT */
	uint32_t names; /* by which the position was found: struct sched_edition */
};

/*
 * Opens a position's sample: binds it (drawing if needed), then opened at once or when it
 * is prepared. Refused by the return value, with no callback: -ENOENT (no such epoch or
 * position), -ESTALE (epoch over, position never bound; the epoch has other names), -EAGAIN (the next epoch while at
 * most half of the running one is bound, or another script reads current/), -EOPNOTSUPP (reader.elsewhere), -ENODEV
 * (job removed, shutdown), -EIO, -ENOMEM.
 */
must_check int sched_open(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks);

/*
 * The same for a label: binds only, nothing is prepared or counted. The handle has no
 * tensor, and is given back by sched_undo. Parked until the epoch has begun, if it must.
 */
must_check int sched_open_label(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks);

/*
 * The same for a sample, as the jobs of the dataset get it that have this preparation
 * (preparation_print): for another daemon. Nothing is bound, counted or consumed, and it
 * is prepared here. The handle is given back by sched_undo. -ENOENT: no job has that;
 * -EAGAIN: it is being fetched itself; -EINVAL: no such sample.
 */
must_check int sched_open_sample(struct sched *sched, const struct dataset *dataset,
	const char *preparation, sample_id sample,
	const struct sched_open_callbacks *callbacks);

/* The reader gave up: opened is called with -EINTR. An unknown or finished ticket:
 * nothing. */
void sched_cancel(struct sched *sched, uint64_t ticket);

/*
 * The sample of a position if it is bound, or can be no other (layout = mirror; classes
 * with order = sequential); SAMPLE_NONE otherwise. Changes nothing.
 */
sample_id sched_bound(struct sched_job *job, uint32_t epoch, uint32_t position);
/* Whether sched_bound would read a file for that: the epoch's order is saved. */
bool sched_bound_is_saved(struct sched_job *job, uint32_t epoch, uint32_t position);

/* For so long it waited for its tensor. */
uint64_t sched_handle_waited(const struct sched_handle *handle);
/* Answering one of its opens took so long, without such waits. Takes no lock. */
void sched_job_took(struct sched_job *job, uint64_t ns);

const struct tensor *sched_handle_tensor(const struct sched_handle *handle);
sample_id sched_handle_sample(const struct sched_handle *handle);
uint32_t sched_handle_epoch(const struct sched_handle *handle); /* never SCHED_CURRENT */
/* The first release of a position consumes it. */
void sched_release(struct sched_handle *handle);
/* As sched_release, but nobody has read it: the position is not consumed. */
void sched_undo(struct sched_handle *handle);

/*
 * Readers have released n positions that they had opened of a daemon before this one: those
 * that are bound and not consumed are consumed.
 */
void sched_consume(struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n);

/* The label that a position has, whatever it is bound to: sequential, classes, labels =
 * fixed. false: none, or that of a file of current/ depends on its epoch. */
bool sched_label(struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t *ret);

/*
 * bad_sample = skip. Of n positions of an epoch from one on (SCHED_CURRENT: of the epoch that
 * a script which begins now would read), those that the epoch does not have, since it leaves
 * a bad sample out. They are bound to these samples. _mark: another one when these positions
 * are others. _skips: whether the job may have such epochs.
 */
uint32_t sched_skipped(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n);
uint64_t sched_skipped_mark(struct sched_job *job, uint32_t epoch);
bool sched_skips(const struct sched_job *job);
/* What later epochs leave out. The caller frees it; NULL: bad_sample = fail, or no memory. */
roaring_bitmap_t *sched_job_bad(struct sched_job *job);

/* --- order --- */

/* The k-th binding of an epoch, k from 0; false when there are not so many yet. */
bool sched_binding(
	struct sched_job *job, uint32_t epoch, uint32_t k, struct binding *ret);

/* What an epoch is made of stays from then on. false: SCHED_CURRENT, too. */
bool sched_has_begun(struct sched_job *job, uint32_t epoch);

/* Whether an epoch has any. */
bool sched_has_order(struct sched_job *job, uint32_t epoch);

/* Up to n of them from the k-th on; how many there are so far. */
uint32_t sched_bindings(struct sched_job *job, uint32_t epoch, uint32_t k, uint32_t n,
	struct binding *ret);
