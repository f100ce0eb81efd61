// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "effort.h"
#include "epoch/state_version.h"
#include "power_failure.h"
#include "sched/sched_internal.h"
#include "world.h"

/*
 * The power fails while a scheduler adds a job and readers read it. If the addition was reported,
 * the next scheduler has the job with its number, and each sample that a sync of the journal has
 * promised.
 */

TestSuite(power_sched, .timeout = 600);

#define SAMPLES 8
#define EPOCHS 3

static struct world world;
static char name[] = "job", crashed[96];

struct promise {
	unsigned positions; /* positions of all epochs that were read and synced */
	job_id id;
	sample_id samples[EPOCHS * SAMPLES];
};

static struct sched_job *add(struct promise *promise)
{
	struct job_config config = world_job_config(name);
	cr_assert_eq(
		0, sched_job_add(world.sched, &config, true, world_unexpected, NULL));
	struct sched_job *job = sched_job_find(world.sched, name);
	promise->id = sched_job_id(job);
	disk_mark(1, 1);
	return job;
}

static void read_and_sync(struct promise *promise)
{
	struct sched_job *job = add(promise);
	for (unsigned i = 0; i < EPOCHS * SAMPLES; i++) {
		promise->samples[i] = world_read(job, i / SAMPLES, i % SAMPLES);
		if (i % 3)
			continue;
		journal_flush(job->is.journal);
		cr_assert_eq(0, journal_sync(job->is.journal));
		disk_mark(i + 2, i + 2);
	}
	sched_job_put(job);
}

static void check(const struct promise *promise, size_t promised)
{
	sched_jobs_restore(world.sched);
	struct sched_job *job = sched_job_find(world.sched, name);
	cr_assert(job || promised == 0, "the job is gone");
	cr_assert(promised == 0 || sched_job_id(job) == promise->id, "another number");
	for (unsigned i = 0; job && i + 1 < promised; i++)
		cr_assert_eq(promise->samples[i],
			sched_bound(job, i / SAMPLES, i % SAMPLES), "position %u", i);
	if (job)
		sched_job_put(job);
}

static void restart_at(char *state)
{
	world.config.state = state;
	world_start(&world);
}

static void expect_promises_kept(enum disk_order order)
{
	struct promise promise;
	struct rng rng;
	size_t promised, done;
	rng_seed(&rng, order);
	world_begin(&world, SAMPLES, SAMPLES);
	char *state = world.config.state;
	snprintf(crashed, sizeof(crashed), "%s/crashed", world.directory);
	disk_record(state, LIE_NONE);
	read_and_sync(&promise);
	world_stop(&world);
	disk_stop();
	const size_t step = effort(7, 1);
	for (size_t end = 0; end < disk.n_events; end += step) {
		power_fails(end, order, &rng, crashed);
		image_promise(end, &promised, &done);
		restart_at(crashed);
		check(&promise, promised);
		world_stop(&world);
	}
	restart_at(state);
	world_end(&world);
	disk_forget();
}

Test(power_sched, a_job_and_its_samples_stay)
{
	expect_promises_kept(DISK_ORDERED);
}

Test(power_sched, a_job_and_its_samples_stay_where_names_have_no_order)
{
	expect_promises_kept(DISK_UNORDERED);
}

Test(power_sched, a_new_state_directory_is_one_or_none)
{
	char root[] = "/tmp/joaderfs-test.XXXXXX", live[64], then[64];
	struct rng rng;
	rng_seed(&rng, 1);
	cr_assert(mkdtemp(root));
	snprintf(live, sizeof(live), "%s/live", root);
	snprintf(then, sizeof(then), "%s/then", root);
	disk_clear(live);
	disk_record(live, LIE_NONE);
	cr_assert_eq(0, state_version_take(live));
	disk_stop();
	for (size_t end = 0; end <= disk.n_events; end++)
		for (unsigned i = 0; i < 20; i++) {
			power_fails(end, i % DISK_ORDERS, &rng, then);
			cr_assert_eq(0, state_version_take(then), "%zu", end);
		}
	disk_forget();
	disk_clear(root);
	cr_assert_eq(0, rmdir(root));
}
