// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * many READERS WORKERS SLEEP_US READS: measures the scheduler, the cache and the decoders without a
 * mount. READERS threads read READS samples in total. If SLEEP_US is 0, the threads read eight
 * jobs, and all samples are in the cache from the start. Otherwise they read one job, and WORKERS
 * decoders sleep SLEEP_US microseconds per sample in addition to decoding.
 *
 * Prints JSON: the reads and their time; for each place in the code that releases a lock, how often
 * this place has released the lock, and how long the lock was held before, including about 20 ns
 * for the clock; how often a thread had to wait for a lock; how many threads were woken. Holds of
 * more than 100 us are among all holds, and are also counted apart (long_holds), because a thread
 * that holds a lock so long has usually lost its CPU meanwhile.
 */

#include "base/clock.h"
#include "base/ensure.h"
#include "image/image.h"
#include "lock_calls.h"
#include "one_image.h"
#include "sched/jobs.h"
#include "sched/sched.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#define JOBS 8
#define SAMPLES 20000
#define MAX_READERS 1024

#define PLACES 512
#define DEPTH 8 /* most locks that a thread holds at the same time */
#define LONG_NS 100000

struct place {
	const void *_Atomic by; /* code that releases the lock; NULL: the entry is free */
	const char *lock;
	atomic_ullong holds, ns, longest;
	atomic_ullong long_holds, long_ns; /* holds longer than LONG_NS */
};

static struct place places[PLACES];
static atomic_ullong takes, waits, wakes;
static atomic_bool counts;
static _Thread_local uint64_t since[DEPTH];
static _Thread_local int depth;
extern const char __executable_start;

/* Returns the entry for an address in the code; makes the entry if there is none. */
static struct place *place_of(const void *by, const char *lock)
{
	for (size_t i = (uintptr_t)by % PLACES;; i = (i + 1) % PLACES) {
		const void *found = NULL;
		if (atomic_compare_exchange_strong(&places[i].by, &found, by))
			places[i].lock = lock;
		else if (found != by)
			continue;
		return &places[i];
	}
}

/* Counts a wait if another thread has the lock at this moment. */
void lock_calls_taking(struct lock *lock)
{
	bool taken = pthread_mutex_trylock(&lock->mutex) != 0;
	if (!taken)
		pthread_mutex_unlock(&lock->mutex);
	if (atomic_load(&counts)) {
		atomic_fetch_add(&takes, 1);
		atomic_fetch_add(&waits, taken);
	}
}

void lock_calls_begin(const struct lock *lock)
{
	(void)lock;
	since[depth++] = clock_now_ns();
}

void lock_calls_end(const struct lock *lock, const void *by)
{
	uint64_t ns = clock_now_ns() - since[--depth];
	if (!atomic_load(&counts))
		return;
	struct place *place = place_of(by, lock->name);
	atomic_fetch_add(&place->holds, 1);
	atomic_fetch_add(&place->ns, ns);
	if (ns > LONG_NS) {
		atomic_fetch_add(&place->long_holds, 1);
		atomic_fetch_add(&place->long_ns, ns);
	}
	unsigned long long longest = atomic_load(&place->longest);
	while (ns > longest &&
		!atomic_compare_exchange_weak(&place->longest, &longest, ns))
		;
}

void lock_calls_woken(void)
{
	atomic_fetch_add(&wakes, atomic_load(&counts));
}

static uint64_t sleep_us;

int __real_image_decode(struct image_decoder *decoder, const struct encoded_image *image,
	struct image_output *outputs, size_t n, char message[static IMAGE_MESSAGE]);
int __wrap_image_decode(struct image_decoder *decoder, const struct encoded_image *image,
	struct image_output *outputs, size_t n, char message[static IMAGE_MESSAGE]);

int __wrap_image_decode(struct image_decoder *decoder, const struct encoded_image *image,
	struct image_output *outputs, size_t n, char message[static IMAGE_MESSAGE])
{
	struct timespec time = {.tv_nsec = (long)sleep_us * 1000};
	while (sleep_us > 0 && nanosleep(&time, &time) != 0)
		;
	return __real_image_decode(decoder, image, outputs, n, message);
}

