// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "dataset/dataset.h"
#include "image/preparation.h"
#include "image/tensor.h"

/* Feeds ranks, whose samples are drawn elsewhere, and gets tensors from other daemons. */

struct sched;
struct sched_job; /* references are counted: see sched_job_find */

/* --- other daemons --- */

/* A request for a sample to another daemon. It exists until sched_fetch_done. */
struct sched_fetch {
	const struct dataset *dataset;
	const struct preparation *preparation;
	sample_id sample;
	/* the tensor that is fetched; it belongs to the scheduler */
	struct tensor *tensor;
	/* The members from here on belong to the fetcher. */
	void *context;
	uint32_t node, space;
};

struct sched_fetcher {
	/* Tells whether the scheduler should ask another daemon for the sample. The scheduler may
	 * hold its lock, so this function must neither wait nor call the scheduler. */
	bool (*is_elsewhere)(void *context, const struct dataset *dataset,
		const struct preparation *preparation, sample_id sample);
	/* Asks another daemon for the sample, and returns at once. 0: sched_fetch_done will be
	 * called once, perhaps before this returns; -errno: sched_fetch_done will not be called. */
	int (*fetch)(void *context, struct sched_fetch *fetch);
	void *context;
};

/* Makes the scheduler fetch samples that other daemons have, and prepare such a sample only if its
 * fetch fails. The caller calls this before jobs are added. */
void sched_fetch_by(struct sched *sched, const struct sched_fetcher *fetcher);
/* Returns the memory for the bytes of the tensor. NULL: there is no memory, or `shape` or `bytes`
 * are not those of the requested sample. */
void *sched_fetch_place(
	struct sched_fetch *fetch, struct tensor_shape shape, uint64_t bytes);
/* Ends a fetch. err: 0 if all bytes are in place, or -errno. Any thread may call this, without
 * locks. */
void sched_fetch_done(struct sched_fetch *fetch, int err);

/* --- ranks: [job] ranks --- */

/* The state of a feed. The samples of a training are drawn elsewhere for all its ranks together,
 * and each rank gets its part as a feed. The k-th sample of the feed of an epoch becomes the k-th
 * binding of this epoch. */
struct sched_feed_state {
	bool started;	 /* an epoch has begun */
	uint32_t newest; /* the last epoch that has begun */
	/* The epoch to which `next` and `consumed` refer: the draining epoch (the previous one)
	 * until all its samples are consumed, and then the newest epoch. */
	uint32_t epoch;
	/* number of samples of `epoch` that were received so far */
	uint32_t next;
	/* number of the epoch's first bindings that are all consumed */
	uint32_t consumed;
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

/* Tells the scheduler that another daemon has served the rank, and that readers of that daemon have
 * consumed the first `consumed` samples of the epoch. The feed still brings these samples, because
 * readers may open their files again. Earlier epochs are over now: opens of their files fail with
 * -ESTALE, and waiting opens of current/ continue with this epoch. -ENOMEM; -EINVAL: an epoch has
 * fewer samples. */
must_check int sched_feed_go_on(struct sched_job *job, uint32_t epoch, uint32_t consumed);

/* Tells the scheduler that the feed of the job failed at since_ns (clock_now_ns); 0: the feed works
 * again. gives_up: opens that find no sample in the feed, or wait for one, fail with -ETIMEDOUT. */
void sched_feed_away(struct sched_job *job, uint64_t since_ns, bool gives_up);

/* Tells the scheduler whether another daemon may serve the rank (lent). While lent is true, readers
 * here only get samples that they have already opened, and wait for others. Before the caller calls
 * this with false, it must report the other daemon's progress with sched_feed_go_on. */
void sched_feed_lend(struct sched_job *job, bool lent);

/* Tells the scheduler why the next epoch of the training does not begin; sched_job_status returns
 * this text. "": nothing holds the epoch back. here = true: this job's rank holds it back, because
 * scripts may still read the rank's draining epoch (the previous one). The job then leaves the
 * draining epoch as soon as no script reads it. */
void sched_feed_waits(struct sched_job *job, const char *why, bool here);

/* Copies up to n received samples of the epoch's feed, bound or not, from index `base` on. Returns
 * the number of samples copied. */
uint32_t sched_fed(
	struct sched_job *job, uint32_t epoch, uint32_t base, sample_id *ids, uint32_t n);

/* Adds to `ids` the samples of the dataset that are in the cache or loading. Considers only
 * preparations whose jobs all draw their samples at random. */
void sched_resident(struct sched *sched, const char *dataset, roaring_bitmap_t *ids);
/* Adds to `ids` the samples of the dataset whose home is this node, that trainings still need, and
 * that are neither in the cache nor loading. Leaves out trainings that need more samples than can
 * be examined quickly, and datasets with a tier. */
void sched_lacked(struct sched *sched, const char *dataset, roaring_bitmap_t *ids);

/* Makes the scheduler call `news` when the state of a feed has changed. Any thread may call `news`,
 * without locks, and `news` must not wait. The caller calls this before jobs are added. */
typedef void sched_news(void *context);
void sched_on_news(struct sched *sched, sched_news *news, void *context);
