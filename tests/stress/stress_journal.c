// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Threads that append under the caller's lock and flush without it, while another one
 * syncs and forgets. What a thread has flushed is in the files when it goes on; a replay
 * finds all records in their order. A second time with a disk that is full now and then.
 */

#include "base/ensure.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/log.h"
#include "epoch/journal.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define THREADS 6
#define RECORDS_EACH 20000
#define EPOCH 2000 /* records in one */
#define POSITIONS (2 * EPOCH)

struct test {
	char directory[32];
	bool faults;
	struct journal *journal;
	struct lock lock; /* as the scheduler's */
	uint32_t n;	  /* (lock) records, with the BEGUNs */
	atomic_bool over;
};

static const struct journal_identity identity = {
	.job = "job", .id = 1, .positions = POSITIONS, .samples = POSITIONS};

/* The i-th of all: the replay must see the same ones. */
static struct record record_of(uint32_t i)
{
	if (i % EPOCH == 0)
		return (struct record){.kind = RECORD_BEGUN, .epoch = i / EPOCH};
	if (i % 3 == 0)
		return (struct record){.kind = RECORD_OPENED,
			.epoch = i / EPOCH,
			.position = i % POSITIONS,
			.reader = {.thread = i % 7}};
	return (struct record){.kind = RECORD_BOUND,
		.epoch = i / EPOCH,
		.position = i % POSITIONS,
		.sample = i % 17};
}

/* How many there are now. */
static uint32_t append(struct test *test, uint32_t n)
{
	LOCK_SCOPE(&test->lock);
	for (uint32_t i = 0; i < n; i++) {
		struct record record = record_of(test->n++);
		journal_append(test->journal, &record);
	}
	return test->n;
}

static uint64_t bytes_in_files(const struct test *test)
{
	uint64_t bytes = 0;
	struct stat st;
	for (uint32_t epoch = 0; epoch <= THREADS * RECORDS_EACH * 2 / EPOCH; epoch++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/journal-%04u", test->directory, epoch);
		if (stat(path, &st) == 0)
			bytes += (uint64_t)st.st_size;
	}
	return bytes;
}

static void *append_and_flush(void *context)
{
	struct test *test = context;
	for (uint32_t done = 0; done < RECORDS_EACH;) {
		uint32_t some = 1 + done % 5;
		uint32_t n = append(test, some);
		done += some;
		journal_flush(test->journal);
		if (!test->faults && done % 64 < 5)
			ensure(bytes_in_files(test) >= (uint64_t)n * 16);
	}
	return NULL;
}

static void *sync_all_the_time(void *context)
{
	struct test *test = context;
	while (!atomic_load(&test->over)) {
		int err = journal_sync(test->journal);
		ensure(err == 0 || (test->faults && err == -ENOSPC));
		if (test->faults)
			journal_forget(test->journal, 0);
		struct timespec pause = {.tv_nsec = 1000 * 1000};
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static int check_record(
	void *context, const struct record *record, const char **ret_reason)
{
	uint32_t *n = context;
	struct record expected = record_of((*n)++);
	(void)ret_reason;
	ensure(record->kind == expected.kind && record->epoch == expected.epoch);
	ensure(record->position == expected.position);
	ensure(record->sample == expected.sample &&
		record->reader.thread == expected.reader.thread);
	return 0;
}

static void open_journal(struct test *test, uint32_t expected)
{
	enum journal_found found;
	uint32_t n = 0;
	ensure(journal_open(test->directory, &identity, check_record, &n, &found,
		       &test->journal) == 0);
	ensure(n == expected);
}

static void run(bool faults)
{
	struct test test = {.directory = "/tmp/joaderfs-test.XXXXXX", .faults = faults};
	pthread_t threads[THREADS], syncing;
	char command[64];
	ensure(mkdtemp(test.directory));
	lock_init(&test.lock, LOCK_RANK_SCHED, "stress");
	if (faults)
		ensure(fault_add("journal.write:ENOSPC:after=500:times=4") == 0);
	open_journal(&test, 0);
	ensure(pthread_create(&syncing, NULL, sync_all_the_time, &test) == 0);
	for (int i = 0; i < THREADS; i++)
		ensure(pthread_create(&threads[i], NULL, append_and_flush, &test) == 0);
	for (int i = 0; i < THREADS; i++)
		ensure(pthread_join(threads[i], NULL) == 0);
	atomic_store(&test.over, true);
	ensure(pthread_join(syncing, NULL) == 0);
	fault_clear();
	journal_close(&test.journal);
	open_journal(&test, test.n);
	journal_close(&test.journal);
	lock_destroy(&test.lock);
	snprintf(command, sizeof(command), "rm -rf '%s'", test.directory);
	ensure(system(command) == 0);
}

int main(void)
{
	ensure(log_to_file("/dev/null") == 0);
	run(false);
	run(true);
	return 0;
}
