// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "dataset/dataset.h"
#include "image/preparation.h"
#include "image/tensor.h"

struct sched;
struct sched_job; /* references are counted: see sched_job_find */

/* A request to another daemon. It exists until sched_fetch_done. */
struct sched_fetch {
	const struct dataset *dataset;
	const struct preparation *preparation;
	sample_id sample;
	struct tensor *tensor; /* the tensor that is fetched; belongs to the scheduler */
	/* The fields from here on belong to the fetcher. */
	void *context;
	uint32_t node, space;
};

struct sched_fetcher {
	/* Tells whether to ask another daemon. The scheduler may hold its lock: don't wait, don't
	 * call the scheduler. */
	bool (*is_elsewhere)(void *context, const struct dataset *dataset,
		const struct preparation *preparation, sample_id sample);
	/* Asks another daemon, and returns at once. 0: sched_fetch_done will be called once,
	 * perhaps before `fetch` returns; -errno: it will not be called. */
	int (*fetch)(void *context, struct sched_fetch *fetch);
	void *context;
};

/* Makes the scheduler fetch samples that other daemons have, and prepare such a sample only if its
 * fetch fails. Must be called before jobs are added. */
void sched_fetch_by(struct sched *sched, const struct sched_fetcher *fetcher);
/* Returns the memory for the tensor's bytes. NULL: no memory, or `shape` or `bytes` are not those
 * of the sample's tensor here, or the function was already called for this fetch. */
void *sched_fetch_place(
	struct sched_fetch *fetch, struct tensor_shape shape, uint64_t bytes);
/* Ends a fetch, and frees `fetch`. err: 0 if all bytes are in place. -ENOSPC: the other daemon
 * leaves the sample to this one, which does not count as a failure; other -errno: the fetch has
 * failed. Any thread may call this, without locks. */
void sched_fetch_done(struct sched_fetch *fetch, int err);

/* The state of a rank's feed. A coordinator draws the samples of a training for all its ranks, and
 * each rank gets its part as a feed. The k-th sample of an epoch's feed becomes the epoch's k-th
 * binding. */
struct sched_feed_state {
	bool started;	 /* An epoch has begun. */
	uint32_t newest; /* number of the last epoch that has begun */
	/* the epoch to which `next` and `consumed` refer: the previous epoch until all its samples
	 * are consumed, then the newest epoch */
	uint32_t epoch;
	uint32_t next; /* number of samples received so far */
	/* The epoch's first `consumed` bindings are all consumed; bindings from before a restart
	 * of the daemon count as consumed. */
	uint32_t consumed;
};
void sched_feed_state(struct sched_job *job, struct sched_feed_state *ret);

/* Adds n samples to the epoch's feed, from index `base` on. Ignores samples received before, and an
 * epoch that is over. -EAGAIN: the epoch has not begun; -EINVAL: samples before `base` are missing,
 * or a sample is not the job's; -ENOMEM. */
must_check int sched_feed(struct sched_job *job, uint32_t epoch, uint32_t base,
	const sample_id *ids, uint32_t n);

/* Notes that another daemon has served the rank, and that the rank's readers have consumed the
 * epoch's first `consumed` samples. The feed still brings these samples, because readers may open
 * them again. Earlier epochs are over: opens of their files fail with -ESTALE, and waiting opens of
 * current/ go on with this epoch. -ENOMEM; -EINVAL: an epoch has fewer than `consumed` samples. */
must_check int sched_feed_go_on(struct sched_job *job, uint32_t epoch, uint32_t consumed);

/* Notes whether the coordinator can be reached. since_ns: the time (clock_now_ns) since when the
 * coordinator can't be reached; 0: it can be reached. gives_up: opens that find no sample in the
 * feed, or wait for one, fail with -ETIMEDOUT. */
void sched_feed_away(struct sched_job *job, uint64_t since_ns, bool gives_up);

/* Notes whether the rank is lent: another daemon may serve it. Readers here then get only samples
 * that they have already opened, and wait for all others. Before the caller sets lent to false, it
 * must report the other daemon's progress by sched_feed_go_on. */
void sched_feed_lend(struct sched_job *job, bool lent);

/* Notes why the training's next epoch does not begin, for sched_job_status; "": nothing holds it
 * back. here: other ranks wait because scripts of this rank may still read the previous epoch. The
 * job then ends the previous epoch as soon as no script reads it. */
void sched_feed_waits(struct sched_job *job, const char *why, bool here);

/* Copies up to n received samples, bound or not, from index `base` on. Returns their number. */
uint32_t sched_fed(
	struct sched_job *job, uint32_t epoch, uint32_t base, sample_id *ids, uint32_t n);

/* Adds to `ids` the dataset's samples that are cached or loading. Leaves out preparations with a
 * job that does not draw at random. */
void sched_resident(struct sched *sched, const char *dataset, roaring_bitmap_t *ids);
/* Adds to `ids` the dataset's samples whose home is this node, that trainings still need, and that
 * are neither cached nor loading. Leaves out trainings that need too many samples to look at all of
 * them, and datasets with a tier. */
void sched_lacked(struct sched *sched, const char *dataset, roaring_bitmap_t *ids);

/* Tells that sched_feed_state has news: a rank's epoch has begun, or the rank has consumed enough
 * samples for a report (feed_has_news). Called by any thread, without locks. Must not wait. */
typedef void sched_news(void *context);
/* Must be called before jobs are added. */
void sched_on_news(struct sched *sched, sched_news *news, void *context);
