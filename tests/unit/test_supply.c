// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "effort.h"
#include "supply_world.h"

#include "base/rng.h"

/*
 * Random events for the supply's engine, beside a twin that decides by brute force, for one lane
 * of requests (SHARE_FIFO). The twin asks the cache what fits, and has no counts, hashes and
 * hints.
 */

#define IDS 8
#define JOBS 2
#define OPENS 12
#define READS 3
#define ENTRIES (2 * IDS * JOBS)

enum stage { READING, READ, DECODING };

/* A sample in the twin. */
struct twin_sample {
	bool exists;
	enum wanted_state state;
	enum stage stage;
	unsigned opens, draws, retries; /* opens: that have waited */
	unsigned hits;			/* opens that found the tensor */
	unsigned waiting[JOBS];
	unsigned wants[JOBS]; /* jobs, the one with the newest want first */
	bool urgent[JOBS];    /* by job */
	unsigned n_wants;
};

struct entries {
	struct {
		unsigned job;
		sample_id sample;
	} list[ENTRIES];
	unsigned n;
};

struct twin {
	struct supply_world world;
	struct twin_sample samples[IDS];
	struct entries urgent, ahead, read, delayed; /* read and delayed have samples */
	struct supply_open opens[OPENS];
	unsigned reading;
	bool fails; /* each error is transient, and occurs again */
	struct rng rng;
};

static uint32_t chance(struct twin *twin, uint32_t n)
{
	return (uint32_t)rng_below(&twin->rng, n);
}

/* --- lists ---------------------------------------------------------------------------- */

static void put(struct entries *entries, unsigned at, unsigned job, sample_id sample)
{
	cr_assert_lt(entries->n, ENTRIES);
	memmove(&entries->list[at + 1], &entries->list[at],
		(entries->n++ - at) * sizeof(entries->list[0]));
	entries->list[at].job = job;
	entries->list[at].sample = sample;
}

static void append(struct entries *entries, unsigned job, sample_id sample)
{
	put(entries, entries->n, job, sample);
}

/* Removes the sample's entries of the job; JOBS: of all jobs. */
static void take_out(struct entries *entries, unsigned job, sample_id sample)
{
	unsigned n = 0;
	for (unsigned i = 0; i < entries->n; i++)
		if (entries->list[i].sample != sample ||
			(job != JOBS && entries->list[i].job != job))
			entries->list[n++] = entries->list[i];
	entries->n = n;
}

static void take_out_of_all(struct twin *twin, sample_id sample)
{
	take_out(&twin->urgent, JOBS, sample);
	take_out(&twin->ahead, JOBS, sample);
	take_out(&twin->delayed, JOBS, sample);
}

/* --- the twin's decisions --------------------------------------------------------------- */

static bool is_aside(const struct twin_sample *sample)
{
	return sample->state == WANTED_DELAYED || sample->state == WANTED_LOADING;
}

static bool has_want(const struct twin_sample *sample, unsigned job)
{
	for (unsigned i = 0; i < sample->n_wants; i++)
		if (sample->wants[i] == job)
			return true;
	return false;
}

static unsigned waiters(const struct twin_sample *sample)
{
	return sample->waiting[0] + sample->waiting[1];
}

static void twin_ask(struct twin *twin, unsigned job, sample_id id, bool urgent)
{
	struct twin_sample *sample = &twin->samples[id];
	bool had = has_want(sample, job), changes = sample->urgent[job] != urgent;
	if (!had) {
		memmove(&sample->wants[1], &sample->wants[0],
			sample->n_wants++ * sizeof(sample->wants[0]));
		sample->wants[0] = job;
	}
	sample->urgent[job] = urgent;
	if (is_aside(sample) || (had && !changes))
		return;
	take_out(&twin->urgent, job, id);
	take_out(&twin->ahead, job, id);
	if (had && !urgent)
		put(&twin->ahead, 0, job, id);
	else
		append(urgent ? &twin->urgent : &twin->ahead, job, id);
}

