// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "training.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/*
 * Simulates, image by image, how the daemon divides its decoders among jobs, by its own code
 * (src/share). There are a pool of decoders, jobs that draw ahead, and readers like those of
 * PyTorch's DataLoader. A reader fetches each image as soon as the image is ready, until the reader
 * is PREFETCH images ahead of the GPUs. Only then the reader is idle.
 *
 *     ask ahead --> share_next --> decoder --> ready, in order --> fetched --> GPUs
 *     LOOKAHEAD                                                    PREFETCH
 */

#define LOOKAHEAD 128
#define PREFETCH 256
#define WINDOW_SECONDS 1.
#define EXPECTED_NS 10000000 /* expected time of a decode, until one was measured */

struct slot {
	struct share_request request;
	struct pool_job *job;
	bool ready;
};

struct pool_job {
	const struct training *training;
	struct share_job share;
	bool runs;
	double begins; /* time when the job begins; infinite: it has begun */
	double images; /* images that the whole training reads */
	/* asked: number of images requested so far
	 * fetched: number of images that the reader has taken
	 * used: number of images that the GPUs have used */
	double asked, fetched, used;
	double next_use;    /* time of the GPUs' next use; infinite: they wait */
	double waits_since; /* begin of the wait; infinite: the reader does not wait */
	/* slots of the images from `fetched` to `asked` - 1 */
	struct slot slots[LOOKAHEAD];
};

struct pool {
	struct shares shares;
	double now, window;
	/* end of each worker's decode; infinite: the worker is idle */
	double ends[WORKERS];
	struct slot *decodes[WORKERS];
	unsigned busy;
	double decoded; /* decode seconds of all workers since the shares were last updated */
	struct pool_job jobs[TRAININGS_MOST];
	size_t n;
};

static double decode_seconds(const struct pool_job *job, unsigned busy)
{
	return job->training->cost * busy / workers_rate(busy);
}

static struct slot *slot_of(struct pool_job *job, double image)
{
	return &job->slots[(size_t)image % LOOKAHEAD];
}

static bool may_fetch(const struct pool_job *job)
{
	return job->fetched < job->images && job->fetched - job->used < PREFETCH;
}

static int ask_ahead(struct pool_job *job)
{
	while (job->asked < job->images && job->asked - job->fetched < LOOKAHEAD) {
		struct slot *slot = slot_of(job, job->asked);
		double ns = decode_seconds(job, WORKERS) * 1e9;
		*slot = (struct slot){.job = job};
		share_request_init(&slot->request, (uint64_t)ns);
		if (share_ask(&job->share, &slot->request, false))
			return -ENOMEM;
		job->asked++;
	}
	return 0;
}

static void stop_waiting(const struct pool *pool, struct pool_job *job)
{
	if (job->waits_since < pool->now)
		job->share.waited_ns += (uint64_t)((pool->now - job->waits_since) * 1e9);
	job->waits_since = HUGE_VAL;
}

/* Lets the reader take images. Stops when the next image is not ready, for which the reader then
 * waits, or when the reader is PREFETCH images ahead. */
static int read_on(const struct pool *pool, struct pool_job *job)
{
	stop_waiting(pool, job);
	while (may_fetch(job) && slot_of(job, job->fetched)->ready) {
		job->fetched++;
		job->share.samples++;
		if (ask_ahead(job))
			return -ENOMEM;
	}
	if (!may_fetch(job))
		return 0;
	job->waits_since = pool->now;
	struct slot *slot = slot_of(job, job->fetched);
	return share_is_wanted(&slot->request)
		       ? share_ask(&job->share, &slot->request, true)
		       : 0;
}

static void use_on(const struct pool *pool, struct pool_job *job)
{
	if (job->next_use == HUGE_VAL && job->used < job->fetched)
		job->next_use = pool->now + 1 / training_demand(job->training);
}

/* Lets the job do what it can after an event: ask ahead, fetch images, use the next image. */
static int go_on(const struct pool *pool, struct pool_job *job)
{
	int err = ask_ahead(job);
	if (!err)
		err = read_on(pool, job);
	use_on(pool, job);
	return err;
}

static enum share_answer take(void *context, struct share_request *request)
{
	(void)context;
	(void)request;
	return SHARE_TAKE;
}

