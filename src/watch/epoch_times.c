// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/questions.h"
#include "watch/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * A lap is an epoch that a job's readers have read to the end. Its measurement, for joaderctl
 * explain, begins with the epoch's first open, and ends with the consumption of its last sample. If
 * nearly all samples are consumed at the next epoch's first open, the measurement ends with the
 * sample that was consumed last before this open.
 */

/* An epoch counts as a lap if this many tenths of its samples were consumed: readers that fetch
 * ahead open files of the next epoch before they release the last files of this one. */
#define ENOUGH_OF_TEN 9

/* Estimates how many samples all readers together consumed while this reader read.
 * Assumes that the reader's last file took as long as the mean of its earlier files. */
static double span(const struct lap_reader *reader)
{
	double opens = reader->opens;
	return opens > 1 ? (reader->last - reader->first) * opens / (opens - 1) : 1;
}

/* Returns the mean number of threads that read at the same time. Assumes that threads
 * without an entry read like those with one. */
static unsigned readers_at_once(const struct lap *lap)
{
	double opens = 0, samples = 0;
	for (unsigned i = 0; i < LAP_READERS; i++) {
		const struct lap_reader *reader = &lap->reader[i];
		if (reader->thread == 0 || reader->epoch != lap->epoch)
			continue;
		opens += reader->opens;
		samples += span(reader);
	}
	if (opens == 0)
		return 0;
	double readers = samples / lap->consumed * lap->opens / opens;
	return readers > 1 ? (unsigned)(readers + 0.5) : 1;
}

static void end_locked(struct watch *watch)
{
	struct sched_laps *laps = &watch->laps;
	struct lap *lap = &watch->lap;
	uint64_t exposed_ns[WAIT_CAUSES];
	lock_assert_held(watch->job->lock);
	lap->ended = true;
	waits_exposed_locked(watch, exposed_ns);
	for (int i = 0; i < WAIT_CAUSES; i++)
		laps->exposed_ns[i] = exposed_ns[i] - lap->exposed_ns[i];
	laps->ns[laps->n % SCHED_LAPS] = lap->last_ns - lap->begun_ns;
	laps->waited_ns[laps->n++ % SCHED_LAPS] = watch->totals.wait_ns - lap->waited_ns;
	laps->ended_ns = lap->last_ns;
	laps->epoch = lap->epoch;
	laps->samples = lap->consumed;
	laps->pause_ns = lap->pause_ns;
	const struct lap_served *bound = &lap->bound[lap->epoch % 2];
	laps->decoded = bound->n[SERVED_DECODED];
	laps->shared = bound->n[SERVED_SHARED];
	laps->hit = bound->n[SERVED_HIT];
	laps->readers = readers_at_once(lap);
}

static void begin_locked(struct watch *watch, uint64_t begun_ns)
{
	struct lap *lap = &watch->lap;
	lock_assert_held(watch->job->lock);
	if (lap->begun_ns != 0 && !lap->ended && lap->consumed > 0 &&
		(uint64_t)lap->consumed * 10 >= (uint64_t)lap->positions * ENOUGH_OF_TEN)
		end_locked(watch);
	if (watch->laps.first_ns == 0)
		watch->laps.first_ns = begun_ns;
	lap->pause_ns =
		lap->begun_ns && begun_ns > lap->last_ns ? begun_ns - lap->last_ns : 0;
	lap->waited_ns = watch->totals.wait_ns;
	lap->consumed = 0;
	lap->opens = 0;
	lap->ended = false;
}

/* Returns the thread's entry, or an entry that may be overwritten: a free one, or that of a thread
 * that has opened no file of this epoch. NULL: there is none. */
static struct lap_reader *place_of(struct lap *lap, long thread)
{
	struct lap_reader *free = NULL;
	for (unsigned i = 0; i < LAP_READERS; i++) {
		struct lap_reader *reader = &lap->reader[i];
		if (reader->thread == thread)
			return reader;
		if (reader->thread == 0)
			return free ? free : reader; /* all later entries are free, too */
		if (!free && reader->epoch != lap->epoch)
			free = reader;
	}
	return free;
}

