// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/sched.h"
#include "simulation.h"

#include "stats/stats.h"

#include <errno.h>
#include <string.h>

void model_forget(struct model_job *job)
{
	job->generation++;
	for (unsigned e = 0; e < MOST_EPOCHS; e++)
		for (unsigned i = 0; i < SAMPLES; i++)
			job->told[e][i] = SAMPLE_NONE;
}

void model_tell(struct model_job *job, unsigned generation, uint32_t epoch,
	uint32_t position, sample_id sample)
{
	if (disk_is_dead() || !job->there || generation != job->generation)
		return;
	ensure(epoch < job->config.epochs && position < SAMPLES && sample < SAMPLES);
	sample_id *told = job->told[epoch];
	ensure(told[position] == SAMPLE_NONE || told[position] == sample);
	told[position] = sample;
	for (uint32_t i = 0; i < SAMPLES; i++)
		ensure(i == position || told[i] != sample);
}

/* Checks that the epoch's bindings are those that readers were told, including samples that they
 * could not be given. */
static void check_bound(
	struct model_job *job, struct sched_job *found, uint32_t epoch, uint32_t n)
{
	bool mirror = job->config.layout == LAYOUT_MIRROR;
	for (uint32_t position = 0; position < n; position++) {
		sample_id sample = sched_bound(found, epoch, position);
		ensure(sample != SAMPLE_NONE);
		model_tell(job, job->generation, epoch, position, sample);
	}
	for (uint32_t k = 0; k < n && !mirror; k++) {
		struct binding binding;
		ensure(sched_binding(found, epoch, k, &binding));
		ensure(job->told[epoch][binding.position] == binding.sample);
	}
}

static void read_all(
	struct model_job *job, struct sched_job *found, uint32_t epoch, uint32_t n)
{
	for (uint32_t position = 0; position < n; position++) {
		struct sched_handle *handle;
		int err = ONCE_MORE(reader_open(job, found, epoch, position, &handle));
		if (err == 0)
			sched_release(handle);
		else
			ensure(err == -EIO);
		if (err)
			ensure(is_bad(sched_bound(found, epoch, position)));
	}
}

void model_check_epoch(struct model_job *job)
{
	struct sched_job *found = sched_job_find(simulation.sched, job->name);
	struct sched_job_status status;
	ensure(found);
	sched_job_status(found, &status);
	uint32_t epoch = status.started ? status.epoch : 0;
	read_all(job, found, epoch, sched_job_samples(found, 0));
	check_bound(job, found, epoch, sched_job_samples(found, 0));
	sched_job_status(found, &status);
	ensure(job->config.layout == LAYOUT_MIRROR || !status.running);
	simulation.counts.epochs += 1 + status.epoch;
	simulation.counts.parked += status.parked_idle;
	simulation.counts.waits += status.waits;
	simulation.counts.hits += status.hit + status.shared;
	sched_job_put(found);
}

void model_validate(void)
{
	sites_rest(true);
	sched_validate(simulation.sched);
	sites_rest(false);
}

void model_check_nothing_held(void)
{
	model_validate();
	sched_stats(simulation.sched);
	ensure(stats_get(STAT_CACHE_PINS) == 0);
	ensure(stats_get(STAT_CACHE_NEED) == 0);
	ensure(stats_get(STAT_STREAMS) == 0);
}