static struct sched *sched;
static uint64_t n_reads;

static int n_jobs;

static struct one_job {
	struct sched_job *job;
	atomic_ullong next; /* next position, counted over all epochs */
	uint64_t end;
} jobs[JOBS];

static void add_jobs(void)
{
	for (int i = 0; i < n_jobs; i++) {
		char name[] = {(char)('a' + i), '\0'};
		jobs[i].job = one_image_add(sched, (struct job_config){.name = name,
							   .layout = LAYOUT_FLAT,
							   .keep_epochs = 2,
							   .lookahead = 256});
	}
}

static void *read_some(void *context)
{
	struct one_job *job = context;
	for (;;) {
		uint64_t at = atomic_fetch_add(&job->next, 1);
		if (at >= job->end)
			return NULL;
		one_image_read(job->job, (uint32_t)(at / SAMPLES), at % SAMPLES);
	}
}

/* Divides the reads and the readers among the jobs. A job without a reader does nothing. */
static uint64_t read_all(int readers)
{
	static pthread_t threads[MAX_READERS];
	int active = readers < n_jobs ? readers : n_jobs;
	for (int i = 0; i < active; i++)
		jobs[i].end = atomic_load(&jobs[i].next) + n_reads / (uint64_t)active;
	uint64_t begin_ns = clock_now_ns();
	atomic_store(&counts, true);
	for (int i = 0; i < readers; i++)
		one_image_check(
			-pthread_create(&threads[i], NULL, read_some, &jobs[i % active]),
			"thread");
	for (int i = 0; i < readers; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&counts, false);
	return clock_now_ns() - begin_ns;
}

static void fill_cache(void)
{
	jobs[0].end = SAMPLES;
	read_some(&jobs[0]);
	atomic_store(&jobs[0].next, SAMPLES);
}

static void print_places(void)
{
	const char *separator = "";
	printf("\"places\": [");
	for (int i = 0; i < PLACES; i++) {
		struct place *place = &places[i];
		if (!place->by)
			continue;
		printf("%s\n{\"lock\": \"%s\", \"at\": \"%#tx\", \"holds\": %llu, "
		       "\"ns\": %llu, \"longest\": %llu, \"long_holds\": %llu, "
		       "\"long_ns\": %llu}",
			separator, place->lock,
			(const char *)place->by - &__executable_start, place->holds,
			place->ns, place->longest, place->long_holds, place->long_ns);
		separator = ",";
	}
	puts("]}");
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fputs("usage: many READERS WORKERS SLEEP_US READS\n", stderr);
		return 2;
	}
	int readers = atoi(argv[1]);
	if (readers < 1 || readers > MAX_READERS)
		one_image_check(-EINVAL, argv[1]);
	sleep_us = strtoull(argv[3], NULL, 10);
	ensure(prctl(PR_SET_TIMERSLACK, 1UL) == 0); /* so that sleeps end in time */
	n_reads = strtoull(argv[4], NULL, 10);
	n_jobs = sleep_us == 0 ? JOBS : 1;
	struct dataset *dataset = one_image_new(SAMPLES);
	struct daemon_config config = {.cache_bytes = UINT64_C(1) << 30,
		.sampler = SAMPLER_DSA,
		.workers = (uint32_t)atoi(argv[2]),
		.max_pixels = 1000000,
		.seed = 1,
		.state = one_image_directory()};
	one_image_check(sched_new(&config, &dataset, 1, &sched), "start");
	add_jobs();
	if (sleep_us == 0)
		fill_cache();
	uint64_t ns = read_all(readers);
	printf("{\"reads\": %" PRIu64 ", \"seconds\": %.6f, \"takes\": %llu, "
	       "\"waits\": %llu, \"wakes\": %llu, ",
		n_reads, (double)ns / 1e9, takes, waits, wakes);
	print_places();
	for (int i = 0; i < n_jobs; i++)
		sched_job_put(jobs[i].job);
	sched_stop(sched);
	sched_free(&sched);
	dataset_close(&dataset);
	return 0;
}
