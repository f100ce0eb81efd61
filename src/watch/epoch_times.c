// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"
#include "watch/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * A lap is an epoch that a job's readers have read to the end. This file measures how
 * long it took, what its readers waited for, how many readers there were, and how much
 * processor time they took. joaderctl explain begins with these figures.
 *
 *     first open of an epoch -> lap_begin -> opens, samples consumed -> the last one ends it
 */

/* A lap counts if so many tenths of the epoch were consumed: readers that fetch ahead
 * begin the next epoch before they have released all files of this one. */
#define ENOUGH_OF_TEN 9

/* Returns how many samples all readers together consume while this one reads: from its
 * first open to the open that would follow its last one. */
static double span(const struct lap_reader *reader)
{
	double opens = reader->opens;
	return opens > 1 ? (reader->last - reader->first) * opens / (opens - 1) : 1;
}

/* Returns the mean number of simultaneous readers: processes that read one after the
 * other count as one. Threads beyond LAP_READERS are assumed to read like the others. */
static unsigned readers_at_once(const struct watched *watched)
{
	double opens = 0, samples = 0;
	for (unsigned i = 0; i < LAP_READERS; i++) {
		const struct lap_reader *reader = &watched->reader[i];
		if (reader->thread == 0 || reader->epoch != watched->epoch)
			continue;
		opens += reader->opens;
		samples += span(reader);
	}
	if (opens == 0)
		return 0;
	double readers = samples / watched->consumed * watched->opens / opens;
	return readers > 1 ? (unsigned)(readers + 0.5) : 1;
}

static void end_locked(struct sched_job *job)
{
	struct sched_laps *laps = &job->laps;
	struct watched *watched = &job->watched;
	uint64_t exposed_ns[WAIT_CAUSES];
	lock_assert_held(&job->sched->lock);
	watched->ended = true;
	waits_exposed_locked(job, exposed_ns);
	for (int i = 0; i < WAIT_CAUSES; i++)
		laps->exposed_ns[i] = exposed_ns[i] - watched->exposed_ns[i];
	laps->ns[laps->n % SCHED_LAPS] = watched->last_ns - watched->begun_ns;
	laps->waited_ns[laps->n++ % SCHED_LAPS] =
		job->totals.wait_ns - watched->waited_ns;
	laps->ended_ns = watched->last_ns;
	laps->epoch = watched->epoch;
	laps->samples = watched->consumed;
	laps->pause_ns = watched->pause_ns;
	const struct lap_served *bound = &watched->bound[watched->epoch % 2];
	laps->decoded = bound->n[SERVED_DECODED];
	laps->shared = bound->n[SERVED_SHARED];
	laps->hit = bound->n[SERVED_HIT];
	laps->readers = readers_at_once(watched);
}

void lap_begin_locked(struct sched_job *job, uint64_t begun_ns)
{
	struct watched *watched = &job->watched;
	lock_assert_held(&job->sched->lock);
	if (watched->begun_ns != 0 && !watched->ended && watched->consumed > 0 &&
		(uint64_t)watched->consumed * 10 >=
			(uint64_t)watched->positions * ENOUGH_OF_TEN)
		end_locked(job);
	if (job->laps.first_ns == 0)
		job->laps.first_ns = begun_ns;
	watched->pause_ns = watched->begun_ns && begun_ns > watched->last_ns
				    ? begun_ns - watched->last_ns
				    : 0;
	watched->waited_ns = job->totals.wait_ns;
	watched->consumed = 0;
	watched->opens = 0;
	watched->ended = false;
}

/* Returns the thread's entry; else a free one, or the entry of a thread that has opened
 * no file of this epoch. NULL: there is none. */
static struct lap_reader *place_of(struct watched *watched, long thread)
{
	struct lap_reader *free = NULL;
	for (unsigned i = 0; i < LAP_READERS; i++) {
		struct lap_reader *reader = &watched->reader[i];
		if (reader->thread == thread)
			return reader;
		if (reader->thread == 0)
			return free ? free : reader; /* entries behind it are free */
		if (!free && reader->epoch != watched->epoch)
			free = reader;
	}
	return free;
}

