// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "world.h"

#include <string.h>

/* The world has two classes, and its images go to them in turn. */

#define N 48
#define EPOCHS 3

static char a_name[] = "a", b_name[] = "b";

static struct job_config classes_config(char *name)
{
	struct job_config config = world_job_config(name);
	config.layout = LAYOUT_CLASSES;
	return config;
}

static struct sched_job *add_classes(struct world *world, char *name)
{
	struct job_config config = classes_config(name);
	return world_add_config(world, &config);
}

static uint32_t label_at(struct sched_job *job, uint32_t position)
{
	auto_edition *edition = sched_edition(job, 0);
	return position >= edition->label_begin[1];
}

/* Reads all positions once, in a random order. */
static void read_shuffled(struct sched_job *job, uint32_t epoch, uint64_t reader,
	struct rng *rng, sample_id *ret)
{
	uint32_t order[N];
	for (uint32_t i = 0; i < N; i++) {
		uint32_t at = (uint32_t)rng_below(rng, i + 1);
		order[i] = order[at];
		order[at] = i;
	}
	for (uint32_t i = 0; i < N; i++)
		ret[order[i]] = world_read_by(job, epoch, order[i], reader + i % 3);
}

/* Reads each file twice, as OpenCV does. */
static void read_shuffled_twice(struct sched_job *job, uint32_t epoch, uint64_t reader,
	struct rng *rng, sample_id *ret)
{
	for (uint32_t i = 0, step = 5 + 2 * (uint32_t)rng_below(rng, 2); i < N; i++) {
		uint32_t position = i * step % N;
		ret[position] = world_read_by(job, epoch, position, reader + i % 3);
		cr_assert_eq(ret[position],
			world_read_by(job, epoch, position, reader + i % 3));
	}
}

static void check_labels(struct sched_job *job, const sample_id *samples)
{
	auto_edition *edition = sched_edition(job, 0);
	for (uint32_t i = 0; i < N; i++)
		cr_assert_eq(
			label_at(job, i), dataset_label(edition->dataset, samples[i]));
}

Test(sched_classes, positions_of_a_label_are_contiguous)
{
	struct world world;
	static char where[] = "label = 1 or id < 5";
	world_begin(&world, N, 100);
	struct job_config config = classes_config(a_name);
	config.where = where;
	struct sched_job *job = world_add_config(&world, &config);
	const struct sched_edition *edition = sched_edition(job, 0);
	cr_assert_eq(0, edition->label_begin[0]);
	cr_assert_eq(5, edition->label_begin[1]);
	cr_assert_eq(5 + N / 2, edition->label_begin[2]);
	cr_assert_eq(sched_job_samples(job, 0), edition->label_begin[2]);
	sched_edition_put(edition);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_classes, each_sample_of_each_label_comes_once_with_its_label)
{
	struct world world;
	struct rng rng;
	sample_id samples[N];
	rng_seed(&rng, 1);
	world_begin(&world, N, 6);
	struct sched_job *job = add_classes(&world, a_name);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		read_shuffled(job, epoch, 0, &rng, samples);
		world_check_permutation(samples, N);
		check_labels(job, samples);
		world_check_nothing_held(&world);
	}
	sched_job_put(job);
	world_end(&world);
}

/* With labels = fixed in flat, the labels are the same in each epoch, and mixed. */
Test(sched_classes, fixed_labels_of_flat_are_the_same_in_each_epoch)
{
	struct world world;
	struct rng rng;
	sample_id samples[N], before[N];
	rng_seed(&rng, 5);
	world_begin(&world, N, 100);
	struct job_config config = world_job_config(a_name);
	config.fixed_labels = true;
	struct sched_job *job = world_add_config(&world, &config);
	uint32_t label, turns = 0;
	for (uint32_t i = 0; i < N; i++) {
		cr_assert(sched_label(job, 0, i, &label));
		uint32_t last = label;
		turns += i > 0 && sched_label(job, 0, i - 1, &last) && last != label;
	}
	cr_assert_gt(turns, N / 4);
	cr_assert_not(sched_label(job, 0, N, &label));
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		read_shuffled(job, epoch, 0, &rng, samples);
		world_check_permutation(samples, N);
		for (uint32_t i = 0; i < N; i++) {
			cr_assert(sched_label(job, 0, i, &label));
			cr_assert_eq(label, dataset_label(world.dataset, samples[i]));
		}
		cr_assert(epoch == 0 || memcmp(samples, before, sizeof(samples)) != 0);
		memcpy(before, samples, sizeof(samples));
	}
	sched_job_put(job);
	world_end(&world);
}

/* A label without samples, or with few, does not change the positions of others. */
Test(sched_classes, a_label_without_samples_has_no_position)
{
	struct world world;
	static char where[] = "label = 1";
	world_begin(&world, N, 100);
	struct job_config config = classes_config(a_name);
	config.where = where;
	struct sched_job *job = world_add_config(&world, &config);
	const struct sched_edition *edition = sched_edition(job, 0);
	cr_assert_eq(0, edition->label_begin[1]);
	sched_edition_put(edition);
	for (uint32_t i = 0; i < N / 2; i++)
		cr_assert_eq(1, dataset_label(world.dataset, world_read(job, 0, i)));
	sched_job_put(job);
	world_end(&world);
}

