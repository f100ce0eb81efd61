// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sampler_twin.h"

/*
 * A twin of exchange sampling over up to 64 ids that is too simple to be wrong: sets are masks,
 * and everything is searched anew. The world has jobs, their epochs, and a cache of a few slots;
 * it is the same whether the sampler or the twin decides. With one seed both decide alike. The
 * mutants prove that a test notices errors.
 */

#define EX_JOBS 8
#define EX_SPACES 2
#define EX_SETS 64

enum ex_mutant {
	EX_HONEST,
	EX_WALKS,     /* no mutant: looks at all classes instead of random ones */
	EX_ANY_CLASS, /* exchanges for any resident id (of the label) */
	/* also exchanges for an id that the job was given after it became resident */
	EX_TAKEN,
	EX_SMALLEST, /* exchanges for the smallest id */
	EX_MERGE,    /* forgets the set of a job that leaves */
	EX_FOLLOW,   /* draws the class of the previous job whenever possible */
	EX_REDRAW,   /* draws by its own proportions if it does not follow */
	EX_OTHERS,   /* takes the previous job's proportions for the job's own */
	EX_MUTANTS
};

enum ex_policy { EX_REFCNT, EX_FIFO };

struct ex_job {
	bool here;
	bool running;
	unsigned space;
	stream_id stream;
	mask set;
	mask r;
	mask taken; /* residents that the job was given since they became resident */
	int drawn;
};

struct ex_world {
	struct sampler *sampler; /* NULL: the twin decides */
	struct rng rng;		 /* of the twin */
	enum ex_mutant mutant;
	const uint32_t *labels; /* labels of the 64 ids; NULL: none */
	struct ex_job job[EX_JOBS];
	mask sets[EX_SETS]; /* the sets that divide ids into classes */
	unsigned n_sets;
	mask known;	/* ids up to the largest id of any job so far */
	unsigned slots; /* of the cache, for all spaces */
	enum ex_policy policy;
	mask resident[EX_SPACES];
	unsigned given[EX_SPACES][64]; /* when the id was last given */
	unsigned since[EX_SPACES][64]; /* when the id became resident */
	unsigned clock;
	stream_id streams;
	bool by_steps; /* in each round candidates settle by one resident */
};

static inline mask ex_bit(int id)
{
	return (mask)1 << id;
}

static inline roaring_bitmap_t *ex_bitmap(mask set)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (int id = 0; id < 64; id++)
		if (set & ex_bit(id))
			roaring_bitmap_add(ids, (uint32_t)id);
	return ids;
}

static inline void ex_new(struct ex_world *world, uint64_t seed, bool real)
{
	rng_seed(&world->rng, seed);
	if (!real)
		return;
	int error = world->labels ? sampler_new_labelled(
					    seed, world->labels, 64, &world->sampler)
				  : sampler_new(SAMPLER_EXCHANGE, seed, &world->sampler);
	cr_assert_eq(error, 0);
}

/* Tells whether no epoch runs and nothing is resident, so that nothing is left of jobs that have
 * gone. */
static inline bool ex_forgotten(const struct ex_world *world)
{
	bool forgotten = true;
	for (int j = 0; j < EX_JOBS; j++)
		forgotten &= !world->job[j].running;
	for (int s = 0; s < EX_SPACES; s++)
		forgotten &= !world->resident[s];
	return forgotten;
}

static inline void ex_only_those_here(struct ex_world *world)
{
	world->n_sets = 0;
	for (int j = 0; j < EX_JOBS; j++)
		if (world->job[j].here)
			world->sets[world->n_sets++] = world->job[j].set;
}

static inline void ex_join(struct ex_world *world, int j, mask set, unsigned space)
{
	world->job[j] = (struct ex_job){.here = true, .space = space, .set = set};
	cr_assert_lt(world->n_sets, EX_SETS);
	world->sets[world->n_sets++] = set;
	while (set & ~world->known)
		world->known = world->known << 1 | 1;
	if (!world->sampler)
		return;
	roaring_bitmap_t *ids = ex_bitmap(set);
	cr_assert_eq(sampler_join(world->sampler, (job_id)j, space, ids), 0);
	roaring_bitmap_free(ids);
}

