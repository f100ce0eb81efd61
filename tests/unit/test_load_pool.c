// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "base/lock.h"
#include "load/load.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The pool with tasks that fail at once, because their files do not exist. */

#define N_TASKS 2000

static const struct preparation encoded = {.encoded = true};

/* The part of the scheduler that the pool sees. */
static struct {
	struct lock lock;
	pthread_cond_t done_one;
	struct load_pool *pool;
	struct load_task tasks[N_TASKS];
	unsigned times_done[N_TASKS];	 /* (lock) */
	unsigned n_ready;		 /* (lock) */
	unsigned n_taken;		 /* (lock) */
	unsigned n_read, n_decoded;	 /* (lock) */
	struct load_task *read[N_TASKS]; /* (lock) */
	unsigned n_done;		 /* (lock) */
	bool kick_when_done, kick_when_taken;
	atomic_uint n_asked;
	atomic_int policy; /* of the worker that asked last */
} sched;

static struct load_task *next_read(void *context)
{
	cr_assert(context == &sched);
	atomic_fetch_add(&sched.n_asked, 1);
	LOCK_SCOPE(&sched.lock);
	if (sched.n_taken == sched.n_ready)
		return NULL;
	if (sched.kick_when_taken)
		load_pool_kick(sched.pool, LOAD_READ);
	return &sched.tasks[sched.n_taken++];
}

static void read_one(void *context, struct load_task *task)
{
	cr_assert(context == &sched);
	LOCK_SCOPE(&sched.lock);
	sched.read[sched.n_read++] = task;
	if (sched.pool)
		load_pool_kick(sched.pool, LOAD_DECODE);
}

static struct load_task *next_decode(void *context)
{
	cr_assert(context == &sched);
	atomic_store(&sched.policy, sched_getscheduler(0));
	LOCK_SCOPE(&sched.lock);
	if (sched.n_decoded == sched.n_read)
		return NULL;
	return sched.read[sched.n_decoded++];
}

static void done(void *context, struct load_task *task)
{
	cr_assert(context == &sched);
	cr_assert(task->status != 0);
	LOCK_SCOPE(&sched.lock);
	sched.times_done[task - sched.tasks]++;
	sched.n_done++;
	pthread_cond_signal(&sched.done_one);
	if (sched.kick_when_done)
		load_pool_kick(sched.pool, LOAD_READ);
}

static const struct load_callbacks callbacks = {.next_read = next_read,
	.read = read_one,
	.next_decode = next_decode,
	.done = done,
	.context = &sched};

static void start(void)
{
	lock_init(&sched.lock, LOCK_RANK_SCHED, "sched");
	pthread_cond_init(&sched.done_one, NULL);
	for (int i = 0; i < N_TASKS; i++)
		sched.tasks[i] = (struct load_task){
			.path = "/nonexistent/file", .preparation = &encoded};
}

static void stop(void)
{
	load_pool_free(&sched.pool);
	cr_assert(sched.pool == NULL);
}

TestSuite(load_pool, .init = start, .fini = stop);

static void start_pool(unsigned n_workers)
{
	struct load_pool *pool;
	cr_assert(zero(int, load_pool_new(n_workers, n_workers, &callbacks, &pool)));
	LOCK_SCOPE(&sched.lock);
	sched.pool = pool;
}

/* Kicks under the lock, as the scheduler does. */
static void add_tasks(unsigned n)
{
	LOCK_SCOPE(&sched.lock);
	sched.n_ready += n;
	load_pool_kick(sched.pool, LOAD_READ);
}

static void wait_until_done(unsigned n)
{
	LOCK_SCOPE(&sched.lock);
	while (sched.n_done < n)
		lock_wait(&sched.lock, &sched.done_one);
}

Test(load_pool, every_task_is_done_exactly_once)
{
	start_pool(4);
	add_tasks(N_TASKS);
	wait_until_done(N_TASKS);
	stop();
	for (int i = 0; i < N_TASKS; i++)
		cr_assert(eq(u32, sched.times_done[i], 1));
}

/* Each kick comes while the workers are about to sleep again. */
Test(load_pool, no_kick_is_lost)
{
	start_pool(2);
	for (unsigned i = 1; i <= N_TASKS; i++) {
		add_tasks(1);
		wait_until_done(i);
	}
	cr_assert(eq(u32, sched.n_done, N_TASKS));
}

Test(load_pool, nobody_is_asked_before_the_first_kick)
{
	sched.n_ready = 1;
	start_pool(2);
	stop();
	cr_assert(zero(u32, sched.n_taken));
}

/* The woken worker asks until there is nothing: once for each task, and once more. */
Test(load_pool, a_kick_wakes_one_worker)
{
	start_pool(8);
	for (unsigned i = 1; i <= N_TASKS; i++) {
		add_tasks(1);
		wait_until_done(i);
	}
	stop();
	cr_assert(le(u32, atomic_load(&sched.n_asked), 2 * N_TASKS));
}

Test(load_pool, free_finishes_what_was_taken)
{
	for (int round = 0; round < 50; round++) {
		start_pool(3);
		add_tasks(N_TASKS / 50);
		stop();
		cr_assert(eq(u32, sched.n_done, sched.n_taken));
		cr_assert(le(u32, sched.n_taken, sched.n_ready));
	}
	for (unsigned i = 0; i < N_TASKS; i++)
		cr_assert(eq(u32, sched.times_done[i], i < sched.n_taken));
}

