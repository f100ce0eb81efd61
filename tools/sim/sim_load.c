// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sim_sched_internal.h"

#include <errno.h>

/*
 * Loads with a clock: a job asks for each sample that it draws or waits for; src/share chooses the
 * one to read next.
 *
 *     sim_load_ask --> queued --> sim_sched_take --> loading --> sim_sched_loaded
 */

void sim_load_ask(struct sim_sched_job *job, sample_id sample, bool urgent)
{
	struct sim_sched *sched = job->sched;
	struct sim_use *use = &sched->uses[sample];
	if (!use->queued && !use->loading)
		share_request_init(&use->request, sched->config.cost_ns);
	use->queued |= !use->loading;
	use->urgent |= urgent;
	sim_fail(sched, share_ask(&job->share, &use->request, urgent));
}

void sim_load_drop(struct sim_sched *sched, sample_id sample)
{
	struct sim_use *use = &sched->uses[sample];
	use->queued = use->urgent = false;
	share_drop(&use->request);
}

int sim_sched_wait(struct sim_open *open)
{
	sim_load_ask(open->job, open->request.sample, true);
	return open->job->sched->error;
}

static enum share_answer offer(void *context, struct share_request *request)
{
	struct sim_sched *sched = context;
	struct sim_use *use =
		(struct sim_use *)((char *)request - offsetof(struct sim_use, request));
	sample_id sample = (sample_id)(use - sched->uses);
	uint64_t bytes = sim_use_bytes(sched, sample);
	if (!use->urgent && !cache_fits(sched->cache, bytes))
		return SHARE_PASS_REST;
	int err = cache_reserve(sched->space, sample, bytes, use->urgent);
	sim_use_reap(sched);
	if (err == 0)
		return SHARE_TAKE;
	sim_fail(sched, err == -ENOSPC ? 0 : err);
	return err == -ENOSPC ? SHARE_PASS_REST : SHARE_STOP;
}

sample_id sim_sched_take(struct sim_sched *sched)
{
	struct share_request *request = share_next(&sched->shares, offer, sched);
	if (!request)
		return SAMPLE_NONE;
	struct sim_use *use =
		(struct sim_use *)((char *)request - offsetof(struct sim_use, request));
	use->queued = use->urgent = false;
	use->loading = true;
	return (sample_id)(use - sched->uses);
}

int sim_sched_loaded(struct sim_sched *sched, sample_id sample)
{
	struct sim_use *use = &sched->uses[sample];
	ensure(use->loading);
	use->loading = use->urgent = false;
	share_drop(&use->request);
	sim_fail(sched, sim_use_publish(sched, sample));
	return sched->error;
}

void sim_sched_served(struct sim_sched_job *job)
{
	job->share.samples++;
}

void sim_sched_waited(struct sim_sched_job *job, uint64_t ns)
{
	job->share.waited_ns += ns;
}

int sim_sched_window(
	struct sim_sched *sched, double seconds, double decoders, double busy)
{
	return shares_window(&sched->shares, seconds, decoders, busy);
}
