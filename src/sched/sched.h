// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"
#include "load/file_head.h"
#include "load/load.h"

/*
 * The scheduler connects the samplers, the cache, and the threads that load samples.
 *
 * While an epoch runs, a sampler draws the epoch's samples ahead of the readers. Each drawn sample
 * is pinned in the cache, and prepared. The first open of a position binds it to the oldest drawn
 * sample that is not bound yet; the first release of the position consumes it. A *reader* is a
 * thread of a script that opens files. A *worker* is a thread of the load pool (load.h): a decoder,
 * a runner, or a reader thread, which reads the files of datasets.
 *
 *   datasets.h    adds, removes and replaces datasets, also while jobs run
 *   jobs.h        adds, removes, saves and restores jobs; the samples of their epochs
 *   positions.h   opens and releases positions; orders of epochs
 *   ranks.h       ranks, whose samples are drawn elsewhere; tensors from other daemons
 *   gauges.h      gauges of all of these
 *
 *   Flow: sched_open -> (draw, bind) -> ready at once, or parked until a worker published the
 *         tensor -> opened callback -> sched_release (consume).
 *   Owns: sampler, cache, load pool, jobs, order files below <state>/jobs.
 *   Threads: any. One lock; callbacks are called without the lock, from any thread.
 *   Errors: 0 or -errno, logged where the detail is known.
 */

struct sched;

/* Makes the scheduler, and starts its threads. config must stay valid until sched_free. */
must_check int sched_new(const struct daemon_config *config, struct dataset **datasets,
	size_t n_datasets, struct sched **ret);
/* Ends waiting opens with -ENODEV, refuses new opens, and stops the threads. Then the caller
 * releases all handles, and calls sched_free. */
void sched_stop(struct sched *sched);
void sched_free(struct sched **sched);

/* Tells whether each file of the job consists of a head, such as a PPM header, and a tensor's
 * bytes. If so, sets *ret to this head. */
typedef bool sched_head_of(const struct job_config *config, struct file_head *ret);

/* Makes the scheduler keep tensors in files, from which the kernel can answer readers (backing.h):
 * the tensors of jobs for which head_of returns true. backings NULL: no tensor gets a file. The
 * caller calls this before it adds jobs, and keeps `backings` until sched_free. */
void sched_use_backings(
	struct sched *sched, struct backings *backings, sched_head_of *head_of);

/* Lets a worker do work that takes long (load_pool_run). The calling thread does the work itself,
 * before this function returns, in two cases: sched_stop has ended the pool; or work->waits is
 * false, and the calling thread is a decoder or a runner. */
void sched_run(struct sched *sched, struct load_work *work);
/* Calls sched_run after delay_ns, or at once if the scheduler stops. */
void sched_run_later(struct sched *sched, struct load_work *work, uint64_t delay_ns);
/* Takes queued or delayed work back. Returns true if it was queued or delayed; then no worker will
 * begin it. Returns false if a worker has begun the work, or if the work was never passed to
 * sched_run or sched_run_later; such work must be zeroed. */
must_check bool sched_take_back(struct sched *sched, struct load_work *work);

/* Counts `bytes` as memory of the daemon, until sched_drop_content. The bytes are content that was
 * made from a tensor for one open. -ENOMEM: readers have too much open. */
must_check int sched_hold_content(struct sched *sched, uint64_t bytes);
/* Undoes sched_hold_content. Calls no callback, so the caller may hold a lock of its own. */
void sched_drop_content(struct sched *sched, uint64_t bytes);

/* Aborts if an invariant does not hold, such as the number of pins of a sample. For tests. */
void sched_validate(struct sched *sched);

/* Prints one line per job, for the log after a crash, and updates the statistics. The caller may
 * hold any lock. Takes the scheduler's lock for ever, because the process is about to die; if
 * another thread holds this lock for a whole second, prints only that the jobs are unknown. */
void sched_dump(struct sched *sched, FILE *out);
