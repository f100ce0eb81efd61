// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "sched/datasets.h"
#include "sched/ranks.h"
#include "sched/supplying.h"
#include "world.h"

/* The exchange engine in the scheduler, with cache, loading and jobs. The engine has its own
 * tests. */

#define N 120

static char a_name[] = "a", b_name[] = "b", c_name[] = "c";

static void begin(
	struct world *world, uint32_t n, enum sampler_kind kind, uint64_t tensors)
{
	world_begin(world, n, tensors);
	world_stop(world);
	world->config.sampler = kind;
	world_start(world);
}

/* Returns the decodes of two jobs, one of them half an epoch behind, over two epochs each. */
static uint64_t staggered(enum sampler_kind kind)
{
	struct world world;
	begin(&world, N, kind, N / 10);
	struct job_config config = world_job_config(a_name);
	config.lookahead = 2;
	struct sched_job *a = world_add_config(&world, &config);
	config.name = b_name;
	struct sched_job *b = world_add_config(&world, &config);
	uint64_t before = stats_get(STAT_DECODES);
	for (uint32_t i = 0; i < 2 * N + N / 2; i++) {
		if (i < 2 * N)
			world_read(a, i / N, i % N);
		if (i >= N / 2)
			world_read(b, (i - N / 2) / N, (i - N / 2) % N);
	}
	uint64_t decodes = stats_get(STAT_DECODES) - before;
	world_check_nothing_held(&world);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
	return decodes;
}

/* Alone, two epochs of two jobs are 4 N decodes. Here they are 2 N, and a part for samples that
 * only one job reads. */
Test(sched_exchange, staggered_jobs_share_nearly_everything)
{
	uint64_t exchange = staggered(SAMPLER_EXCHANGE);
	uint64_t dsa = staggered(SAMPLER_DSA);
	cr_log_info("%d decodes with exchange, %d with dsa", (int)exchange, (int)dsa);
	cr_assert_leq(exchange, 5 * N / 2 + N / 5, "%d decodes", (int)exchange);
	cr_assert_geq(dsa, 11 * N / 4, "%d decodes", (int)dsa);
}

/* Jobs of two preparations and of another size, in a cache with room for few samples of each. */
Test(sched_exchange, jobs_of_different_preparation_get_each_sample_once)
{
	struct world world;
	static char where[] = "label = 0";
	sample_id a[N], b[N];
	begin(&world, N, SAMPLER_EXCHANGE, 12);
	struct job_config config = world_job_config(c_name);
	config.where = where;
	struct sched_job *jc = world_add_config(&world, &config);
	config = world_job_config(b_name);
	config.preparation.resize_width = config.preparation.resize_height = 4;
	struct sched_job *jb = world_add_config(&world, &config);
	struct sched_job *ja = world_add(&world, a_name);
	for (uint32_t i = 0; i < N; i++) {
		struct sched_handle *handle = NULL;
		a[i] = world_read(ja, 0, i);
		cr_assert_eq(0, world_open(jb, 0, i, &handle));
		b[i] = sched_handle_sample(handle);
		cr_assert_eq(4 * 4 * 3, sched_handle_tensor(handle)->bytes);
		sched_release(handle);
		cr_assert_eq(0, dataset_label(world.dataset,
					world_read(jc, i / (N / 2), i % (N / 2))));
	}
	world_check_permutation(a, N);
	world_check_permutation(b, N);
	world_check_nothing_held(&world);
	sched_job_put(ja);
	sched_job_put(jb);
	sched_job_put(jc);
	world_end(&world);
}

/*
 * One job opens the first half in the dataset's order. The other job's order must not show it: of
 * its first 56 samples about 28 are of that half, and 45 or more once in a million runs.
 */