static inline void ex_insert_set(
	struct ex_world *world, stream_id stream, job_id job, mask remaining)
{
	roaring_bitmap_t *ids = ex_bitmap(remaining);
	struct sampler_set *set;
	cr_assert_eq(sampler_set_new(world->sampler, &set), 0);
	cr_assert_eq(sampler_set_fill(set, ids), 0);
	cr_assert_eq(sampler_insert_set(world->sampler, stream, job, set), 0);
	roaring_bitmap_free(ids);
}

static inline void ex_begin(struct ex_world *world, int j, mask remaining)
{
	struct ex_job *job = &world->job[j];
	if (ex_forgotten(world))
		ex_only_those_here(world);
	job->running = true;
	job->r = remaining;
	job->stream = world->streams++;
	if (world->sampler && world->by_steps)
		ex_insert_set(world, job->stream, (job_id)j, remaining);
	else if (world->sampler)
		cr_assert_eq(sampler_insert(world->sampler, job->stream, (job_id)j,
				     ex_bitmap(remaining)),
			0);
}

/* Checks the set that the sampler gives back. */
static inline void ex_remove_set(struct ex_world *world, const struct ex_job *job)
{
	struct sampler_set *set = sampler_remove_set(world->sampler, job->stream);
	roaring_bitmap_t *ids = sampler_set_ids(set);
	roaring_bitmap_t *expected = ex_bitmap(job->r);
	cr_assert(roaring_bitmap_equals(ids, expected));
	roaring_bitmap_free(expected);
	roaring_bitmap_free(ids);
	sampler_set_free(&set);
}

static inline void ex_end(struct ex_world *world, int j)
{
	struct ex_job *job = &world->job[j];
	if (job->running && world->sampler && world->by_steps)
		ex_remove_set(world, job);
	else if (job->running && world->sampler)
		sampler_remove(world->sampler, job->stream);
	job->running = false;
	job->r = 0;
}

static inline void ex_leave(struct ex_world *world, int j)
{
	ex_end(world, j);
	world->job[j] = (struct ex_job){0};
	if (world->mutant == EX_MERGE)
		ex_only_those_here(world);
	if (world->sampler)
		sampler_leave(world->sampler, (job_id)j);
}

static inline mask ex_with_label(const struct ex_world *world, uint32_t label)
{
	mask set = 0;
	for (int id = 0; id < 64; id++)
		set |= world->labels[id] == label ? ex_bit(id) : 0;
	return set;
}

/* Returns the class of x: the ids that may be exchanged for each other. */
static inline mask ex_class(const struct ex_world *world, int x)
{
	mask class = ~(mask)0;
	if (world->labels)
		class = ex_with_label(world, world->labels[x]);
	for (unsigned i = 0; i < world->n_sets && world->mutant != EX_ANY_CLASS; i++)
		class &= world->sets[i] & ex_bit(x) ? world->sets[i] : ~world->sets[i];
	return class;
}

static inline unsigned ex_need(const struct ex_world *world, unsigned space, int id)
{
	unsigned need = 0;
	for (int j = 0; j < EX_JOBS; j++)
		need += world->job[j].running && world->job[j].space == space &&
			(world->job[j].r & ex_bit(id));
	return need;
}

/* Tells whether y is given, or evicted, before z: it has less need, or was given longer ago. */
static inline bool ex_before(const struct ex_world *world, unsigned space, int y, int z)
{
	unsigned a = ex_need(world, space, y);
	unsigned b = ex_need(world, space, z);
	return a != b ? a < b : world->given[space][y] < world->given[space][z];
}

/* Returns the id that is given when x was drawn. */
static inline int ex_choose(const struct ex_world *world, const struct ex_job *job, int x)
{
	mask resident = world->resident[job->space];
	mask candidates = resident & job->r;
	mask class = ex_class(world, x);
	int best = -1;
	if (world->mutant != EX_TAKEN)
		candidates &= ~job->taken;
	if (resident & ex_bit(x))
		return x;
	for (int y = 0; y < 64; y++) {
		if (!(candidates & class & ex_bit(y)))
			continue;
		if (world->mutant == EX_SMALLEST)
			return y;
		if (best < 0 || ex_before(world, job->space, y, best))
			best = y;
	}
	return best < 0 ? x : best;
}

/* Makes the id resident. Since then no job was given it. */
static inline void ex_admit(struct ex_world *world, unsigned space, int id)
{
	world->resident[space] |= ex_bit(id);
	world->since[space][id] = world->clock;
	world->given[space][id] = world->clock++;
	for (int k = 0; k < EX_JOBS; k++)
		if (world->job[k].space == space)
			world->job[k].taken &= ~ex_bit(id);
}