static void keep_busy(struct pool *pool)
{
	for (size_t i = 0; i < WORKERS; i++) {
		if (pool->ends[i] != HUGE_VAL)
			continue;
		struct share_request *request = share_next(&pool->shares, take, NULL);
		if (!request)
			return;
		/* The request is the first member of the slot. */
		pool->decodes[i] = (struct slot *)request;
		pool->busy++;
		double seconds = decode_seconds(pool->decodes[i]->job, pool->busy);
		pool->ends[i] = pool->now + seconds;
		pool->decoded += seconds;
	}
}

static double next_event(const struct pool *pool)
{
	double next = pool->window;
	for (size_t i = 0; i < WORKERS; i++)
		next = fmin(next, pool->ends[i]);
	for (size_t i = 0; i < pool->n; i++) {
		const struct pool_job *job = &pool->jobs[i];
		next = fmin(next, job->runs ? job->next_use : job->begins);
	}
	return next;
}

static int end_decodes(struct pool *pool)
{
	for (size_t i = 0; i < WORKERS; i++) {
		if (pool->ends[i] > pool->now)
			continue;
		struct slot *slot = pool->decodes[i];
		share_drop(&slot->request);
		slot->ready = true;
		pool->ends[i] = HUGE_VAL;
		pool->busy--;
		if (go_on(pool, slot->job))
			return -ENOMEM;
	}
	return 0;
}

static int begin(struct pool *pool, struct pool_job *job)
{
	job->runs = true;
	job->begins = HUGE_VAL;
	share_join(&pool->shares, &job->share, 1, EXPECTED_NS);
	return go_on(pool, job);
}

static int use_images(struct pool *pool, struct pool_job *job, double *ret_finished)
{
	if (job->next_use > pool->now)
		return 0;
	job->next_use = HUGE_VAL;
	if (++job->used < job->images)
		return go_on(pool, job);
	*ret_finished = pool->now;
	share_leave(&job->share);
	job->runs = false;
	return 0;
}

static int pass_window(struct pool *pool)
{
	if (pool->window > pool->now)
		return 0;
	pool->window += WINDOW_SECONDS;
	for (size_t i = 0; i < pool->n; i++) {
		struct pool_job *job = &pool->jobs[i];
		if (!job->runs || job->waits_since == HUGE_VAL)
			continue;
		stop_waiting(pool, job);
		job->waits_since = pool->now;
	}
	double busy = pool->decoded / WINDOW_SECONDS;
	pool->decoded = 0;
	return shares_window(&pool->shares, WINDOW_SECONDS, WORKERS, busy);
}

static int step(struct pool *pool, struct workload_outcome *outcome)
{
	int err = end_decodes(pool);
	for (size_t i = 0; !err && i < pool->n; i++) {
		struct pool_job *job = &pool->jobs[i];
		if (!job->runs && job->begins <= pool->now)
			err = begin(pool, job);
		else if (job->runs)
			err = use_images(pool, job, &outcome->finished[i]);
	}
	if (!err)
		err = pass_window(pool);
	keep_busy(pool);
	return err;
}

static bool is_over(const struct pool *pool)
{
	for (size_t i = 0; i < pool->n; i++)
		if (pool->jobs[i].runs || pool->jobs[i].begins != HUGE_VAL)
			return false;
	return true;
}

static void pool_init(
	struct pool *pool, const struct workload *workload, enum share_policy policy)
{
	shares_init(&pool->shares, policy);
	pool->n = workload->n;
	pool->window = WINDOW_SECONDS;
	for (size_t i = 0; i < WORKERS; i++)
		pool->ends[i] = HUGE_VAL;
	for (size_t i = 0; i < pool->n; i++) {
		const struct training *training = &workload->trainings[i];
		pool->jobs[i] = (struct pool_job){.training = training,
			.begins = training->arrival + START_SECONDS,
			.images = training_images(training),
			.next_use = HUGE_VAL,
			.waits_since = HUGE_VAL};
	}
}

int pool_run(const struct workload *workload, enum share_policy policy,
	struct workload_outcome *ret)
{
	struct pool *pool = calloc(1, sizeof(*pool));
	int err = pool ? 0 : -ENOMEM;
	if (!err)
		pool_init(pool, workload, policy);
	while (!err && !is_over(pool)) {
		pool->now = next_event(pool);
		err = step(pool, ret);
	}
	for (size_t i = 0; pool && i < pool->n; i++)
		if (pool->jobs[i].runs)
			share_leave(&pool->jobs[i].share);
	free(pool);
	if (!err)
		outcome_finish(workload, ret);
	return err;
}
