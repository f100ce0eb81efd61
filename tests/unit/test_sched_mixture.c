// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../tiny_dataset.h"
#include "base/fault.h"
#include "base/rng.h"
#include "effort.h"
#include "sched/datasets.h"
#include "world.h"

#include <math.h>

/*
 * Jobs of several datasets in the whole scheduler. In the order of an epoch the datasets come as
 * in a shuffled list, and samples that other jobs read are shared.
 */

#define TINY 24
#define MORE 20
#define WEIGHTS "tiny:2,more:1" /* an epoch has all of tiny, and 12 samples of more */
#define LENGTH 36

static char a_name[] = "a", b_name[] = "b", c_name[] = "c";
static char mixed[] = WEIGHTS;

struct mixture_world {
	struct world world;
	struct dataset_config config;
	struct dataset *more;
};

static void begin_seeded(
	struct mixture_world *it, enum sampler_kind kind, uint64_t tensors, uint64_t seed)
{
	world_begin(&it->world, TINY, tensors);
	world_stop(&it->world);
	it->world.config.sampler = kind;
	it->world.config.seed = seed;
	world_start(&it->world);
	it->config = (struct dataset_config){
		.name = strdup("more"), .extensions = strdup("png"), .sampler = kind};
	cr_assert(asprintf(&it->config.path, "%s/more", it->world.directory) > 0);
	tiny_dataset(it->config.path, 4, MORE, WORLD_SIDE);
	cr_assert_eq(
		0, dataset_open(&it->config, it->world.config.state, NULL, &it->more));
	cr_assert_eq(0, sched_dataset_add(it->world.sched, it->more, &it->config));
}

static void begin(struct mixture_world *it, enum sampler_kind kind, uint64_t tensors)
{
	begin_seeded(it, kind, tensors, 1);
}

static void end(struct mixture_world *it)
{
	world_check_nothing_held(&it->world);
	dataset_close(&it->more);
	free(it->config.name);
	free(it->config.extensions);
	free(it->config.path);
	world_end(&it->world);
}

static struct sched_job *add(struct mixture_world *it, char *name, uint32_t lookahead)
{
	struct job_config config = world_job_config(name);
	config.dataset = mixed;
	config.epochs = 4000;
	config.lookahead = lookahead;
	return world_add_config(&it->world, &config);
}

/* --- the order --------------------------------------------------------------------------- */

#define EPOCHS effort(100, 1500)
#define FEW 11
#define LATE 9 /* number of the last places */

/* Counts over n orders: at: how often each place has a sample of the second dataset; both: how
 * often a place and the next one have; late: the squared deviation of the number among the last
 * places. */
struct found {
	uint32_t n;
	uint32_t at[LENGTH], both, late;
};

static void note(struct found *found, const bool second[LENGTH])
{
	int late = 0;
	found->n++;
	for (int i = 0; i < LENGTH; i++) {
		found->at[i] += second[i];
		found->both += i > 0 && second[i - 1] && second[i];
		late += i >= LENGTH - LATE && second[i];
	}
	late -= LATE / 3;
	found->late += (uint32_t)(late * late);
}

/* Returns the chi-square of the places. In a shuffled list each place is as likely; since each
 * order has the same number, there are LENGTH - 1 degrees of freedom. */
static double spread_of(const struct found *found)
{
	double p = 12.0 / LENGTH, expected = found->n * p, sum = 0;
	for (int i = 0; i < LENGTH; i++) {
		double difference = found->at[i] - expected;
		sum += difference * difference / (expected * (1 - p));
	}
	return sum * (LENGTH - 1) / LENGTH;
}

#define SPREAD 74 /* chi-square with 35 degrees of freedom is above this once in 10000 */

/* Returns the mean number of neighbours in an order that are both of the second dataset. In a
 * shuffled list this is 12 * 11 / 36. */
static double neighbours_of(const struct found *found)
{
	return (double)found->both / found->n;
}

/* Returns the variance of the number of late places of the second dataset, as a part of the
 * variance of the hypergeometric distribution. */
static double late_of(const struct found *found)
{
	double variance = LATE / 3.0 * 2 / 3 * (LENGTH - LATE) / (LENGTH - 1);
	return found->late / variance / found->n;
}

