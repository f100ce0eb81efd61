// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* Measures the cost of an event in the epoch engine (src/epoch). 64 jobs of 100,000 positions take
 * turns, so that a job's data have left the processor's caches when its turn comes. The engine is
 * told that all samples are prepared, and its records are only counted. The figures are CPU times
 * of one thread: medians of five measurements, each of a fifth of an epoch. Each job has eight
 * readers, and is read in three ways: through epoch-NNNN in order; through current/ in order; and
 * through current/ in random order, as by a script that shuffles. With current/ the second epoch is
 * measured, while the last files of the first are open. */

#include "base/clock.h"
#include "base/rng.h"
#include "epoch/questions.h"

#include <stdio.h>
#include <string.h>

#define JOBS 64
#define POSITIONS 100000
#define ROUNDS 5
#define STEP 32 /* positions of each job between two looks at the clock */
#define READERS 8

enum event { DRAWN, OPEN_BIND, OPEN_BOUND, RELEASE, RELEASE_AGAIN, EVENTS };

static const char *const event_names[] = {
	[DRAWN] = "drawn ahead",
	[OPEN_BIND] = "open, which binds",
	[OPEN_BOUND] = "open of what is bound",
	[RELEASE] = "release, which consumes",
	[RELEASE_AGAIN] = "release of what was read",
};

enum mode { BY_NUMBER, CURRENT, SHUFFLED, MODES };

struct job {
	struct epochs *epochs;
	struct open_request requests[STEP];
	sample_id next; /* the next sample that is drawn */
	uint32_t epoch;
};

static struct job jobs[JOBS];
static uint32_t shuffled[POSITIONS];
/* number of records; printed, so that the compiler keeps the counting */
static uint64_t records;

static void out_of_memory(void)
{
	fprintf(stderr, "epoch: out of memory\n");
	exit(1);
}

static void execute(struct job *job, struct effects *effects);

static void give(struct job *job, uint32_t epoch)
{
	struct drawn drawn = {.sample = job->next++, .pinned = true};
	epochs_drawn(job->epochs, epoch, &drawn);
}

static void draw(struct job *job, uint32_t epoch)
{
	struct effects effects;
	effects_init(&effects);
	give(job, epoch);
	epochs_take_drawn(job->epochs, &effects);
	execute(job, &effects);
}

static void begin(struct job *job, uint32_t epoch)
{
	struct effects effects;
	effects_init(&effects);
	job->epoch = epoch;
	job->next = 0;
	epochs_begun(job->epochs, epoch, 0, 0);
	while (epochs_resume(job->epochs, 0, &effects)) {
		execute(job, &effects);
		effects_init(&effects);
	}
}

static void execute(struct job *job, struct effects *effects)
{
	for (unsigned i = 0; i < effects->n; i++) {
		const struct effect *effect = &effects->list[i];
		records += effect->kind == EFFECT_RECORD;
		if (effect->kind == EFFECT_END)
			free(effect->queue.ring);
		else if (effect->kind == EFFECT_DRAW)
			draw(job, effect->epoch);
		else if (effect->kind == EFFECT_BEGIN)
			begin(job, effect->epoch);
		else if (effect->kind == EFFECT_SAVE)
			epochs_saved(job->epochs, effect->epoch);
	}
	epochs_unpinned(job->epochs, effects);
}

static uint32_t position_of(const struct job *job, enum mode mode, uint32_t i)
{
	uint32_t offset = (uint32_t)(job - jobs) * 1009;
	return mode == SHUFFLED ? shuffled[(i + offset) % POSITIONS] : i;
}

static void open_position(
	struct job *job, enum mode mode, struct open_request *request, uint32_t i)
{
	struct effects effects;
	effects_init(&effects);
	*request = (struct open_request){
		.epoch = mode == BY_NUMBER ? job->epoch : EPOCH_CURRENT,
		.position = position_of(job, mode, i),
		.reader = {.thread = 1 + i % READERS}};
	epochs_open(job->epochs, request, 0, &effects);
	execute(job, &effects);
	if (request->status != 0 || request->sample == SAMPLE_NONE)
		out_of_memory();
}