void lap_open_locked(const struct sched_handle *handle)
{
	struct watched *watched = &handle->job->watched;
	long thread = handle->callbacks.reader.thread;
	lock_assert_held(&handle->job->sched->lock);
	if (thread == 0)
		return;
	if (handle->callbacks.reader.program)
		program_note_locked(handle->job, &handle->callbacks.reader);
	watched->opens++;
	struct lap_reader *reader = place_of(watched, thread);
	if (!reader)
		return;
	if (reader->thread != thread)
		*reader = (struct lap_reader){.thread = thread};
	if (reader->opens == 0 || reader->epoch != watched->epoch) {
		reader->epoch = watched->epoch;
		reader->opens = 0;
		reader->first = watched->consumed;
	}
	reader->opens++;
	reader->last = watched->consumed;
}

void lap_bound_locked(struct sched_job *job, uint32_t epoch, enum served served)
{
	struct lap_served *bound = &job->watched.bound[epoch % 2];
	lock_assert_held(&job->sched->lock);
	if (bound->epoch != epoch)
		*bound = (struct lap_served){.epoch = epoch};
	bound->n[served]++;
}

void lap_consumed_locked(struct sched_job *job, uint32_t epoch)
{
	struct watched *watched = &job->watched;
	lock_assert_held(&job->sched->lock);
	if (watched->begun_ns == 0 || watched->ended || epoch != watched->epoch)
		return;
	watched->positions = epochs_set(job->is.epochs, epoch)->positions;
	if (++watched->consumed == watched->positions)
		end_locked(job);
}

void sched_job_laps(struct sched_job *job, struct sched_laps *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	const struct edition *now = job->is.now;
	*ret = job->laps;
	ret->last_ns = job->watched.last_ns;
	ret->sample_bytes = now->sample_bytes;
	ret->weight = job->is.config.weight;
	const struct source *source = now->parts[0].source;
	ret->sampler = source->config.name ? source->config.sampler
					   : job->sched->config->sampler;
	ret->labels = job_kind(&job->is) == EPOCHS_DRAWN_AT_OPEN
			      ? dataset_classes(now->is.dataset)
			      : 0;
	ret->drawn = job_kind(&job->is) == EPOCHS_DRAWN ||
		     job_kind(&job->is) == EPOCHS_DRAWN_AT_OPEN;
}

/* --- processor time of readers --------------------------------------------------------- */

/* Returns the thread's processor time in ns; 0: the thread has ended, or its time can't
 * be read. */
static uint64_t cpu_of(long thread)
{
	char path[64];
	uint64_t ns = 0;
	snprintf(path, sizeof(path), "/proc/%ld/schedstat", thread);
	auto_fclose FILE *file = fopen(path, "re");
	return file && fscanf(file, "%" SCNu64, &ns) == 1 ? ns : 0;
}

/* Adds the processor time since the last measurement, if all threads were measured then. */
static void add_locked(struct sched_job *job, const struct lap_reader *readers)
{
	struct watched *watched = &job->watched;
	uint64_t sum = 0, served = job->totals.served - job->lap_served;
	bool known = true;
	lock_assert_held(&job->sched->lock);
	for (unsigned i = 0; i < LAP_READERS; i++) {
		struct lap_reader *reader = &watched->reader[i];
		if (reader->thread == 0 || reader->epoch != watched->epoch)
			continue;
		bool same = reader->thread == readers[i].thread && readers[i].cpu_ns > 0;
		if (!same || reader->cpu_ns == 0)
			known = false;
		else
			sum += readers[i].cpu_ns - reader->cpu_ns;
		reader->cpu_ns = same ? readers[i].cpu_ns : 0;
	}
	job->lap_served = job->totals.served;
	if (!known || served == 0)
		return;
	job->laps.cpu_ns += sum;
	job->laps.cpu_samples += served;
}