static bool are_uniform(const struct found *found)
{
	double pairs = 12.0 * 11 / LENGTH, got = neighbours_of(found);
	/* The deviation of one order is below 1.5. The limit is five deviations of the mean. */
	double limit = 5 * 1.5 / sqrt(found->n);
	cr_log_info("places %.1f, neighbours %.3f of %.3f, late %.2f", spread_of(found),
		got, pairs, late_of(found));
	return spread_of(found) < SPREAD && fabs(got - pairs) < limit &&
	       fabs(late_of(found) - 1) < 5 * sqrt(2.0 / found->n);
}

/* Binds the position, and returns its sample. */
static sample_id bind(struct sched_job *job, uint32_t epoch, uint32_t position)
{
	struct world_open open = {
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	const struct sched_open_callbacks callbacks = {.opened = world_opened,
		.context = &open,
		.reader.who = world_reader(0),
		.label = true};
	cr_assert_eq(sched_open(job, epoch, position, &callbacks), 0);
	pthread_mutex_lock(&open.mutex);
	while (!open.done)
		pthread_cond_wait(&open.cond, &open.mutex);
	pthread_mutex_unlock(&open.mutex);
	cr_assert_eq(open.result.status, 0);
	sample_id sample = sched_handle_sample(open.result.handle);
	sched_undo(open.result.handle);
	return sample;
}

/* Checks the order of a job's epochs, while another job of the first dataset reads beside it. */
static void check_order(enum sampler_kind kind, uint32_t epochs)
{
	struct mixture_world it;
	struct found found = {0};
	uint32_t had[TINY + MORE] = {0};
	begin(&it, kind, 64);
	struct sched_job *a = add(&it, a_name, 5);
	struct job_config config = world_job_config(b_name);
	config.epochs = 4000;
	struct sched_job *b = world_add_config(&it.world, &config);
	for (uint32_t epoch = 0; epoch < epochs; epoch++) {
		bool second[LENGTH];
		uint32_t least = UINT32_MAX, most = 0;
		for (uint32_t i = 0; i < LENGTH; i++) {
			sample_id sample = bind(a, epoch, i);
			second[i] = sample >= TINY;
			had[sample]++;
			if (i < TINY && epoch < FEW)
				(void)bind(b, epoch, i);
		}
		sched_validate(world_of);
		note(&found, second);
		for (uint32_t i = 0; i < TINY; i++)
			cr_assert_eq(had[i], epoch + 1);
		for (uint32_t i = TINY; i < TINY + MORE; i++) {
			least = had[i] < least ? had[i] : least;
			most = had[i] > most ? had[i] : most;
		}
		cr_assert_leq(most - least, 1);
	}
	cr_assert(epochs <= FEW || are_uniform(&found));
	cr_assert_eq(sched_job_remove(it.world.sched, a_name), 0);
	cr_assert_eq(sched_job_remove(it.world.sched, b_name), 0);
	sched_job_put(a);
	sched_job_put(b);
	end(&it);
}

Test(sched_mixture, orders_are_those_of_a_shuffled_list)
{
	check_order(SAMPLER_DSA, EPOCHS);
}

Test(sched_mixture, passes_have_each_sample_once_with_exchange)
{
	check_order(SAMPLER_EXCHANGE, FEW);
}

Test(sched_mixture, passes_have_each_sample_once_with_isa)
{
	check_order(SAMPLER_ISA, FEW);
}

/* Other orders fail the statistics: datasets with fixed probabilities until one has ended, or
 * datasets in turns. */
Test(sched_mixture, other_orders_would_be_seen)
{
	struct found independent = {0}, turns = {0};
	struct rng rng;
	rng_seed(&rng, 1);
	for (int epoch = 0; epoch < (int)EPOCHS; epoch++) {
		bool second[LENGTH];
		uint32_t n = 12;
		for (uint32_t i = 0; i < LENGTH; i++) {
			bool ended = LENGTH - i == n;
			second[i] = n > 0 && (ended || rng_below(&rng, 3) == 0);
			n -= second[i];
		}
		note(&independent, second);
		uint32_t first = (uint32_t)rng_below(&rng, 3);
		for (uint32_t i = 0; i < LENGTH; i++)
			second[i] = i % 3 == first;
		note(&turns, second);
	}
	cr_assert_not(are_uniform(&independent));
	cr_assert_not(are_uniform(&turns));
}

/* --- what is shared ------------------------------------------------------------------------ */

/* Returns the decodes of three jobs beside each other with a small cache: a mixture, and one job
 * for each of its datasets. Each sample that two jobs need should be prepared about once. */
static uint64_t decodes_beside(enum sampler_kind kind, uint64_t seed)
{
	static char more[] = "more";
	struct mixture_world it;
	begin_seeded(&it, kind, 20, seed);
	struct sched_job *a = add(&it, a_name, 4);
	struct sched_job *b = world_add(&it.world, b_name);
	struct job_config config = world_job_config(c_name);
	config.dataset = more;
	struct sched_job *c = world_add_config(&it.world, &config);
	uint64_t before = stats_get(STAT_DECODES);
	for (uint32_t i = 0; i < LENGTH; i++) {
		(void)world_read(a, 0, i);
		if (i * TINY / LENGTH != (i + 1) * TINY / LENGTH)
			(void)world_read(b, 0, i * TINY / LENGTH);
		if (i * MORE / LENGTH != (i + 1) * MORE / LENGTH)
			(void)world_read(c, 0, i * MORE / LENGTH);
	}
	uint64_t decodes = stats_get(STAT_DECODES) - before;
	sched_job_put(a);
	sched_job_put(b);
	sched_job_put(c);
	end(&it);
	return decodes;
}

#define WORLDS 8

/* Alone the jobs need 36 + 24 + 20 decodes; if everything is shared, 24 + 20. Look-ahead depends
 * on when the decoders run. */
Test(sched_mixture, rounds_are_those_of_its_datasets)
{
	uint64_t dsa = 0, isa = 0;
	for (int i = 0; i < WORLDS; i++) {
		dsa += decodes_beside(SAMPLER_DSA, (uint64_t)i);
		isa += decodes_beside(SAMPLER_ISA, (uint64_t)i);
	}
	cr_log_info("%d decodes with dsa, %d with isa, in %d worlds", (int)dsa, (int)isa,
		WORLDS);
	cr_assert_leq(dsa, 46 * WORLDS);
	cr_assert_lt(dsa, isa);
}

/* The cache holds all samples: each is prepared once, whichever job reads it first. */
Test(sched_mixture, each_sample_is_prepared_once)
{
	struct mixture_world it;
	begin(&it, SAMPLER_DSA, TINY + MORE);
	struct sched_job *a = add(&it, a_name, 4);
	struct sched_job *b = world_add(&it.world, b_name);
	uint64_t before = stats_get(STAT_DECODES);
	for (uint32_t i = 0; i < LENGTH; i++)
		(void)world_read(a, 0, i);
	for (uint32_t i = 0; i < TINY; i++)
		(void)world_read(b, 0, i);
	for (uint32_t i = 0; i < 4 * LENGTH; i++)
		(void)world_read(a, 1 + i / LENGTH, i % LENGTH);
	cr_assert_eq(stats_get(STAT_DECODES) - before, TINY + MORE);
	sched_job_put(a);
	sched_job_put(b);
	end(&it);
}

/* --- its life ------------------------------------------------------------------------------ */

/* The stream can't be made, at each of its steps. Later it is made. */
Test(sched_mixture, a_stream_that_fails_leaves_nothing)
{
	struct mixture_world it;
	struct sched_handle *handle = NULL;
	begin(&it, SAMPLER_DSA, 64);
	struct sched_job *a = add(&it, a_name, 4);
	cr_assert_eq(fault_add("sched.stream:ENOMEM:times=1"), 0);
	cr_assert_eq(world_open(a, 0, 0, &handle), -ENOMEM);
	for (uint32_t i = 0; i < LENGTH; i++)
		(void)world_read(a, 0, i);
	sched_job_put(a);
	end(&it);
}

/* The job is removed in the middle of its epoch, while another one continues. */
Test(sched_mixture, a_job_that_is_removed_gives_everything_back)
{
	struct mixture_world it;
	begin(&it, SAMPLER_EXCHANGE, 16);
	struct sched_job *a = add(&it, a_name, 8), *c = add(&it, c_name, 8);
	for (uint32_t i = 0; i < LENGTH / 2; i++) {
		(void)world_read(a, 0, i);
		(void)world_read(c, 0, i);
	}
	cr_assert_eq(sched_job_remove(it.world.sched, a_name), 0);
	sched_job_put(a);
	for (uint32_t i = LENGTH / 2; i < LENGTH; i++)
		(void)world_read(c, 0, i);
	sched_job_put(c);
	end(&it);
}