static void release(struct job *job, const struct open_request *request)
{
	struct effects effects;
	effects_init(&effects);
	epochs_released(
		job->epochs, request->found_epoch, request->position, true, 0, &effects);
	execute(job, &effects);
}

static void do_event(struct job *job, enum event event, enum mode mode, uint32_t i)
{
	struct open_request *request = &job->requests[i % STEP];
	switch (event) {
	case DRAWN:
		if (epochs_ahead(job->epochs, job->epoch) < STEP && job->next < POSITIONS)
			give(job, job->epoch);
		break;
	case OPEN_BIND:
	case OPEN_BOUND:
		open_position(job, mode, request, i);
		break;
	case RELEASE:
	case RELEASE_AGAIN:
		release(job, request);
		break;
	case EVENTS:
		break;
	}
}

/* Measures ns per event, for the positions from..to-1 of all jobs. In an epoch's first step nothing
 * is drawn ahead, because the epoch begins only with its first open. */
static void round_of(enum mode mode, uint32_t from, uint32_t to, double ret[EVENTS])
{
	double sum[EVENTS] = {0};
	for (uint32_t first = from; first < to; first += STEP)
		for (int event = 0; event < EVENTS; event++) {
			uint32_t end = first + STEP < to ? first + STEP : to;
			uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
			for (uint32_t i = first; i < end; i++)
				for (int j = 0; j < JOBS; j++)
					if (event != DRAWN || first > 0)
						do_event(&jobs[j], (enum event)event,
							mode, i);
			sum[event] +=
				(double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
		}
	for (int event = 0; event < EVENTS; event++)
		ret[event] = sum[event] / ((double)(to - from) * JOBS);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure_epoch(enum mode mode, double ret[EVENTS])
{
	double rounds[EVENTS][ROUNDS];
	for (int round = 0; round < ROUNDS; round++) {
		double ns[EVENTS];
		round_of(mode, POSITIONS / ROUNDS * (uint32_t)round,
			POSITIONS / ROUNDS * (uint32_t)(round + 1), ns);
		for (int event = 0; event < EVENTS; event++)
			rounds[event][round] = ns[event];
	}
	for (int event = 0; event < EVENTS; event++) {
		qsort(rounds[event], ROUNDS, sizeof(double), by_size);
		ret[event] = rounds[event][ROUNDS / 2];
	}
}

static void measure(enum mode mode, double ret[EVENTS])
{
	roaring_bitmap_t *selection = roaring_bitmap_from_range(0, POSITIONS, 1);
	struct epochs_config config = {.set.selection = selection,
		.set.positions = POSITIONS,
		.limit = 4,
		.lookahead = STEP,
		.file = 1,
		.idle_ns = UINT64_MAX};
	if (!selection)
		out_of_memory();
	memset(jobs, 0, sizeof(jobs));
	for (int j = 0; j < JOBS; j++)
		if (epochs_new(&config, &jobs[j].epochs) != 0)
			out_of_memory();
	measure_epoch(mode, ret);
	if (mode != BY_NUMBER)
		measure_epoch(mode, ret);
	for (int j = 0; j < JOBS; j++) {
		struct effects effects;
		effects_init(&effects);
		epochs_leave(jobs[j].epochs, &effects);
		execute(&jobs[j], &effects);
		epochs_free(&jobs[j].epochs);
	}
	roaring_bitmap_free(selection);
}

static void shuffle(void)
{
	struct rng rng;
	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < POSITIONS; i++)
		shuffled[i] = i;
	rng_shuffle(&rng, shuffled, POSITIONS);
}

int main(void)
{
	double ns[MODES][EVENTS];
	shuffle();
	for (int mode = 0; mode < MODES; mode++)
		measure((enum mode)mode, ns[mode]);
	printf("%d jobs of %d positions, ns per event\n", JOBS, POSITIONS);
	printf("  %-26s %10s %10s %10s\n", "", "by number", "current/", "shuffled");
	for (int event = 0; event < EVENTS; event++)
		printf("  %-26s %10.0f %10.0f %10.0f\n", event_names[event],
			ns[BY_NUMBER][event], ns[CURRENT][event], ns[SHUFFLED][event]);
	printf("%.1f million records\n", (double)records / 1e6);
	return 0;
}
