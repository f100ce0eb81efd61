// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "dataset/dataset.h"
#include "image/preparation.h"
#include "image/tensor.h"

/* Feeds ranks, whose samples are drawn elsewhere, and gets tensors from other daemons. */

struct sched;
struct sched_job; /* counted reference, see sched_job_find */

/* --- other daemons --- */

/* A request to another daemon for a sample, until sched_fetch_done. */
struct sched_fetch {
	const struct dataset *dataset;
	const struct preparation *preparation;
	sample_id sample;
	struct tensor *tensor; /* owned by the scheduler */
	/* set by the fetcher: */
	void *context;
	uint32_t node, space;
};

struct sched_fetcher {
	/* Tells whether to ask another daemon for the sample. Called with or without the
	 * scheduler's lock, so it only looks at a table: it neither waits nor calls
	 * anybody. */
	bool (*is_elsewhere)(void *context, const struct dataset *dataset,
		const struct preparation *preparation, sample_id sample);
	/* Asks for the sample, and returns at once. 0: sched_fetch_done is called once,
	 * perhaps before this returns; -errno: sched_fetch_done is not called. */
	int (*fetch)(void *context, struct sched_fetch *fetch);
	void *context;
};

/* Makes the scheduler fetch samples that are elsewhere, and prepare them only if that fails. Call
 * it before jobs are added. */
void sched_fetch_by(struct sched *sched, const struct sched_fetcher *fetcher);
/* Returns the place for the bytes of the tensor. NULL: no memory, or shape or size are not those
 * of the requested sample. */
void *sched_fetch_place(
	struct sched_fetch *fetch, struct tensor_shape shape, uint64_t bytes);
/* Ends a fetch: err is 0 when all bytes are in place, or -errno. Called by any thread, without
 * locks. */
void sched_fetch_done(struct sched_fetch *fetch, int err);

/* --- ranks: [job] ranks --- */

/* The state of a feed. Samples are drawn elsewhere for all ranks of a training together,
 * and reach each rank as its feed: the k-th sample of an epoch's feed is the k-th binding
 * of the epoch. */
struct sched_feed_state {
	bool started;	 /* an epoch has begun */
	uint32_t newest; /* the last epoch that has begun */
	/* The epoch that the fields below describe: the one before the newest while it drains and
	 * has unconsumed samples, otherwise the newest. */
	uint32_t epoch;
	/* number of samples received so far, and so the index of the next one */
	uint32_t next;
	uint32_t consumed; /* length of the prefix of bindings that are all consumed */
};
void sched_feed_state(struct sched_job *job, struct sched_feed_state *ret);

/*
 * Adds n samples to the feed of an epoch, from index `base` on. Ignores samples that were
 * received before, and all samples of an epoch that is over. -EAGAIN: the epoch has not
 * begun; -EINVAL: samples before `base` are missing, or a sample does not belong to the
 * job; -ENOMEM.
 */
must_check int sched_feed(struct sched_job *job, uint32_t epoch, uint32_t base,
	const sample_id *ids, uint32_t n);

/* Reports that another daemon has served the rank, and that readers have consumed the
 * first `consumed` samples of the epoch there. The feed still brings these samples, since
 * readers may look at them again. Epochs before this one are over: opens that wait for their
 * samples fail with -ESTALE, and those of current/ continue with this epoch. -ENOMEM; -EINVAL: an
 * epoch has fewer samples. */
must_check int sched_feed_go_on(struct sched_job *job, uint32_t epoch, uint32_t consumed);

/* Reports that the feed of the job failed at since_ns (clock_now_ns); 0: it works again.
 * gives_up: opens that find no sample in the feed, or wait for one, fail with
 * -ETIMEDOUT. */
void sched_feed_away(struct sched_job *job, uint64_t since_ns, bool gives_up);

/* Reports whether another daemon serves the rank, or may serve it. Meanwhile readers here get the
 * samples that they already had, and wait for more. Called with false after sched_feed_go_on has
 * told the other daemon's progress. */
void sched_feed_lend(struct sched_job *job, bool lent);

/* Reports why the group's next epoch does not begin, for sched_job_status; "": it is not held back.
 * here: the job's rank holds it back. Then the job leaves its draining epoch as soon as no script
 * reads it. */
void sched_feed_waits(struct sched_job *job, const char *why, bool here);

/* Copies up to n samples that were received in the epoch's feed, from index `base` on,
 * bound or not. Returns the number of samples copied. */
uint32_t sched_fed(
	struct sched_job *job, uint32_t epoch, uint32_t base, sample_id *ids, uint32_t n);

/* Adds to `ids` the samples of the dataset that the cache holds or loads. Counts only tensors
 * of preparations whose jobs all draw their samples. */
void sched_resident(struct sched *sched, const char *dataset, roaring_bitmap_t *ids);
/* Adds to `ids` the samples of the dataset whose home is here, that trainings still need, and that
 * the cache neither holds nor loads. Leaves out trainings that need more samples than can be looked
 * at quickly, and datasets with a tier. */
void sched_lacked(struct sched *sched, const char *dataset, roaring_bitmap_t *ids);

/* Makes the scheduler call `news` when the state of a feed has changed: by any thread, without
 * locks; `news` must not wait. Call it before jobs are added. */
typedef void sched_news(void *context);
void sched_on_news(struct sched *sched, sched_news *news, void *context);
