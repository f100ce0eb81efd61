// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "timed_internal.h"

#include "base/ensure.h"

#include <math.h>

void timed_count_waits(struct timed_run *run, size_t j)
{
	struct timed_script *script = &run->scripts[j];
	if (script->waiting > 0)
		sim_sched_waited(script->job,
			(uint64_t)((run->now - script->counted_since) * 1e9));
	script->counted_since = run->now;
}

static void change_waiting(struct timed_run *run, size_t j, int change)
{
	timed_count_waits(run, j);
	run->scripts[j].waiting += (unsigned)change;
}

/* Ends an epoch. The first epoch does not count, because it fills the cache. */
static void end_epoch(struct timed_run *run, size_t j)
{
	struct timed_script *script = &run->scripts[j];
	timed_count_waits(run, j);
	if (script->laps++ > 0)
		script->sum += run->now - script->begun;
	script->epoch++;
	script->begins = run->now + run->world->jobs[j].pause;
}

static int serve(struct timed_run *run, struct timed_reader *reader)
{
	struct timed_script *script = &run->scripts[reader->job];
	int err = sim_sched_release(&reader->open);
	run->served++;
	reader->state = READER_RUNS;
	reader->until = run->processor + run->world->jobs[reader->job].cpu;
	if (++script->served == script->samples)
		end_epoch(run, reader->job);
	return err;
}

int timed_open_next(struct timed_run *run, struct timed_reader *reader)
{
	struct timed_script *script = &run->scripts[reader->job];
	if (script->begins < HUGE_VAL || script->next == script->samples) {
		reader->state = READER_OUT;
		return 0;
	}
	uint32_t k = script->next++;
	reader->open = sim_open_of(
		script->job, script->epoch, script->opens ? script->opens[k] : k);
	struct sim_open *open = &reader->open;
	int err = sim_sched_open(run->sched, &open, 1);
	if (err)
		return err;
	ensure(open->request.status == 0);
	if (sim_sched_has(run->sched, open->request.sample))
		return serve(run, reader);
	reader->state = READER_WAITS;
	change_waiting(run, reader->job, 1);
	return sim_sched_wait(open);
}

int timed_begin_epoch(struct timed_run *run, size_t j)
{
	struct timed_script *script = &run->scripts[j];
	script->begins = HUGE_VAL;
	script->begun = run->now;
	script->next = script->served = 0;
	script->counted_since = run->now;
	if (script->opens)
		sim_shuffle(&run->rng, script->opens, script->samples);
	int err = 0;
	for (size_t i = 0; i < run->n_readers && !err; i++)
		if (run->readers[i].job == j && run->readers[i].state == READER_OUT)
			err = timed_open_next(run, &run->readers[i]);
	return err;
}

int timed_give(struct timed_run *run, sample_id sample)
{
	int err = 0;
	for (size_t i = 0; i < run->n_readers && !err; i++) {
		struct timed_reader *reader = &run->readers[i];
		if (reader->state != READER_WAITS ||
			reader->open.request.sample != sample)
			continue;
		change_waiting(run, reader->job, -1);
		err = serve(run, reader);
	}
	return err;
}