/* torchvision's ImageFolder with shuffle=True reads the same paths in each epoch. */
Test(sched_classes, a_script_that_shuffles_gets_each_sample_once_from_current)
{
	struct world world;
	struct rng rng;
	world_begin(&world, N, 100);
	struct job_config config = classes_config(a_name);
	config.epochs = 40;
	struct sched_job *job = world_add_config(&world, &config);
	rng_seed(&rng, 2);
	for (uint32_t epoch = 0; epoch < config.epochs; epoch++) {
		sample_id samples[N];
		/* Workers stay for two epochs, then new ones come. */
		read_shuffled(job, SCHED_CURRENT, 1 + 3 * (epoch / 2), &rng, samples);
		world_check_permutation(samples, N);
		check_labels(job, samples);
		for (uint32_t i = 0; i < N; i++)
			cr_assert_eq(samples[i], sched_bound(job, epoch, i));
	}
	sched_job_put(job);
	world_end(&world);
}

Test(sched_classes, also_when_it_opens_each_file_twice)
{
	struct world world;
	struct rng rng;
	world_begin(&world, N, 100);
	struct job_config config = classes_config(a_name);
	config.epochs = 12;
	struct sched_job *job = world_add_config(&world, &config);
	rng_seed(&rng, 4);
	for (uint32_t epoch = 0; epoch < config.epochs; epoch++) {
		sample_id samples[N];
		read_shuffled_twice(job, SCHED_CURRENT, 1, &rng, samples);
		world_check_permutation(samples, N);
		check_labels(job, samples);
	}
	sched_job_put(job);
	world_end(&world);
}

/* The jobs read in different orders, half an epoch apart. Alone they would decode 4 N. */
Test(sched_classes, two_jobs_share)
{
	struct world world;
	struct rng rng;
	sample_id samples[N];
	world_begin(&world, N, N / 2);
	struct sched_job *a = add_classes(&world, a_name);
	struct sched_job *b = add_classes(&world, b_name);
	rng_seed(&rng, 3);
	uint64_t before = stats_get(STAT_DECODES);
	for (uint32_t i = 0; i < 2 * N; i++) {
		world_read(a, i / N, i * 5 % N);
		if (i >= N / 2)
			samples[(i - N / 2) * 7 % N] =
				world_read(b, (i - N / 2) / N, (i - N / 2) * 7 % N);
		if (i == N + N / 2 - 1)
			world_check_permutation(samples, N);
	}
	uint64_t decodes = stats_get(STAT_DECODES) - before;
	cr_assert_leq(decodes, 2 * N + N / 4, "%d decodes", (int)decodes);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

Test(sched_classes, a_restart_goes_on_with_what_is_left_of_each_label)
{
	struct world world;
	sample_id samples[N];
	world_begin(&world, N, 100);
	struct sched_job *job = add_classes(&world, a_name);
	for (uint32_t i = 0; i < N; i += 3)
		samples[i] = world_read(job, 0, i);
	sched_job_put(job);
	world_stop(&world);
	world_start(&world);
	job = add_classes(&world, a_name);
	for (uint32_t i = 0; i < N; i++)
		cr_assert_eq(
			i % 3 == 0 ? samples[i] : SAMPLE_NONE, sched_bound(job, 0, i));
	for (uint32_t i = 0; i < N; i++)
		samples[i] = world_read(job, 0, i);
	world_check_permutation(samples, N);
	check_labels(job, samples);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_classes, in_dataset_order_a_position_is_the_sample_of_that_rank)
{
	struct world world;
	sample_id samples[N];
	world_begin(&world, N, 5);
	struct job_config config = classes_config(a_name);
	config.order = ORDER_SEQUENTIAL;
	struct sched_job *job = world_add_config(&world, &config);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t position = i * 5 % N;
		samples[position] = world_read(job, 0, position);
	}
	check_labels(job, samples);
	for (uint32_t i = 1; i < N; i++)
		cr_assert(label_at(job, i) != label_at(job, i - 1) ||
			  samples[i] > samples[i - 1]);
	world_check_nothing_held(&world);
	world_read(job, 1, 3);
	cr_assert_eq(0, sched_job_remove(world.sched, a_name));
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

/* Nothing is drawn before it is opened, because any position may come next. */
Test(sched_classes, nothing_is_drawn_ahead)
{
	struct world world;
	struct sched_job_status status;
	world_begin(&world, N, 100);
	struct sched_job *job = add_classes(&world, a_name);
	world_read(job, 0, N - 1);
	world_read(job, 0, 0);
	sched_job_status(job, &status);
	cr_assert_eq(2, status.bound);
	cr_assert_eq(0, status.drawn);
	sched_stats(world.sched);
	cr_assert_eq(0, stats_get(STAT_CACHE_PINS));
	sched_job_put(job);
	world_end(&world);
}
