// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sim_sched_internal.h"

#include <errno.h>

static sample_id sample_of(const struct sim_sched *sched, const struct sim_use *use)
{
	return (sample_id)(use - sched->uses);
}

bool sim_sched_has(const struct sim_sched *sched, sample_id sample)
{
	return cache_state(sched->space, sample) == CACHE_READY;
}

enum served sim_use_served(const struct sim_sched *sched, sample_id sample)
{
	if (sim_sched_has(sched, sample))
		return SERVED_HIT;
	return sched->uses[sample].queued || sched->uses[sample].loading ? SERVED_SHARED
									 : SERVED_DECODED;
}

uint64_t sim_use_bytes(const struct sim_sched *sched, sample_id sample)
{
	return sched->config.bytes ? sched->config.bytes[sample] : 1;
}

void sim_use_request(struct sim_sched_job *job, sample_id sample)
{
	struct sim_sched *sched = job->sched;
	struct sim_use *use = &sched->uses[sample];
	if (sim_sched_has(sched, sample))
		return;
	if (sched->config.timed) {
		sim_load_ask(job, sample, false);
		return;
	}
	if (use->queued)
		return;
	use->queued = true;
	TAILQ_INSERT_TAIL(&sched->queued, use, link);
}

static void unqueue(struct sim_sched *sched, struct sim_use *use)
{
	if (use->queued)
		TAILQ_REMOVE(&sched->queued, use, link);
	use->queued = false;
}

/* Takes a sample that no job has drawn any more out of the queue. */
static void drop_if_unused(struct sim_sched *sched, sample_id sample)
{
	struct sim_use *use = &sched->uses[sample];
	if (!use->queued || cache_pins(sched->space, sample) > 0)
		return;
	if (sched->config.timed)
		sim_load_drop(sched, sample);
	else
		unqueue(sched, use);
	sampler_evicted(sched->sampler, 0, sample);
}

void sim_use_unpin(struct sim_sched *sched, sample_id sample)
{
	cache_unpin(sched->space, sample);
	drop_if_unused(sched, sample);
	cache_trim(sched->cache);
}

/* Removes a sample that others have drawn, but nobody holds open, if the cache exceeds its
 * capacity. */
static void keep_capacity(struct sim_sched *sched, sample_id sample)
{
	cache_trim(sched->cache);
	if (cache_is_exceeded(sched->cache) && sched->uses[sample].opens == 0 &&
		sim_sched_has(sched, sample))
		cache_force_out(sched->space, sample);
}

void sim_use_attach(struct sim_open *open)
{
	struct sim_sched *sched = open->job->sched;
	sim_fail(sched, cache_pin(sched->space, open->request.sample));
	sched->uses[open->request.sample].opens++;
}

void sim_use_detach(struct sim_open *open)
{
	struct sim_sched *sched = open->job->sched;
	sched->uses[open->request.sample].opens--;
	cache_unpin(sched->space, open->request.sample);
	keep_capacity(sched, open->request.sample);
	drop_if_unused(sched, open->request.sample);
}

int sim_use_publish(struct sim_sched *sched, sample_id sample)
{
	struct tensor *tensor = tensor_new((struct tensor_shape){.height = 0, .width = 0},
		sim_use_bytes(sched, sample));
	if (!tensor) {
		cache_abandon(sched->space, sample);
		return -ENOMEM;
	}
	cache_publish(sched->space, sample, tensor);
	sched->uses[sample].unread = true;
	sched->loads++;
	keep_capacity(sched, sample);
	sim_use_reap(sched);
	return 0;
}

/* Loads a sample: this is the miss that the simulation counts. -ENOSPC: the cache is full of
 * pins. */
static int load(struct sim_sched *sched, sample_id sample, bool force)
{
	int err =
		cache_reserve(sched->space, sample, sim_use_bytes(sched, sample), force);
	if (err)
		return err;
	unqueue(sched, &sched->uses[sample]);
	return sim_use_publish(sched, sample);
}

void sim_use_work(struct sim_sched *sched)
{
	struct sim_use *use;
	if (sched->config.timed)
		return; /* the caller takes it */
	while (!sched->error && (use = TAILQ_FIRST(&sched->queued))) {
		int err = load(sched, sample_of(sched, use), false);
		if (err == -ENOSPC)
			return;
		sim_fail(sched, err);
	}
}

void sim_use_load_now(struct sim_sched *sched, sample_id sample)
{
	if (!sim_sched_has(sched, sample))
		sim_fail(sched, load(sched, sample, true));
}

void sim_use_reap(struct sim_sched *sched)
{
	struct tensor *tensor;
	while ((tensor = cache_reap(sched->cache)))
		tensor_free(tensor);
}