static void measure(struct sched_job *job)
{
	struct lap_reader readers[LAP_READERS];
	lock_take(&job->sched->lock);
	uint32_t epoch = job->watched.epoch;
	bool reads = job->totals.served != job->lap_served;
	memcpy(readers, job->watched.reader, sizeof(readers));
	lock_release(&job->sched->lock);
	if (!reads)
		return;
	for (unsigned i = 0; i < LAP_READERS && readers[i].thread != 0; i++)
		readers[i].cpu_ns =
			readers[i].epoch == epoch ? cpu_of(readers[i].thread) : 0;
	LOCK_SCOPE(&job->sched->lock);
	add_locked(job, readers);
}

void laps_measure(struct sched *sched)
{
	jobs_visit(sched, measure);
}

/* --- samples that jobs have in common --------------------------------------------------- */

/* The samples of a space that exactly these jobs read. */
struct region {
	const struct space *space;
	roaring_bitmap_t *samples;
	uint64_t jobs;
};

struct regions {
	struct region *region;
	size_t n;
};

static int add_region(struct regions *regions, const struct space *space,
	roaring_bitmap_t *samples, uint64_t jobs)
{
	if (!samples)
		return -ENOMEM;
	if (roaring_bitmap_is_empty(samples)) {
		roaring_bitmap_free(samples);
		return 0;
	}
	struct region *more =
		reallocarray(regions->region, regions->n + 1, sizeof(*more));
	if (!more) {
		roaring_bitmap_free(samples);
		return -ENOMEM;
	}
	regions->region = more;
	more[regions->n++] =
		(struct region){.space = space, .samples = samples, .jobs = jobs};
	return 0;
}

/* Divides each region into samples that the job reads and samples that it does not read.
 * Adds one region for the job's samples that are in no region yet. */
static int divide(struct regions *regions, const struct part *part, uint64_t job)
{
	size_t n = regions->n;
	roaring_bitmap_t *rest = roaring_bitmap_copy(part->selection);
	for (size_t i = 0; i < n && rest; i++) {
		struct region *region = &regions->region[i];
		if (region->space != part->space ||
			!roaring_bitmap_intersect(region->samples, rest))
			continue;
		roaring_bitmap_t *both = roaring_bitmap_and(region->samples, rest);
		if (!both) {
			roaring_bitmap_free(rest);
			return -ENOMEM;
		}
		roaring_bitmap_andnot_inplace(rest, both);
		roaring_bitmap_andnot_inplace(region->samples, both);
		int err = add_region(regions, part->space, both, region->jobs | job);
		if (err) {
			roaring_bitmap_free(rest);
			return err;
		}
	}
	return add_region(regions, part->space, rest, job);
}

static int divide_job(
	struct sched *sched, struct regions *regions, job_id id, uint64_t bit)
{
	struct sched_job *job = sched_job_find_id(sched, id);
	if (!job)
		return 0;
	lock_take(&sched->lock);
	struct edition *edition = job->is.now;
	atomic_fetch_add(&edition->holds, 1);
	lock_release(&sched->lock);
	int err = 0;
	for (size_t i = 0; i < edition->n_parts && !err; i++)
		err = divide(regions, &edition->parts[i], bit);
	edition_let_go(edition);
	sched_job_put(job);
	return err;
}

int sched_common(struct sched *sched, const job_id *ids, size_t n,
	struct sched_common **ret, size_t *ret_n)
{
	struct regions regions = {NULL, 0};
	int err = 0;
	for (size_t i = 0; i < n && i < SCHED_COMMON_JOBS && !err; i++)
		err = divide_job(sched, &regions, ids[i], UINT64_C(1) << i);
	*ret_n = 0;
	*ret = err ? NULL : calloc(regions.n + 1, sizeof(**ret));
	err = *ret ? 0 : -ENOMEM;
	for (size_t i = 0; i < regions.n; i++) {
		struct region *region = &regions.region[i];
		uint64_t samples = roaring_bitmap_get_cardinality(region->samples);
		roaring_bitmap_free(region->samples);
		if (!err && samples > 0)
			(*ret)[(*ret_n)++] = (struct sched_common){
				.jobs = region->jobs, .samples = (uint32_t)samples};
	}
	free(regions.region);
	return err;
}
