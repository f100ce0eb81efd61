// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* holds [SAMPLES]: prints the longest time for which a thread holds the scheduler's lock, while
 * jobs join, begin epochs, read and leave. The jobs have 1.28 million samples, or SAMPLES, and the
 * sampler exchange, first in layout flat, then in layout classes. All samples are one image on a
 * tmpfs. The times include interruptions by other programs. Each line has the address of the code
 * that released the lock after the longest time, for addr2line. */

#include "base/clock.h"
#include "lock_calls.h"
#include "one_image.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/sched.h"

#include <stdio.h>
#include <stdlib.h>

#define READS 10000

/* These variables count since the last report. The scheduler's lock protects them. */
static uint64_t held_since, longest, holds;
static const char *longest_by;
extern const char __executable_start;

void lock_calls_taking(struct lock *lock)
{
	(void)lock;
}

void lock_calls_begin(const struct lock *lock)
{
	if (lock->rank == LOCK_RANK_SCHED)
		held_since = clock_now_ns();
}

void lock_calls_end(const struct lock *lock, const void *by)
{
	if (lock->rank != LOCK_RANK_SCHED)
		return;
	uint64_t held = clock_now_ns() - held_since;
	holds++;
	if (held <= longest)
		return;
	longest = held;
	longest_by = by;
}

void lock_calls_woken(void)
{
}

static struct sched *sched;
static enum view_layout layout;

static void say(const char *what)
{
	/* takes the lock, so the holds of other threads have ended and are counted */
	sched_stats(sched);
	printf("  %-40s %9.3f ms  let go at %#tx, of %lu holds\n", what,
		(double)longest / 1e6, longest_by - &__executable_start,
		(unsigned long)holds);
	fflush(stdout);
	longest = holds = 0;
}

static struct sched_job *add(char *name, char *where)
{
	return one_image_add(sched, (struct job_config){.name = name,
					    .where = where,
					    .layout = layout,
					    .epochs = 3,
					    .keep_epochs = 10,
					    .lookahead = 64});
}

static void read_some(struct sched_job *job, uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i < end; i++)
		one_image_read(job, 0, i);
}

static void take_away(struct sched_job *job, const char *name)
{
	one_image_check(sched_job_remove(sched, name), "remove");
	sched_job_put(job);
}

static void measure(void)
{
	static char a[] = "a", b[] = "b", c[] = "c", d[] = "d", third[] = "id % 3 = 0",
		    fifth[] = "id % 5 = 0";
	struct sched_job *job_a, *job_b, *job_c, *job_d;
	job_d = add(d, fifth);
	say("the first job joins");
	take_away(job_d, d);
	say("it leaves unread");
	job_a = add(a, NULL);
	say("another one joins");
	read_some(job_a, 0, 1);
	say("its epoch begins: coarser classes");
	job_b = add(b, NULL);
	say("the same samples join");
	read_some(job_b, 0, 1);
	say("its epoch begins");
	read_some(job_a, 1, READS);
	read_some(job_b, 1, READS);
	say("both read");
	job_c = add(c, third);
	say("a third of the samples join");
	read_some(job_c, 0, 1);
	say("its epoch begins");
	read_some(job_c, 1, READS);
	read_some(job_a, READS, 2 * READS);
	say("two read");
	take_away(job_c, c);
	say("the third leaves in its epoch");
	take_away(job_b, b);
	say("the second leaves in its epoch");
	take_away(job_a, a);
	say("the last one leaves in its epoch");
}

static void run(const char *title, enum view_layout of, struct dataset *dataset)
{
	struct daemon_config config = {
		.cache_bytes = 30000 * ONE_IMAGE_SIDE * ONE_IMAGE_SIDE * 3,
		.sampler = SAMPLER_EXCHANGE,
		.workers = 2,
		.max_pixels = 1000000,
		.seed = 1,
		.state = one_image_directory()};
	printf("%s, %u samples\n", title, dataset_samples(dataset));
	layout = of;
	one_image_check(sched_new(&config, &dataset, 1, &sched), "start");
	longest = holds = 0;
	measure();
	sched_stop(sched);
	sched_free(&sched);
}

int main(int argc, char **argv)
{
	struct dataset *dataset =
		one_image_new(argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1281167);
	run("flat", LAYOUT_FLAT, dataset);
	run("classes", LAYOUT_CLASSES, dataset);
	dataset_close(&dataset);
	return 0;
}