/* Changes the world after a decision. */
static inline void ex_give(struct ex_world *world, int j, int id)
{
	struct ex_job *job = &world->job[j];
	cr_assert(job->r & ex_bit(id), "given twice, or never asked");
	if (!(world->resident[job->space] & ex_bit(id)))
		ex_admit(world, job->space, id);
	world->given[job->space][id] = world->clock++;
	job->taken |= ex_bit(id);
	job->r &= ~ex_bit(id);
}

/* --- a round ---------------------------------------------------------------------- */

static inline bool ex_draws_before(const struct ex_job *a, const struct ex_job *b)
{
	if (a->space != b->space)
		return a->space < b->space;
	if (twin_size(a->r) != twin_size(b->r))
		return twin_size(a->r) < twin_size(b->r);
	return a->stream < b->stream;
}

/* Returns the jobs of `who` that have ids left, in the order in which they draw. */
static inline size_t ex_order(const struct ex_world *world, unsigned who, int *order)
{
	size_t n = 0;
	for (int j = 0; j < EX_JOBS; j++) {
		const struct ex_job *job = &world->job[j];
		if (!(who >> j & 1) || !job->r)
			continue;
		size_t at = n++;
		for (; at > 0 && ex_draws_before(job, &world->job[order[at - 1]]); at--)
			order[at] = order[at - 1];
		order[at] = j;
	}
	return n;
}

/* Returns all classes in the order of their labels, and then of their smallest ids. */
static inline size_t ex_classes(const struct ex_world *world, mask *classes)
{
	size_t n = 0;
	mask left = world->labels ? ~(mask)0 : world->known;
	for (uint32_t label = 0; left; label++) {
		mask inside = world->labels ? ex_with_label(world, label) : left;
		left &= ~inside;
		while (inside) {
			classes[n] = inside & ex_class(world, __builtin_ctzll(inside));
			inside &= ~classes[n++];
		}
	}
	return n;
}

static inline int ex_draw_from(struct ex_world *world, mask set)
{
	uint64_t rank = rng_below(&world->rng, twin_size(set));
	return __builtin_ctzll(twin_nth(set, rank));
}

/* Returns |a n class| |b|: the class's share of a, times |a| |b|. */
static inline uint64_t ex_share(mask a, mask class, mask b)
{
	return (uint64_t)twin_size(a & class) * twin_size(b);
}

/* Draws from r an id of a class that has a larger share of r than of `other`. */
static inline int ex_draw_surplus(struct ex_world *world, mask r, mask other)
{
	mask classes[64];
	mask chosen = 0;
	uint64_t sum = 0;
	size_t n = ex_classes(world, classes);
	for (size_t i = 0; i < n && world->mutant != EX_WALKS; i++) {
		int x = ex_draw_from(world, r);
		mask class = ex_class(world, x);
		uint64_t own = ex_share(r, class, other);
		if (rng_below(&world->rng, own) >= ex_share(other, class, r))
			return x;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t own = ex_share(r, classes[i], other);
		uint64_t others = ex_share(other, classes[i], r);
		sum += own > others ? own - others : 0;
		if (own > others && rng_below(&world->rng, sum) < own - others)
			chosen = classes[i];
	}
	return ex_draw_from(world, chosen & r);
}

static inline int ex_draw_after(
	struct ex_world *world, mask r, const struct ex_job *before)
{
	mask class = ex_class(world, before->drawn);
	uint64_t own = ex_share(r, class, before->r);
	uint64_t other = ex_share(before->r, class, r);
	if (world->mutant == EX_OTHERS && r & class)
		own = ex_share(before->r, class, before->r);
	if (world->mutant == EX_FOLLOW && own)
		own = other;
	if (rng_below(&world->rng, other) < own)
		return ex_draw_from(world, r & class);
	if (world->mutant >= EX_FOLLOW)
		return ex_draw_from(world, r);
	return ex_draw_surplus(world, r, before->r);
}

static inline void ex_draw_all(struct ex_world *world, const int *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ex_job *job = &world->job[order[i]];
		job->drawn = i ? ex_draw_after(world, job->r, &world->job[order[i - 1]])
			       : ex_draw_from(world, job->r);
	}
}