static void twin_want(struct twin *twin, unsigned job, sample_id id, bool urgent)
{
	struct twin_sample *sample = &twin->samples[id];
	sample->exists = true;
	if (urgent || !has_want(sample, job))
		twin_ask(twin, job, id, urgent);
	if (sample->state == WANTED_OPEN_ONLY)
		sample->state = urgent ? WANTED_URGENT : WANTED_QUEUED;
	else if (sample->state == WANTED_QUEUED && urgent)
		sample->state = WANTED_URGENT;
}

static void forget_wants(struct twin *twin, sample_id id)
{
	take_out_of_all(twin, id);
	twin->samples[id].n_wants = 0;
	twin->samples[id].urgent[0] = twin->samples[id].urgent[1] = false;
}

/* Forgets a sample that nothing needs. Returns true if the sample was to be loaded. */
static bool twin_drop(struct twin *twin, sample_id id)
{
	struct twin_sample *sample = &twin->samples[id];
	bool requested = sample->state != WANTED_OPEN_ONLY;
	if (!sample->exists || sample->opens > 0 || sample->state == WANTED_LOADING ||
		(requested && sample->draws > 0))
		return false;
	forget_wants(twin, id);
	*sample = (struct twin_sample){.draws = sample->draws, .hits = sample->hits};
	return requested;
}

static sample_id twin_next_read(const struct twin *twin)
{
	uint64_t lacked = UINT64_MAX;
	if (twin->reading == READS)
		return SAMPLE_NONE;
	for (unsigned i = 0; i < twin->urgent.n + twin->ahead.n; i++) {
		sample_id id = i < twin->urgent.n
				       ? twin->urgent.list[i].sample
				       : twin->ahead.list[i - twin->urgent.n].sample;
		uint64_t bytes = twin->world.bytes[id];
		if (twin->samples[id].state == WANTED_URGENT)
			return id;
		if (bytes < lacked && cache_fits(twin->world.cache, bytes))
			return id;
		lacked = bytes < lacked ? bytes : lacked;
	}
	return SAMPLE_NONE;
}

static sample_id twin_next_decode(const struct twin *twin)
{
	for (unsigned i = 0; i < twin->read.n; i++)
		if (waiters(&twin->samples[twin->read.list[i].sample]) > 0)
			return twin->read.list[i].sample;
	return twin->read.n > 0 ? twin->read.list[0].sample : SAMPLE_NONE;
}

/* --- comparison --------------------------------------------------------------------------- */

static void close_open(struct twin *twin, struct supply_open *open);

/* Takes the effects, and compares them. answers: number of waiters that are answered with
 * `status`. */
static void expect(struct twin *twin, unsigned answers, int status, bool gone)
{
	struct supply_effects effects;
	struct waiter *waiter;
	supply_take_effects(&twin->world.supply, &effects);
	cr_assert_eq(effects.gone != NULL, gone);
	for (; (waiter = TAILQ_FIRST(&effects.ready)); answers--) {
		TAILQ_REMOVE(&effects.ready, waiter, link);
		cr_assert_eq(waiter->status, status);
		if (status)
			close_open(twin, (struct supply_open *)waiter);
	}
	cr_assert_eq(answers, 0);
}

static void compare(const struct twin *twin)
{
	for (sample_id id = 0; id < IDS; id++) {
		const struct twin_sample *sample = &twin->samples[id];
		cr_assert_eq(cache_opens(twin->world.spaces[0].cache, id), sample->hits);
		const struct wanted *wanted = wanted_find(&twin->world.spaces[0], id);
		cr_assert_eq(wanted != NULL, sample->exists, "%u", id);
		if (!wanted)
			continue;
		cr_assert_eq(wanted->state, sample->state, "%u", id);
		cr_assert_eq(wanted->opens, sample->opens);
		for (unsigned job = 0; job < JOBS; job++)
			cr_assert_eq(
				share_wants(&twin->world.jobs[job], &wanted->request),
				has_want(sample, job));
	}
	supply_world_validate(&twin->world);
}

/* --- events --------------------------------------------------------------------------------- */