static void count_open(struct lap *lap, long thread)
{
	lap->opens++;
	struct lap_reader *reader = place_of(lap, thread);
	if (!reader)
		return;
	if (reader->thread != thread)
		*reader = (struct lap_reader){.thread = thread};
	if (reader->opens == 0 || reader->epoch != lap->epoch) {
		reader->epoch = lap->epoch;
		reader->opens = 0;
		reader->first = lap->consumed;
	}
	reader->opens++;
	reader->last = lap->consumed;
}

void lap_open_locked(struct watch *watch, uint32_t epoch, uint64_t asked_ns, long thread)
{
	struct lap *lap = &watch->lap;
	lock_assert_held(watch->job->lock);
	if (lap->begun_ns == 0 || epoch > lap->epoch) {
		begin_locked(watch, asked_ns);
		lap->epoch = epoch;
		lap->begun_ns = lap->last_ns = asked_ns;
		waits_exposed_locked(watch, lap->exposed_ns);
	}
	if (thread != 0)
		count_open(lap, thread);
}

void lap_bound_locked(struct watch *watch, uint32_t epoch, enum served served)
{
	struct lap_served *bound = &watch->lap.bound[epoch % 2];
	lock_assert_held(watch->job->lock);
	if (bound->epoch != epoch)
		*bound = (struct lap_served){.epoch = epoch};
	bound->n[served]++;
}

void lap_consumed_locked(struct watch *watch, uint32_t epoch)
{
	struct lap *lap = &watch->lap;
	lock_assert_held(watch->job->lock);
	if (lap->begun_ns == 0 || lap->ended || epoch != lap->epoch)
		return;
	lap->positions = epochs_set(watch->job->epochs, epoch)->positions;
	if (++lap->consumed == lap->positions)
		end_locked(watch);
}

/* Returns the thread's processor time in ns; 0: the thread has ended, or its time can't be read. */
static uint64_t cpu_of(long thread)
{
	char path[64];
	uint64_t ns = 0;
	snprintf(path, sizeof(path), "/proc/%ld/schedstat", thread);
	auto_fclose FILE *file = fopen(path, "re");
	return file && fscanf(file, "%" SCNu64, &ns) == 1 ? ns : 0;
}

/* Adds the processor time that the readers' threads have used since the last measurement. Adds
 * nothing if one of these threads has no known time in this or in the last measurement. readers: a
 * copy of lap.reader, with the present times in cpu_ns. */
static void add_locked(struct watch *watch, const struct lap_reader *readers)
{
	struct lap *lap = &watch->lap;
	uint64_t sum = 0, served = watch->totals.served - watch->lap_served;
	bool known = true;
	lock_assert_held(watch->job->lock);
	for (unsigned i = 0; i < LAP_READERS; i++) {
		struct lap_reader *reader = &lap->reader[i];
		if (reader->thread == 0 || reader->epoch != lap->epoch)
			continue;
		bool same = reader->thread == readers[i].thread && readers[i].cpu_ns > 0;
		if (!same || reader->cpu_ns == 0)
			known = false;
		else
			sum += readers[i].cpu_ns - reader->cpu_ns;
		reader->cpu_ns = same ? readers[i].cpu_ns : 0;
	}
	watch->lap_served = watch->totals.served;
	if (!known || served == 0)
		return;
	watch->laps.cpu_ns += sum;
	watch->laps.cpu_samples += served;
}

void lap_measure(struct watch *watch)
{
	struct lap_reader readers[LAP_READERS];
	lock_take(watch->job->lock);
	uint32_t epoch = watch->lap.epoch;
	bool reads = watch->totals.served != watch->lap_served;
	memcpy(readers, watch->lap.reader, sizeof(readers));
	lock_release(watch->job->lock);
	if (!reads)
		return;
	for (unsigned i = 0; i < LAP_READERS && readers[i].thread != 0; i++)
		readers[i].cpu_ns =
			readers[i].epoch == epoch ? cpu_of(readers[i].thread) : 0;
	LOCK_SCOPE(watch->job->lock);
	add_locked(watch, readers);
}