static inline void ex_draw(struct ex_world *world, unsigned who, int *ret)
{
	stream_id streams[EX_JOBS] = {0};
	sample_id samples[EX_JOBS];
	int order[EX_JOBS];
	size_t n = ex_order(world, who, order);
	memset(ret, -1, EX_JOBS * sizeof(ret[0]));
	for (size_t i = 0; i < n; i++)
		streams[i] = world->job[order[i]].stream;
	if (world->sampler)
		sampler_draw(world->sampler, streams, n, samples);
	else
		ex_draw_all(world, order, n);
	for (size_t i = 0; i < n; i++) {
		int j = order[i];
		const struct ex_job *job = &world->job[j];
		ret[j] = world->sampler ? (int)samples[i]
					: ex_choose(world, job, job->drawn);
		ex_give(world, j, ret[j]);
	}
}

/* --- the cache -------------------------------------------------------------------- */

static inline void ex_evict(struct ex_world *world, unsigned space, int id)
{
	world->resident[space] &= ~ex_bit(id);
	if (world->sampler)
		sampler_evicted(world->sampler, space, (sample_id)id);
}

static inline bool ex_evict_one(struct ex_world *world)
{
	unsigned from = 0;
	unsigned n = 0;
	int victim = -1;
	for (unsigned space = 0; space < EX_SPACES; space++) {
		for (int id = 0; id < 64; id++) {
			if (!(world->resident[space] & ex_bit(id)))
				continue;
			n++;
			unsigned a = ex_need(world, space, id);
			unsigned b = victim < 0 ? 0 : ex_need(world, from, victim);
			bool sooner =
				world->since[space][id] < world->since[from][victim & 63];
			if (world->policy == EX_REFCNT)
				sooner = a != b ? a < b
						: world->given[space][id] <
							  world->given[from][victim & 63];
			if (victim >= 0 && !sooner)
				continue;
			victim = id;
			from = space;
		}
	}
	if (n <= world->slots)
		return false;
	ex_evict(world, from, victim);
	return true;
}

/* Draws a round for the jobs in `who` whose epoch runs, and changes the cache. */
static inline void ex_round(struct ex_world *world, unsigned who, int *ret)
{
	for (int j = 0; j < EX_JOBS; j++)
		if (!world->job[j].running)
			who &= ~(1U << j);
	ex_draw(world, who, ret);
	if (world->by_steps)
		(void)sampler_settle(world->sampler, 1);
	while (ex_evict_one(world))
		;
}

/* Draws from a set whose ids are ordered by their classes. */
static inline int ex_draw_by_class(struct ex_world *world, mask from)
{
	mask classes[64];
	uint64_t rank = rng_below(&world->rng, twin_size(from));
	ex_classes(world, classes);
	for (size_t i = 0;; i++) {
		uint32_t n = twin_size(from & classes[i]);
		if (rank < n)
			return __builtin_ctzll(twin_nth(from & classes[i], rank));
		rank -= n;
	}
}

/* One job reads a sample with this label. Returns -1 if no such sample remains. */
static inline int ex_read(struct ex_world *world, int j, uint32_t label)
{
	const struct ex_job *job = &world->job[j];
	mask from = job->r & ex_with_label(world, label);
	int id = -1;
	if (world->sampler) {
		sample_id sample =
			sampler_draw_within(world->sampler, job->stream, label);
		id = sample == SAMPLE_NONE ? -1 : (int)sample;
	} else if (from) {
		id = ex_choose(world, job, ex_draw_by_class(world, from));
	}
	cr_assert_eq(id >= 0, from != 0);
	if (id >= 0) {
		cr_assert(from & ex_bit(id), "another label");
		ex_give(world, j, id);
	}
	while (ex_evict_one(world))
		;
	return id;
}

static inline void ex_evict_all(struct ex_world *world)
{
	for (unsigned space = 0; space < EX_SPACES; space++)
		for (int id = 0; id < 64; id++)
			if (world->resident[space] & ex_bit(id))
				ex_evict(world, space, id);
}

/* All jobs leave, and the cache becomes empty. */
static inline void ex_clear(struct ex_world *world)
{
	for (int j = 0; j < EX_JOBS; j++)
		if (world->job[j].here)
			ex_leave(world, j);
	ex_evict_all(world);
	world->n_sets = 0;
}