static void play_draw(struct twin *twin)
{
	sample_id id = chance(twin, IDS);
	unsigned job = chance(twin, JOBS);
	if (cache_state(twin->world.spaces[0].cache, id) == CACHE_ABSENT)
		twin_want(twin, job, id, false);
	twin->samples[id].draws++;
	supply_world_draw(&twin->world, &twin->world.spaces[0], job, id);
	expect(twin, 0, 0, false);
}

static void play_undraw(struct twin *twin)
{
	sample_id id = chance(twin, IDS);
	if (twin->samples[id].draws == 0)
		return;
	twin->samples[id].draws--;
	supply_drop(&twin->world.spaces[0], id);
	expect(twin, 0, 0, twin_drop(twin, id));
}

static void play_open(struct twin *twin, struct supply_open *open)
{
	sample_id id = chance(twin, IDS);
	unsigned job = chance(twin, JOBS);
	struct twin_sample *sample = &twin->samples[id];
	bool ready = cache_state(twin->world.spaces[0].cache, id) == CACHE_READY;
	sample->hits += ready;
	sample->opens += !ready;
	if (!ready) {
		twin_want(twin, job, id, true);
		sample->waiting[job]++;
	}
	cr_assert_eq(
		supply_world_open(&twin->world, &twin->world.spaces[0], job, id, open),
		ready);
	expect(twin, 0, 0, false);
}

static void close_open(struct twin *twin, struct supply_open *open)
{
	sample_id id = open->sample;
	struct twin_sample *sample = &twin->samples[id];
	if (!open->wanted) {
		sample->hits--;
		supply_world_close(&twin->world, open);
		expect(twin, 0, 0, false);
		return;
	}
	sample->opens--;
	sample->waiting[open->job] -= open->waiter.waits;
	if (sample->state != WANTED_OPEN_ONLY && has_want(sample, open->job) &&
		sample->waiting[open->job] == 0)
		twin_ask(twin, open->job, id, false);
	if (sample->state == WANTED_URGENT && sample->opens == 0)
		sample->state = WANTED_QUEUED;
	bool gone = twin_drop(twin, id);
	supply_world_close(&twin->world, open);
	expect(twin, 0, 0, gone);
}

static void play_open_or_close(struct twin *twin)
{
	struct supply_open *open = &twin->opens[chance(twin, OPENS)];
	if (open->space)
		close_open(twin, open);
	else
		play_open(twin, open);
}

static void play_read(struct twin *twin)
{
	sample_id expected = twin_next_read(twin);
	const struct wanted *wanted = supply_world_read(&twin->world);
	cr_assert_eq(wanted ? wanted->key.sample : SAMPLE_NONE, expected);
	if (wanted) {
		take_out_of_all(twin, expected);
		twin->samples[expected].state = WANTED_LOADING;
		twin->samples[expected].stage = READING;
		twin->reading++;
	}
	expect(twin, 0, 0, false);
}

static void play_was_read(struct twin *twin, sample_id id)
{
	struct wanted *wanted = wanted_find(&twin->world.spaces[0], id);
	supply_was_read(&twin->world.supply, wanted, twin->world.now_ns);
	twin->samples[id].stage = READ;
	append(&twin->read, 0, id);
	twin->reading--;
	expect(twin, 0, 0, false);
}

static void play_decode(struct twin *twin)
{
	sample_id expected = twin_next_decode(twin);
	const struct wanted *wanted = supply_next_decode(&twin->world.supply, false);
	cr_assert_eq(wanted ? wanted->key.sample : SAMPLE_NONE, expected);
	if (wanted) {
		take_out(&twin->read, JOBS, expected);
		twin->samples[expected].stage = DECODING;
	}
	expect(twin, 0, 0, false);
}