Test(sched_exchange, what_a_mirror_has_loaded_does_not_come_first)
{
	struct world world;
	uint32_t of_the_half = 0;
	begin(&world, N, SAMPLER_EXCHANGE, N);
	struct job_config config = world_job_config(a_name);
	config.layout = LAYOUT_MIRROR;
	struct sched_job *mirror = world_add_config(&world, &config);
	for (uint32_t i = 0; i < N / 2; i++)
		world_read(mirror, 0, i);
	struct sched_job *job = world_add(&world, b_name);
	for (uint32_t i = 0; i < N / 2 - 4; i++)
		of_the_half += world_read(job, 0, i) < N / 2;
	cr_assert_lt(of_the_half, 45);
	cr_assert_gt(of_the_half, 11);
	sched_job_put(mirror);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_exchange, a_job_may_be_removed_while_others_read)
{
	struct world world;
	sample_id samples[N];
	begin(&world, N, SAMPLER_EXCHANGE, 10);
	struct sched_job *job = world_add(&world, a_name);
	for (uint32_t i = 0; i < N; i++) {
		samples[i] = world_read(job, 0, i);
		struct sched_job *other = i % 10 == 0
						  ? world_add(&world, b_name)
						  : sched_job_find(world.sched, b_name);
		world_read(other, 0, i % 10);
		world_read(other, 0, 15 + i % 10);
		if (i % 10 == 9)
			cr_assert_eq(0, sched_job_remove(world.sched, b_name));
		sched_job_put(other);
		sched_validate(world.sched);
	}
	world_check_permutation(samples, N);
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_exchange, a_bad_sample_fails_alone)
{
	struct world world;
	char path[128];
	uint32_t failed = 0;
	begin(&world, 24, SAMPLER_EXCHANGE, 5);
	world_image_path(&world, 7, path);
	FILE *file = fopen(path, "r+");
	cr_assert(file && fputs("no image", file) > 0 && fclose(file) == 0);
	struct sched_job *a = world_add(&world, a_name);
	struct sched_job *b = world_add(&world, b_name);
	for (uint32_t i = 0; i < 2 * 24; i++) {
		struct sched_handle *handle = NULL;
		int err = world_open(i % 2 ? a : b, 0, i / 2, &handle);
		cr_assert(err == 0 || err == -EIO);
		failed += err != 0;
		if (!err)
			sched_release(handle);
		sched_validate(world.sched);
	}
	cr_assert_eq(2, failed);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

static sample_id insist(struct sched_job *job, uint32_t position)
{
	struct sched_handle *handle = NULL;
	int err;
	while ((err = world_open(job, 0, position, &handle)) == -ENOMEM)
		;
	cr_assert_eq(0, err);
	sched_validate(world_of);
	sample_id sample = sched_handle_sample(handle);
	sched_release(handle);
	return sample;
}

/* Without memory for a pin, a sample that was drawn does not get into the cache. */
Test(sched_exchange, without_memory_for_the_cache_epochs_are_still_whole)
{
	struct world world;
	sample_id a[24], b[24];
	for (int after = 20; after < 100; after += 10) {
		char fault[64];
		snprintf(fault, sizeof(fault), "cache.memory:ENOMEM:after=%d:times=2",
			after);
		cr_assert_eq(0, fault_add(fault));
	}
	begin(&world, 24, SAMPLER_EXCHANGE, 8);
	struct sched_job *ja = world_add(&world, a_name);
	struct sched_job *jb = world_add(&world, b_name);
	for (uint32_t i = 0; i < 24; i++) {
		a[i] = insist(ja, i);
		b[(i + 12) % 24] = insist(jb, (i + 12) % 24);
	}
	world_check_permutation(a, 24);
	world_check_permutation(b, 24);
	world_check_nothing_held(&world);
	sched_job_put(ja);
	sched_job_put(jb);
	world_end(&world);
	fault_clear();
}

/* The dataset has its own sampler. The daemon's sampler is sequential, so that the difference is
 * visible. */
Test(sched_exchange, a_dataset_may_have_a_sampler_of_its_own)
{
	struct world world;
	sample_id samples[24];
	begin(&world, 24, SAMPLER_SEQUENTIAL, 100);
	struct sched_job *job = world_add(&world, a_name);
	for (uint32_t i = 0; i < 24; i++)
		cr_assert_eq(i, world_read(job, 0, i));
	sched_job_put(job);
	world_stop(&world);
	world.dataset_config.sampler = SAMPLER_ISA;
	world.config.datasets = &world.dataset_config;
	world.config.n_datasets = 1;
	world_start(&world);
	job = world_add(&world, b_name);
	uint32_t in_order = 0;
	for (uint32_t i = 0; i < 24; i++)
		in_order += (samples[i] = world_read(job, 0, i)) == i;
	world_check_permutation(samples, 24);
	cr_assert_lt(in_order, 12);
	sched_job_put(job);
	world_end(&world);
}

/* Samples in the cache are reported as resident, except those that a job in dataset order has
 * loaded. */
Test(sched_exchange, what_is_resident_is_told)
{
	struct world world;
	begin(&world, N, SAMPLER_EXCHANGE, N / 10);
	struct job_config config = world_job_config(a_name);
	config.lookahead = 2;
	struct sched_job *a = world_add_config(&world, &config);
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (uint32_t i = 0; i < N / 2; i++)
		world_read(a, 0, i);
	sched_resident(world.sched, "other", ids);
	cr_assert(roaring_bitmap_is_empty(ids));
	sched_resident(world.sched, "tiny", ids);
	uint64_t n = roaring_bitmap_get_cardinality(ids);
	cr_assert(n > 0 && n <= N / 10, "%u samples are resident", (unsigned)n);
	uint32_t found = 0;
	for (uint32_t k = N / 2 - N / 20; k < N / 2; k++) {
		struct binding binding;
		cr_assert(sched_binding(a, 0, k, &binding));
		found += roaring_bitmap_contains(ids, binding.sample);
	}
	cr_assert_geq(found, N / 20 - 2, "%u of the last %u", found, N / 20);
	config.name = b_name;
	config.order = ORDER_SEQUENTIAL;
	struct sched_job *b = world_add_config(&world, &config);
	roaring_bitmap_clear(ids);
	sched_resident(world.sched, "tiny", ids);
	cr_assert(roaring_bitmap_is_empty(ids));
	roaring_bitmap_free(ids);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

/* Other daemons may ask for samples of a dataset that was removed just before. */
Test(sched_exchange, nothing_of_a_removed_dataset_is_resident)
{
	static char again[] = "again";
	struct world world;
	struct dataset *dataset;
	struct dataset_config config;
	char jobs[SCHED_JOB_NAMES];
	begin(&world, N, SAMPLER_EXCHANGE, N / 10);
	config = world.dataset_config;
	config.name = again;
	cr_assert_eq(0, dataset_open(&config, world.config.state, NULL, &dataset));
	cr_assert_eq(0, sched_dataset_add(world.sched, dataset, &config));
	dataset_close(&dataset);
	cr_assert_eq(0, sched_dataset_take(world.sched, again, false, &config, jobs));
	sched_dataset_remove(world.sched, again);
	sources_sweep(world.sched);
	roaring_bitmap_t *ids = roaring_bitmap_create();
	sched_resident(world.sched, again, ids);
	cr_assert(roaring_bitmap_is_empty(ids));
	roaring_bitmap_free(ids);
	config_dataset_free(&config);
	world_end(&world);
}
