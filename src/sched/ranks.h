// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "dataset/dataset.h"
#include "image/preparation.h"
#include "image/tensor.h"

/* Samples that are drawn elsewhere, and tensors that other daemons have. */

struct sched;
struct sched_job; /* counted reference, see sched_job_find */

/* --- other daemons --- */

/* A sample that another daemon is asked for, until sched_fetch_done. */
struct sched_fetch {
	const struct dataset *dataset;
	const struct preparation *preparation;
	sample_id sample;
	struct tensor *tensor; /* the scheduler's */
	/* the fetcher's */
	void *context;
	uint32_t node, space;
};

struct sched_fetcher {
	/* Whether another daemon is to be asked. Called with the scheduler's lock, or without
	 * it: it looks at a table, and neither waits nor calls. */
	bool (*is_elsewhere)(void *context, const struct dataset *dataset,
		const struct preparation *preparation, sample_id sample);
	/* Asks, and returns at once. 0: sched_fetch_done is called once, perhaps before it
	 * returns; -errno: it is not. */
	int (*fetch)(void *context, struct sched_fetch *fetch);
	void *context;
};

/* What is elsewhere is fetched instead of being prepared, and prepared here if that fails.
 * Before there are jobs. */
void sched_fetch_by(struct sched *sched, const struct sched_fetcher *fetcher);
/* Where the bytes go. NULL: no memory, or it is not what was asked for. */
void *sched_fetch_place(
	struct sched_fetch *fetch, struct tensor_shape shape, uint64_t bytes);
/* All bytes are there; or -errno. By any thread, which holds no lock. */
void sched_fetch_done(struct sched_fetch *fetch, int err);

/* --- ranks: [job] ranks --- */

/*
 * The samples of a rank are drawn for all ranks together, elsewhere, and come as its feed:
 * the k-th one of an epoch is the epoch's k-th binding.
 */
struct sched_feed_state {
	bool started;	 /* an epoch has begun */
	uint32_t newest; /* the last one that has */
	/* That, or the one before, which drains, until all of it is consumed. */
	uint32_t epoch;
	uint32_t next;	   /* samples of it that came: this one is the next */
	uint32_t consumed; /* its first bindings that were all consumed */
};
void sched_feed_state(struct sched_job *job, struct sched_feed_state *ret);

/*
 * The next n samples of the epoch's feed, from its base-th on; those that came before, and
 * those of an epoch that is over, are passed over. -EAGAIN: the epoch has not begun;
 * -EINVAL: samples between are missing, or one is not the job's; -ENOMEM.
 */
must_check int sched_feed(struct sched_job *job, uint32_t epoch, uint32_t base,
	const sample_id *ids, uint32_t n);

/*
 * Another daemon has served the rank up to there: what is before was consumed, and comes all
 * the same, since readers may look at it again. -ENOMEM; -EINVAL: so much is not in an epoch.
 */
must_check int sched_feed_go_on(struct sched_job *job, uint32_t epoch, uint32_t consumed);

/*
 * Whoever feeds the job can't, since then; 0: it can. gives_up: opens that find nothing that
 * came, or wait for it, fail with -ETIMEDOUT.
 */
void sched_feed_away(struct sched_job *job, uint64_t since_ns, bool gives_up);

/* Another daemon serves the rank, or may: readers get what they had, and wait for more. Not so
 * any more: sched_feed_go_on has told what the other one gave. */
void sched_feed_lend(struct sched_job *job, bool lent);

/* What came of the epoch's feed, from its base-th sample on: at most n; how many. Those that
 * are not bound yet, too. */
uint32_t sched_fed(
	struct sched_job *job, uint32_t epoch, uint32_t base, sample_id *ids, uint32_t n);

/* Adds what the cache holds of the dataset, or loads; of preparations that only jobs read
 * whose samples are drawn. */
void sched_resident(struct sched *sched, const char *dataset, roaring_bitmap_t *ids);

/* Whoever feeds is told when a state has changed: by any thread, which holds no lock and
 * must not wait. Before there are jobs. */
typedef void sched_news(void *context);
void sched_on_news(struct sched *sched, sched_news *news, void *context);
