// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"
#include "load/file_head.h"
#include "load/load.h"

/*
 * The scheduler: the only place that joins sampler, cache and load.
 *
 * A job runs one epoch at a time; the epoch is a stream of the sampler. Streams draw
 * ahead in rounds; what is drawn is pinned and prepared; a position is bound to the head
 * of its stream's queue when it is opened; the first release of a position consumes it.
 *
 *   datasets.h    datasets, also those that come while jobs run
 *   jobs.h        jobs come, go and move; what their epochs are made of
 *   positions.h   files are opened and released; orders
 *   ranks.h       samples that are drawn elsewhere, and what other daemons have
 *   gauges.h      how all of it is
 *
 *   Flow: view -> sched_open -> (draw, bind) -> ready at once, or parked until a worker
 *         published the tensor -> opened callback -> sched_release (consume).
 *   Owns: sampler, cache, load pool, jobs, order files below <state>/jobs.
 *   Threads: any. One lock; callbacks are called without it, from any thread.
 *   Errors: 0 or -errno, logged where the detail is known.
 */

struct sched;

must_check int sched_new(const struct daemon_config *config, struct dataset **datasets,
	size_t n_datasets, struct sched **ret);
/* Answers what is parked with -ENODEV, stops the workers. No handle may be in use after.
 */
void sched_stop(struct sched *sched);
void sched_free(struct sched **sched);

/* Whether the files of a job are a tensor behind a head, byte for byte, and behind which. */
typedef bool sched_head_of(const struct job_config *config, struct file_head *ret);

/*
 * Tensors that jobs read so will lie in files of their own, where the kernel can take them
 * (backing.h). Before there are jobs; backings outlive it.
 */
void sched_use_backings(
	struct sched *sched, struct backings *backings, sched_head_of *head_of);

/* What takes long is done by a worker, soon; or at once, if the caller is one. */
void sched_run(struct sched *sched, struct load_work *work);
/* After some time; at once, if the scheduler stops. */
void sched_run_later(struct sched *sched, struct load_work *work, uint64_t delay_ns);
/* true: no worker has begun with it, and none will. Work that was given to neither is
 * zero. */
must_check bool sched_take_back(struct sched *sched, struct load_work *work);

/*
 * What is made of a tensor for one open counts as held by the daemon: so many bytes may be
 * made, and are given back. -ENOMEM: readers hold too much open.
 */
must_check int sched_hold_content(struct sched *sched, uint64_t bytes);
/* May be called with a lock held: calls nobody back. */
void sched_drop_content(struct sched *sched, uint64_t bytes);

/* Aborts when an invariant does not hold: need and pins are counted anew. For tests. */
void sched_validate(struct sched *sched);

/* The jobs, a line each, for the log after a bug; and sched_stats. Whatever lock the thread
 * holds, and it keeps all others out. */
void sched_dump(struct sched *sched, FILE *out);
