// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"

/* Tells src/share each job's cost, samples and waits. Once a second, shares_window computes the
 * job's share of the decoders from these figures. */

/* Returns the mean of the expected decode times of the edition's samples, in ns. */
static uint64_t cost_of(const struct edition *edition)
{
	uint64_t sum = 0, n = 0;
	for (size_t i = 0; i < edition->n_parts; i++) {
		const struct part *part = &edition->parts[i];
		sum += part->in_epoch * space_cost(part->space);
		n += part->in_epoch;
	}
	return n > 0 ? sum / n : 0;
}

void shares_join_locked(struct sched_job *job)
{
	lock_assert_held(&job->sched->lock);
	share_join(&job->sched->supply.shares, &job->share, job->is.config.weight,
		cost_of(job->is.now));
}

void shares_status_locked(const struct sched_job *job, struct sched_job_share *ret)
{
	const struct share_job *share = &job->share;
	double decoders = job->sched->config->workers;
	lock_assert_held(&job->sched->lock);
	*ret = (struct sched_job_share){.demand = share->demand.rate,
		.at_least = share->demand.at_least,
		.granted_part = share->granted * share->cost / decoders,
		.wanted_part = share->demand.rate * share->cost / decoders,
		.waiting = job->waiting_part};
}

void shares_pass_window(struct sched *sched)
{
	struct sched_job *job;
	LOCK_SCOPE(&sched->lock);
	uint64_t now_ns = clock_now_ns();
	double seconds = (double)(now_ns - sched->window_ns) / SECOND_NS;
	TAILQ_FOREACH (job, &sched->jobs, link) {
		job_count_waits_locked(job, now_ns);
		job->waiting_part = (double)job->share.waited_ns / SECOND_NS / seconds;
	}
	double busy = (double)sched->supply.decoded_ns / SECOND_NS / seconds;
	/* If there is no memory, the shares stay, and these figures count in the next second. */
	if (shares_window(&sched->supply.shares, seconds, sched->config->workers, busy) ==
		0) {
		sched->window_ns = now_ns;
		sched->supply.decoded_ns = 0;
	}
}