static void play_done(struct twin *twin, sample_id id)
{
	static const struct supply_result results[] = {
		{.status = 0}, {.status = -EIO, .passing = true}, {.status = -EIO}};
	const struct supply_result *result = &results[twin->fails ? 1 : chance(twin, 3)];
	struct twin_sample *sample = &twin->samples[id];
	unsigned answers = waiters(sample);
	bool retried = result->passing && sample->retries < 6 &&
		       sample->opens + sample->draws > 0;
	if (retried) {
		sample->state = WANTED_DELAYED;
		sample->retries++;
		append(&twin->delayed, 0, id);
		answers = 0;
	} else {
		sample->state = WANTED_OPEN_ONLY;
		sample->waiting[0] = sample->waiting[1] = 0;
		forget_wants(twin, id);
	}
	twin_drop(twin, id);
	supply_world_done(&twin->world, wanted_find(&twin->world.spaces[0], id), *result);
	expect(twin, answers, result->status, false);
}

/* Ends the read or the decode of a sample. */
static void play_stage(struct twin *twin)
{
	sample_id id = chance(twin, IDS);
	for (unsigned i = 0; i < IDS; i++, id = (id + 1) % IDS)
		if (twin->samples[id].state == WANTED_LOADING &&
			twin->samples[id].stage != READ)
			break;
	if (twin->samples[id].state != WANTED_LOADING)
		return;
	if (twin->samples[id].stage == READING)
		play_was_read(twin, id);
	else if (twin->samples[id].stage == DECODING)
		play_done(twin, id);
}

/* Lets time pass until the first delayed samples are due. */
static void play_time(struct twin *twin)
{
	uint64_t due_ns = supply_first_due(&twin->world.supply);
	const struct entries delayed = twin->delayed;
	cr_assert_eq(due_ns == UINT64_MAX, delayed.n == 0);
	if (delayed.n == 0)
		return;
	for (unsigned i = 0; i < delayed.n; i++) {
		sample_id id = delayed.list[i].sample;
		struct twin_sample *sample = &twin->samples[id];
		if (wanted_find(&twin->world.spaces[0], id)->due_ns > due_ns)
			continue;
		take_out(&twin->delayed, JOBS, id);
		sample->state = waiters(sample) > 0 ? WANTED_URGENT : WANTED_QUEUED;
		for (unsigned k = 0; k < sample->n_wants; k++)
			append(sample->urgent[sample->wants[k]] ? &twin->urgent
								: &twin->ahead,
				sample->wants[k], id);
	}
	if (due_ns > twin->world.now_ns)
		twin->world.now_ns = due_ns;
	supply_time(&twin->world.supply, twin->world.now_ns);
	expect(twin, 0, 0, false);
}

static void play(struct twin *twin)
{
	static void (*const events[])(struct twin *) = {play_draw, play_undraw,
		play_open_or_close, play_open_or_close, play_read, play_stage, play_stage,
		play_decode, play_time};
	events[chance(twin, sizeof(events) / sizeof(events[0]))](twin);
	compare(twin);
}

/* Closes all opens, gives back all pins, and lets loads end. */
static void leave(struct twin *twin)
{
	for (unsigned i = 0; i < OPENS; i++)
		if (twin->opens[i].space)
			close_open(twin, &twin->opens[i]);
	for (sample_id id = 0; id < IDS; id++)
		for (; twin->samples[id].draws > 0; compare(twin)) {
			twin->samples[id].draws--;
			supply_drop(&twin->world.spaces[0], id);
			expect(twin, 0, 0, twin_drop(twin, id));
		}
	for (unsigned i = 0; i < 200 && twin->world.supply.wanted; i++) {
		play_stage(twin);
		play_decode(twin);
	}
}

static void no_gone(void *context, struct cache_space *space, sample_id sample)
{
	(void)context;
	(void)space;
	(void)sample;
}

Test(supply, decides_as_a_twin_by_brute_force)
{
	for (uint32_t seed = 0; seed < effort(200, 20000); seed++) {
		struct twin twin = {0};
		rng_seed(&twin.rng, seed);
		supply_world_make(&twin.world, 1 + chance(&twin, 8), SHARE_FIFO, READS,
			no_gone, NULL);
		for (sample_id id = 0; id < IDS; id++)
			twin.world.bytes[id] = 1 + chance(&twin, 3);
		twin.fails = chance(&twin, 4) == 0;
		for (unsigned i = 0; i < 500; i++)
			play(&twin);
		leave(&twin);
		supply_world_free(&twin.world);
	}
}
