// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "edition/edition.h"
#include "load/load_internal.h"
#include "sched/supplying.h"
#include "supply/supply.h"
#include "world.h"

#include <errno.h>
#include <unistd.h>

/* Whose request comes next, in the scheduler: opens of mirrors wait, and the test prepares one
 * sample after the other. */

#define N 240
#define JOBS 2
#define COST_NS 5000000 /* assumed cost of a sample */

struct asked {
	bool done;
	struct sched_opened result;
};

struct shared {
	struct world world;
	struct load_context *context;
	struct sched_job *jobs[JOBS];
	struct asked asked[JOBS][N];
	uint32_t n[JOBS]; /* number of opens so far */
};

static void begin(struct shared *shared, enum share_policy policy, const double *weights)
{
	static char names[JOBS][2] = {"a", "b"};
	static char where[JOBS][16] = {"id % 2 = 0", "id % 2 = 1"};
	struct world *world = &shared->world;
	*shared = (struct shared){0};
	world_begin(world, N, N);
	world_stop(world);
	world->config.share = policy;
	world_start(world);
	load_pool_free(&world->sched->pool);
	cr_assert_eq(0, load_context_new(&shared->context));
	for (int i = 0; i < JOBS; i++) {
		struct job_config config = world_job_config(names[i]);
		config.layout = LAYOUT_MIRROR;
		config.where = where[i];
		config.weight = weights[i];
		shared->jobs[i] = world_add_config(world, &config);
	}
}

static const double alike[JOBS] = {1, 1};

static void opened(void *context, const struct sched_opened *result)
{
	struct asked *asked = context;
	asked->done = true;
	asked->result = *result;
}

static void ask(struct shared *shared, int job, uint32_t n)
{
	for (; n > 0; n--) {
		uint32_t position = shared->n[job]++;
		struct sched_open_callbacks callbacks = {
			.opened = opened, .context = &shared->asked[job][position]};
		cr_assert_eq(0, sched_open(shared->jobs[job], 0, position, &callbacks));
	}
	sched_validate(shared->world.sched);
}

/* Reads the file of one task, then decodes one task. Returns false if there was none to decode. */
static bool prepare_one(struct shared *shared)
{
	struct sched *sched = shared->world.sched;
	struct load_read *read = load_read_new();
	struct load_task *task = sched_next_read(sched);
	if (task) {
		cr_assert_eq(0, load_read_prepare(read, task));
		load_read_run(read);
		task->read = read;
		sched_read(sched, task);
	}
	task = sched_next_decode(sched);
	if (task) {
		load_decode(shared->context, task);
		sched_load_done(sched, task);
	}
	load_read_free(&read);
	return task != NULL;
}

static void prepare(struct shared *shared, uint32_t n)
{
	do {
		shared->jobs[0]->is.now->parts[0].space->cost_ns = COST_NS;
		sched_validate(shared->world.sched);
	} while (n-- > 0 && prepare_one(shared));
}

static uint32_t answered(const struct shared *shared, int job)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < shared->n[job]; i++)
		n += shared->asked[job][i].done;
	return n;
}

static void end(struct shared *shared)
{
	prepare(shared, UINT32_MAX);
	for (int job = 0; job < JOBS; job++) {
		for (uint32_t i = 0; i < shared->n[job]; i++) {
			struct asked *asked = &shared->asked[job][i];
			cr_assert(asked->done, "nobody waits for ever");
			if (asked->result.handle)
				sched_release(asked->result.handle);
		}
		sched_job_put(shared->jobs[job]);
	}
	load_context_free(&shared->context);
	world_end(&shared->world);
}

/* Lets 80 samples be prepared while both jobs wait for 100. Returns how many are of the second
 * job. */
static uint32_t part_of_second(enum share_policy policy)
{
	static const double weights[JOBS] = {1, 3};
	struct shared shared;
	begin(&shared, policy, weights);
	ask(&shared, 0, 100);
	ask(&shared, 1, 100);
	prepare(&shared, 80);
	uint32_t part = answered(&shared, 1);
	cr_expect_eq(answered(&shared, 0) + part, 80);
	end(&shared);
	return part;
}

Test(sched_shares, jobs_get_parts_by_their_weights)
{
	uint32_t part = part_of_second(SHARE_FAIR);
	cr_expect(part >= 54 && part <= 66, "%u of 80", part);
	cr_expect_eq(part_of_second(SHARE_FIFO), 0, "the mutant: who asks first");
}

/* Returns how many samples are prepared before the only one of a job, behind 110 of another job. */
static uint32_t before_the_one(enum share_policy policy)
{
	struct shared shared;
	uint32_t before = 0;
	begin(&shared, policy, alike);
	ask(&shared, 0, 110);
	prepare(&shared, 10);
	ask(&shared, 1, 1);
	for (; answered(&shared, 1) == 0; before++)
		prepare(&shared, 1);
	end(&shared);
	return before;
}

Test(sched_shares, who_wants_little_does_not_wait_for_who_wants_much)
{
	uint32_t before = before_the_one(SHARE_FAIR);
	cr_expect_leq(before, 4, "%u", before);
	cr_expect_gt(before_the_one(SHARE_FIFO), 90, "the mutant");
}

Test(sched_shares, who_was_idle_gets_no_credit)
{
	struct shared shared;
	begin(&shared, SHARE_FAIR, alike);
	ask(&shared, 0, 110);
	prepare(&shared, 60);
	ask(&shared, 1, 110);
	prepare(&shared, 40);
	uint32_t part = answered(&shared, 1);
	cr_expect(part >= 16 && part <= 24, "%u of 40", part);
	end(&shared);
}

/* The read fails with a transient error. The job that asked first leaves before the next try, and
 * another job that asks meanwhile gets the sample. */
Test(sched_shares, who_asks_while_a_read_is_put_off_is_served, .fini = fault_clear)
{
	struct shared shared;
	static char all[] = "id < 2", name[] = "c";
	struct job_config config = world_job_config(name);
	begin(&shared, SHARE_SLOWDOWN, alike);
	config.layout = LAYOUT_MIRROR;
	config.where = all;
	struct sched_job *job = world_add_config(&shared.world, &config);
	struct asked gone = {0};
	struct sched_open_callbacks callbacks = {.opened = opened, .context = &gone};
	cr_assert_eq(0, fault_add("load.read:EMFILE:times=1"));
	cr_assert_eq(0, sched_open(job, 0, 0, &callbacks));
	prepare(&shared, 1);
	cr_assert_not(gone.done, "it is put off");
	ask(&shared, 0, 1); /* the same sample */
	cr_assert_eq(0, sched_job_remove(shared.world.sched, name));
	cr_assert_eq(gone.result.status, -ENODEV);
	sched_job_put(job);
	for (int i = 0; i < 10000 && answered(&shared, 0) == 0; i++) {
		usleep(1000);
		prepare(&shared, 1);
	}
	cr_expect_eq(shared.asked[0][0].result.status, 0);
	end(&shared);
}