Test(load_pool, workers_may_kick_while_the_pool_is_freed)
{
	sched.kick_when_done = true;
	for (int round = 0; round < 50; round++) {
		start_pool(3);
		add_tasks(N_TASKS / 50);
		stop();
	}
	cr_assert(eq(u32, sched.n_done, sched.n_taken));
}

/* Pieces of work for workers. A worker that asks for a piece does it at once. */
static struct piece {
	struct load_work work;
	pthread_t by;
	struct piece *next;
} pieces[N_TASKS];

static void do_piece(struct load_work *work)
{
	struct piece *piece = (struct piece *)work; /* its first member */
	piece->by = pthread_self();
	if (piece->next) {
		load_pool_run(sched.pool, &piece->next->work);
		cr_assert(pthread_equal(piece->next->by, pthread_self()));
	}
	LOCK_SCOPE(&sched.lock);
	sched.n_done++;
	pthread_cond_signal(&sched.done_one);
}

Test(load_pool, work_is_done_by_workers_also_what_is_left_when_it_is_freed)
{
	start_pool(3);
	pieces[0] = (struct piece){.work.run = do_piece, .next = &pieces[1]};
	pieces[1] = (struct piece){.work.run = do_piece};
	load_pool_run(sched.pool, &pieces[0].work);
	wait_until_done(2);
	cr_assert(not(pthread_equal(pieces[0].by, pthread_self())));
	for (int i = 2; i < N_TASKS; i++) {
		pieces[i] = (struct piece){.work.run = do_piece};
		load_pool_run(sched.pool, &pieces[i].work);
	}
	stop();
	cr_assert(eq(u32, sched.n_done, N_TASKS));
}

/* Work that waits for a server occupies no decoder, and not all readers. */
static bool tasks_are_done(void)
{
	LOCK_SCOPE(&sched.lock);
	return sched.n_done >= N_TASKS;
}

static void wait_long(struct load_work *work)
{
	while (!tasks_are_done())
		sched_yield();
	do_piece(work);
}

Test(load_pool, work_that_waits_holds_up_no_task)
{
	start_pool(3);
	for (int i = 0; i < 5; i++) {
		pieces[i] = (struct piece){.work = {.run = wait_long, .waits = true}};
		load_pool_run(sched.pool, &pieces[i].work);
	}
	add_tasks(N_TASKS);
	wait_until_done(N_TASKS + 5);
	pieces[5] = (struct piece){.work = {.run = do_piece, .waits = true}};
	load_pool_run(sched.pool, &pieces[5].work);
	stop();
	cr_assert(eq(u32, sched.n_done, N_TASKS + 6));
}

Test(load_pool, workers_run_at_batch_priority)
{
	start_pool(1);
	add_tasks(1);
	wait_until_done(1);
	cr_assert(eq(int, atomic_load(&sched.policy), SCHED_BATCH));
}

/* The first read never ends. The other reads end, and the pool ends without the first one. */
Test(load_pool, a_read_that_hangs_holds_up_nobody)
{
	char path[] = "/tmp/joaderfs-pool.XXXXXX";
	struct stat st;
	int fd = mkstemp(path);
	cr_assert(fd >= 0 && fstat(fd, &st) == 0);
	sched.tasks[0].path = path;
	sched.tasks[0].expected_mtime_ns =
		st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
	cr_assert(zero(int, fault_add("load.read:NONE:times=1:until=/nonexistent")));
	start_pool(2);
	sched.kick_when_taken = true;
	add_tasks(N_TASKS);
	wait_until_done(N_TASKS - 1);
	cr_assert(zero(u32, sched.times_done[0]));
	stop();
	cr_assert(eq(u32, sched.times_done[0], 1));
	cr_assert(eq(int, sched.tasks[0].status, -EINTR));
	cr_assert(sched.tasks[0].passing);
	fault_clear();
	close(fd);
	unlink(path);
}

/* There are as many readers as hanging reads, and one more for the others. */
Test(load_pool, readers_are_made_when_they_are_needed)
{
	char path[] = "/tmp/joaderfs-pool.XXXXXX", go[64], fault[128];
	struct stat st;
	int fd = mkstemp(path);
	cr_assert(fd >= 0 && fstat(fd, &st) == 0);
	snprintf(go, sizeof(go), "%s.go", path);
	for (int i = 0; i < 7; i++) {
		sched.tasks[i].path = path;
		sched.tasks[i].expected_mtime_ns =
			st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
	}
	snprintf(fault, sizeof(fault), "load.read:EIO:times=7:until=%s", go);
	cr_assert(zero(int, fault_add(fault)));
	cr_assert(zero(int, load_pool_new(8, 2, &callbacks, &sched.pool)));
	sched.kick_when_taken = true;
	add_tasks(N_TASKS);
	wait_until_done(N_TASKS - 7);
	close(open(go, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	wait_until_done(N_TASKS);
	stop();
	for (int i = 0; i < N_TASKS; i++)
		cr_assert(eq(u32, sched.times_done[i], 1));
	fault_clear();
	close(fd);
	unlink(path);
	unlink(go);
}
