// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "effort.h"
#include "world.h"

#include <inttypes.h>

/*
 * torch's DataLoader with shuffle=True on current/ of the layout `classes`. Its workers open
 * shuffled files and are killed in the middle of an epoch, and new ones begin again.
 */

#define N 360
#define SEEDS effort(20, 60)

struct restart {
	struct world world;
	struct sched_job *job;
	char name[16];
	struct rng rng;
	sample_id samples[2][N]; /* by the script's number of the epoch */
};

static void shuffle(struct rng *rng, uint32_t positions[N])
{
	for (uint32_t i = 0; i < N; i++)
		positions[i] = i;
	rng_shuffle(rng, positions, N);
}

/* A worker of a DataLoader: it has every other batch, and is at most two batches ahead of the
 * script. */
struct worker {
	uint64_t reader;
	uint32_t next; /* index in the order of the script */
	struct sched_handle *handle;
	uint32_t position;
};

#define BATCH 7
#define AHEAD (4 * BATCH)

static uint32_t worker_step(uint32_t next)
{
	return next % BATCH == BATCH - 1 ? next + 1 + BATCH : next + 1;
}

static void worker_close(struct restart *restart, struct worker *worker, uint32_t epoch)
{
	if (!worker->handle)
		return;
	restart->samples[epoch][worker->position] = sched_handle_sample(worker->handle);
	sched_release(worker->handle);
	worker->handle = NULL;
}

/* Reads n positions in a new order, by two new workers that take turns at random. */
static void read_by_loader(
	struct restart *restart, uint32_t epoch, uint32_t n, uint64_t reader)
{
	struct worker workers[2] = {
		{.reader = reader, .next = 0}, {.reader = reader + 1, .next = BATCH}};
	uint32_t positions[N];
	struct rng *rng = &restart->rng;
	shuffle(rng, positions);
	while (workers[0].next < n || workers[1].next < n) {
		struct worker *worker = &workers[rng_below(rng, 2)];
		const struct worker *other = &workers[worker == workers];
		if (worker->next >= n || worker->next >= other->next + AHEAD)
			continue;
		worker_close(restart, worker, epoch);
		worker->position = positions[worker->next];
		cr_assert_eq(
			0, world_open_by(restart->job, SCHED_CURRENT, worker->position,
				   worker->reader, &worker->handle));
		worker->next = worker_step(worker->next);
	}
	for (int i = 0; i < 2; i++)
		worker_close(restart, &workers[i], epoch);
}

static void read_in_order_of(
	struct restart *restart, uint32_t epoch, uint32_t n, uint64_t reader)
{
	uint32_t positions[N];
	struct rng *rng = &restart->rng;
	shuffle(rng, positions);
	for (uint32_t i = 0; i < n; i++)
		restart->samples[epoch][positions[i]] =
			world_read_by(restart->job, SCHED_CURRENT, positions[i], reader);
}

static void begin(struct restart *restart)
{
	world_begin(&restart->world, N, 100);
}

/* Adds another job, for another run of a script. */
static void add(struct restart *restart, uint64_t seed)
{
	snprintf(restart->name, sizeof(restart->name), "job%" PRIu64, seed);
	struct job_config config = world_job_config(restart->name);
	config.layout = LAYOUT_CLASSES;
	restart->job = world_add_config(&restart->world, &config);
	rng_seed(&restart->rng, seed);
}

static uint32_t twice(const sample_id samples[N])
{
	bool seen[N] = {false};
	uint32_t n = 0;
	for (uint32_t i = 0; i < N; i++) {
		n += seen[samples[i]];
		seen[samples[i]] = true;
	}
	return n;
}

/* Removes the job. Returns how many samples it got twice in an epoch. */
static uint32_t leave(struct restart *restart)
{
	sched_job_put(restart->job);
	cr_assert_eq(0, sched_job_remove(restart->world.sched, restart->name));
	return twice(restart->samples[0]) + twice(restart->samples[1]);
}

static void end(struct restart *restart)
{
	world_end(&restart->world);
}

/* The loader is killed, started again, and reads the next epoch, with any turns of its workers. */
Test(sched_restart, a_loader_that_shuffles_may_be_started_again_before_half)
{
	struct restart restart;
	begin(&restart);
	for (uint64_t seed = 0, seeds = SEEDS; seed < seeds; seed++) {
		add(&restart, seed);
		uint32_t n = 2 * BATCH + (uint32_t)rng_below(&restart.rng, N / 3);
		read_by_loader(&restart, 0, n, 100);
		read_by_loader(&restart, 0, N, 200);
		read_by_loader(&restart, 1, N, 230);
		cr_assert_eq(0, leave(&restart));
	}
	end(&restart);
}

/*
 * With num_workers=0, the thread that tried a few batches also reads the epoch. The engine knows
 * that this has begun only when all tried files have come again. If the last of them is also the
 * last file of the epoch, that is too late.
 */
Test(sched_restart, the_same_thread_may_begin_anew)
{
	struct restart restart;
	uint32_t n = 0;
	begin(&restart);
	for (uint64_t seed = 0, seeds = SEEDS; seed < seeds; seed++) {
		add(&restart, seed);
		read_in_order_of(&restart, 0, N / 8, 10);
		read_in_order_of(&restart, 0, N, 10);
		read_in_order_of(&restart, 1, N, 10);
		n += leave(&restart);
	}
	cr_assert_leq(n, (SEEDS + 29) / 30);
	end(&restart);
}

/* The script reads one file to learn the size of images. Half an epoch later this file comes in
 * its turn. */
Test(sched_restart, what_was_read_before_the_workers_came_is_the_same_when_they_read_it)
{
	struct restart restart;
	begin(&restart);
	for (uint64_t seed = 0, seeds = SEEDS; seed < seeds; seed++) {
		add(&restart, seed);
		read_in_order_of(&restart, 0, 2, 10);
		read_by_loader(&restart, 0, N, 20);
		read_by_loader(&restart, 1, N, 30);
		cr_assert_eq(0, leave(&restart));
	}
	end(&restart);
}
