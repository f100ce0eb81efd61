// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "timed_internal.h"

#include <math.h>

/* Ends runs of jobs with very different speeds early: once each job has read two epochs, a run ends
 * when all jobs together have read MOST_READ_AGAIN times as many samples as there are. */
#define MOST_READ_AGAIN 60
#define READ_PER_DECODER 6 /* see may_read; the value of src/supply/storage.c */
/* decode times vary between half the mean and one and a half times the mean */
#define SPREAD .5
#define SECOND 1.

static size_t want_processor(const struct timed_run *run)
{
	size_t n = 0;
	for (size_t i = 0; i < run->n_readers; i++)
		n += run->readers[i].state == READER_RUNS;
	for (size_t i = 0; i < run->world->workers; i++)
		n += run->decoders[i].sample != SAMPLE_NONE;
	return n;
}

static double part_of_processor(const struct timed_run *run)
{
	size_t n = want_processor(run);
	return n > 0 ? fmin(1, run->world->cpus / (double)n) : 1;
}

static double uneven(const struct timed_run *run, sample_id sample)
{
	double part = (double)(rng_mix(run->world->seed, sample) >> 11) * 0x1p-53;
	return 1 - SPREAD + 2 * SPREAD * part;
}

static const struct timed_job *job_of(const struct timed_run *run, sample_id sample)
{
	return &run->world->jobs[run->first_job[sample]];
}

/* Tells whether another read may begin. The number of samples that are being read or wait for a
 * decoder is limited: READ_PER_DECODER for each decoder and, for slow reads, more. The daemon also
 * limits their bytes (src/supply/storage.c). */
static bool may_read(const struct timed_run *run)
{
	const struct timed_world *world = run->world;
	const struct timed_job *job = &world->jobs[0];
	double used = 2 * world->workers * job->read / fmax(job->decode, 1e-6);
	double most = READ_PER_DECODER * world->workers + fmin(used, TIMED_READS);
	return run->n_reads < TIMED_READS && flight_has_room(&run->flight) &&
	       (double)(run->n_reads + run->n_read) < most;
}

static void begin_reads(struct timed_run *run)
{
	while (may_read(run)) {
		sample_id sample = sim_sched_take(run->sched);
		if (sample == SAMPLE_NONE)
			return;
		flight_begin(&run->flight, (uint64_t)(run->now * 1e9));
		run->reads[run->n_reads++] = (struct timed_read){
			.sample = sample, .until = run->now + job_of(run, sample)->read};
	}
}

static void end_reads(struct timed_run *run)
{
	for (size_t i = 0; i < run->n_reads;) {
		if (run->reads[i].until > run->now) {
			i++;
			continue;
		}
		flight_end(&run->flight, (uint64_t)(run->now * 1e9));
		run->read[(run->read_head + run->n_read++) % run->n_ids] =
			run->reads[i].sample;
		run->reads[i] = run->reads[--run->n_reads];
	}
}

static void begin_decodes(struct timed_run *run)
{
	for (size_t i = 0; i < run->world->workers && run->n_read > 0; i++) {
		struct timed_decoder *decoder = &run->decoders[i];
		if (decoder->sample != SAMPLE_NONE)
			continue;
		decoder->sample = run->read[run->read_head++ % run->n_ids];
		run->read_head %= run->n_ids;
		run->n_read--;
		decoder->since = run->now;
		decoder->until = run->processor + job_of(run, decoder->sample)->decode *
							  uneven(run, decoder->sample);
	}
}

static int end_decodes(struct timed_run *run)
{
	int err = 0;
	for (size_t i = 0; i < run->world->workers && !err; i++) {
		struct timed_decoder *decoder = &run->decoders[i];
		sample_id sample = decoder->sample;
		if (sample == SAMPLE_NONE || decoder->until > run->processor)
			continue;
		decoder->sample = SAMPLE_NONE;
		run->decoded += run->now - decoder->since;
		err = sim_sched_loaded(run->sched, sample);
		if (!err)
			err = timed_give(run, sample);
	}
	return err;
}

