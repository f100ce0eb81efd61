// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Threads kick the worker pool at any time, and the pool ends in the middle of its work. Each task
 * that was handed out must come back once, prepared or refused as its file requires, and no thread
 * may run after load_pool_free.
 */

#include "../tiny_dataset.h"
#include "base/lock.h"
#include "base/rng.h"
#include "load/load.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define ROUNDS 60
#define N_TASKS 200
#define N_FILES 8 /* and one file that is no image */
#define WORKERS 4
#define READERS 6
#define KICKERS 3
#define SIDE 16

struct file {
	char *path;
	struct stat st;
	uint32_t number;
	bool broken;
};

struct round {
	struct lock lock; /* protects all fields below, except constant ones */
	pthread_cond_t all_done;
	struct rng rng;
	struct load_task tasks[N_TASKS];
	uint8_t times_done[N_TASKS];
	struct load_task *read[N_TASKS]; /* tasks that wait for a decoder */
	uint32_t n_read, n_decoded;
	uint32_t handed_out, done;
	struct load_pool *pool; /* constant while kickers run */
	atomic_bool stop_kicking, freed;
	bool complete; /* constant: the round ends when all tasks are done */
};

static const struct preparation preparation; /* keeps the pixels as they are */
static struct file files[N_FILES + 1];

static void make_files(const char *directory)
{
	char name[32];
	for (uint32_t i = 0; i <= N_FILES; i++) {
		struct file *file = &files[i];
		snprintf(name, sizeof(name), "%u.png", i);
		file->path = tiny_path(directory, name);
		file->number = i;
		file->broken = i == N_FILES;
		tiny_png(file->path, SIDE, i);
		if (file->broken)
			ensure(truncate(file->path, 60) == 0);
		ensure(stat(file->path, &file->st) == 0);
	}
}

static struct load_task *next(void *context)
{
	struct round *round = context;
	LOCK_SCOPE(&round->lock);
	ensure(!atomic_load(&round->freed));
	/* Sometimes there is no task yet, so that only a later kick continues the work. */
	if (round->handed_out == N_TASKS || rng_below(&round->rng, 4) == 0)
		return NULL;
	uint32_t i = round->handed_out++;
	struct file *file = &files[rng_below(&round->rng, N_FILES + 1)];
	round->tasks[i] = (struct load_task){.path = file->path,
		.expected_bytes = (uint64_t)file->st.st_size,
		.expected_mtime_ns =
			file->st.st_mtim.tv_sec * 1000000000ll + file->st.st_mtim.tv_nsec,
		.expected_image = {.height = SIDE, .width = SIDE},
		.preparation = &preparation,
		.owner = file};
	return &round->tasks[i];
}

static void read_one(void *context, struct load_task *task)
{
	struct round *round = context;
	LOCK_SCOPE(&round->lock);
	ensure(!atomic_load(&round->freed));
	round->read[round->n_read++] = task;
	if (round->pool)
		load_pool_kick(round->pool, LOAD_DECODE);
}

static struct load_task *next_decode(void *context)
{
	struct round *round = context;
	LOCK_SCOPE(&round->lock);
	ensure(!atomic_load(&round->freed));
	if (round->n_decoded == round->n_read)
		return NULL;
	return round->read[round->n_decoded++];
}

/* Checks the result. A read that is too long at the end of the pool is interrupted. */
static void check_result(const struct round *round, const struct load_task *task)
{
	const struct file *file = task->owner;
	if (task->status == -EINTR && !round->complete)
		return;
	if (file->broken) {
		ensure(task->status == -EIO && !task->tensor && task->message[0]);
		return;
	}
	ensure(task->status == 0 && task->tensor);
	ensure(task->tensor->bytes == 3 * SIDE * SIDE);
	for (uint64_t i = 0; i < task->tensor->bytes; i++)
		ensure(task->tensor->data[i] == file->number);
}

static void done(void *context, struct load_task *task)
{
	struct round *round = context;
	check_result(round, task);
	tensor_free(task->tensor);
	LOCK_SCOPE(&round->lock);
	ensure(!atomic_load(&round->freed));
	ensure(round->times_done[task - round->tasks]++ == 0);
	if (++round->done == N_TASKS)
		pthread_cond_signal(&round->all_done);
}

static void *kick(void *context)
{
	struct round *round = context;
	while (!atomic_load(&round->stop_kicking)) {
		load_pool_kick(round->pool, LOAD_READ);
		sched_yield();
	}
	return NULL;
}

static void wait_until_done(struct round *round)
{
	LOCK_SCOPE(&round->lock);
	while (round->done < N_TASKS)
		lock_wait(&round->lock, &round->all_done);
}

static void wait_until_handed_out(struct round *round, uint32_t n)
{
	for (;;) {
		lock_take(&round->lock);
		bool enough = round->handed_out >= n;
		lock_release(&round->lock);
		if (enough)
			return;
		sched_yield();
	}
}

static void check_all_came_back(struct round *round, bool complete)
{
	ensure(round->done == round->handed_out);
	ensure(!complete || round->done == N_TASKS);
	for (uint32_t i = 0; i < N_TASKS; i++)
		ensure(round->times_done[i] == (i < round->handed_out));
}

/* Runs a round. Every other round ends before all tasks were handed out. */
static void run_round(uint64_t seed)
{
	static struct round round;
	pthread_t kickers[KICKERS];
	bool complete = seed % 2 == 0;
	round = (struct round){
		.all_done = PTHREAD_COND_INITIALIZER, .complete = complete};
	lock_init(&round.lock, LOCK_RANK_SCHED, "round");
	rng_seed(&round.rng, seed);
	uint32_t enough = (uint32_t)rng_below(&round.rng, N_TASKS);
	struct load_callbacks callbacks = {.next_read = next,
		.read = read_one,
		.next_decode = next_decode,
		.done = done,
		.context = &round};
	ensure(load_pool_new(READERS, WORKERS, &callbacks, &round.pool) == 0);
	for (int i = 0; i < KICKERS; i++)
		ensure(pthread_create(&kickers[i], NULL, kick, &round) == 0);
	if (complete)
		wait_until_done(&round);
	else
		wait_until_handed_out(&round, enough);
	atomic_store(&round.stop_kicking, true);
	for (int i = 0; i < KICKERS; i++)
		pthread_join(kickers[i], NULL);
	load_pool_free(&round.pool);
	ensure(!round.pool);
	atomic_store(&round.freed, true);
	check_all_came_back(&round, complete);
	lock_destroy(&round.lock);
}

/* Hands out the next task. One kick is enough for all tasks, because workers ask again after each
 * one. */
static struct load_task *next_one_of_many(void *context)
{
	struct round *round = context;
	for (;;) { /* without the pauses of next() */
		struct load_task *task = next(round);
		lock_take(&round->lock);
		bool none = round->handed_out == N_TASKS;
		lock_release(&round->lock);
		if (task || none)
			return task;
	}
}

static void one_kick_is_enough(void)
{
	static struct round round = {
		.all_done = PTHREAD_COND_INITIALIZER, .complete = true};
	lock_init(&round.lock, LOCK_RANK_SCHED, "round");
	rng_seed(&round.rng, 1);
	struct load_callbacks callbacks = {.next_read = next_one_of_many,
		.read = read_one,
		.next_decode = next_decode,
		.done = done,
		.context = &round};
	ensure(load_pool_new(READERS, WORKERS, &callbacks, &round.pool) == 0);
	load_pool_kick(round.pool, LOAD_READ);
	wait_until_done(&round);
	load_pool_free(&round.pool);
	check_all_came_back(&round, true);
	lock_destroy(&round.lock);
}

int main(void)
{
	auto_free char *directory = tiny_directory();
	make_files(directory);
	for (uint64_t seed = 0; seed < ROUNDS; seed++)
		run_round(seed);
	one_kick_is_enough();
	for (uint32_t i = 0; i <= N_FILES; i++)
		free(files[i].path);
	tiny_remove(directory);
	printf("stress_pool: %d rounds of %d tasks\n", ROUNDS, N_TASKS);
	return 0;
}