static int go_on(struct timed_run *run, struct timed_reader *reader)
{
	const struct timed_job *job = &run->world->jobs[reader->job];
	if (reader->state == READER_RUNS && reader->until <= run->processor) {
		reader->state = READER_SLEEPS;
		reader->until = run->now + fmax(job->think - job->cpu, 0);
	}
	if (reader->state == READER_SLEEPS && reader->until <= run->now)
		return timed_open_next(run, reader);
	return 0;
}

static int pass_window(struct timed_run *run)
{
	if (run->window > run->now)
		return 0;
	run->window += SECOND;
	for (size_t j = 0; j < run->world->n_jobs; j++)
		if (run->scripts[j].job)
			timed_count_waits(run, j);
	double busy = run->decoded / SECOND;
	run->decoded = 0;
	return sim_sched_window(run->sched, SECOND, run->world->workers, busy);
}

static double next_event(const struct timed_run *run)
{
	double next = run->window, processor = HUGE_VAL;
	for (size_t i = 0; i < run->n_readers; i++) {
		const struct timed_reader *reader = &run->readers[i];
		if (reader->state == READER_RUNS)
			processor = fmin(processor, reader->until);
		else if (reader->state == READER_SLEEPS)
			next = fmin(next, reader->until);
	}
	for (size_t i = 0; i < run->world->workers; i++)
		if (run->decoders[i].sample != SAMPLE_NONE)
			processor = fmin(processor, run->decoders[i].until);
	for (size_t i = 0; i < run->n_reads; i++)
		next = fmin(next, run->reads[i].until);
	for (size_t j = 0; j < run->world->n_jobs; j++)
		next = fmin(next, run->scripts[j].begins);
	double part = part_of_processor(run);
	return fmin(next, run->now + fmax(processor - run->processor, 0) / part);
}

/* Advances both clocks to the next event. A little is added to the processor time, because
 * otherwise a rounding error could leave the event just after the new time. */
static void advance(struct timed_run *run)
{
	double part = part_of_processor(run), next = next_event(run);
	run->processor += (next - run->now) * part * (1 + 1e-12) + 1e-12;
	run->now = next;
}

static int step(struct timed_run *run)
{
	advance(run);
	end_reads(run);
	int err = end_decodes(run);
	for (size_t j = 0; j < run->world->n_jobs && !err; j++)
		if (run->scripts[j].begins <= run->now)
			err = timed_begin_epoch(run, j);
	for (size_t i = 0; i < run->n_readers && !err; i++)
		err = go_on(run, &run->readers[i]);
	if (!err)
		err = pass_window(run);
	begin_reads(run);
	begin_decodes(run);
	return err;
}

static bool is_over(const struct timed_run *run)
{
	uint64_t least = UINT64_MAX;
	for (size_t j = 0; j < run->world->n_jobs; j++)
		if (run->scripts[j].job && run->scripts[j].laps < least)
			least = run->scripts[j].laps;
	return least >= run->world->laps ||
	       (least > 1 && run->served >= (uint64_t)run->n_ids * MOST_READ_AGAIN);
}

int timed_run(
	const struct timed_world *world, struct timed_outcome *ret, double *ret_loads)
{
	struct timed_run *run;
	int err = timed_run_new(world, &run);
	if (err)
		return err;
	while (!err && !is_over(run))
		err = step(run);
	for (size_t j = 0; j < world->n_jobs && !err; j++) {
		const struct timed_script *script = &run->scripts[j];
		double laps = script->laps > 1 ? (double)script->laps - 1 : 1;
		ret[j] = (struct timed_outcome){
			.epoch = script->sum / laps, .laps = script->laps};
	}
	*ret_loads = run->served > 0
			     ? (double)sim_sched_loads(run->sched) / (double)run->served
			     : 0;
	timed_run_free(&run);
	return err;
}
