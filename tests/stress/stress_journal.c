// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Threads append records under the caller's lock and flush without it, while another thread syncs
 * and forgets segments. When a flush returns, the thread's records are in the files. A replay must
 * find all records in their order. A second run has a disk that is full now and then. A third run
 * has one segment, which is rewritten again and again without old opens.
 */

#include "base/ensure.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/log.h"
#include "epoch/journal_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define THREADS 6
#define RECORDS_EACH 20000
#define EPOCH 2000 /* records of an epoch, unless the segment is rewritten */
#define ANEW 4	   /* least number of times that the segment is rewritten */
#define POSITIONS (2 * EPOCH)
#define FEW 64 /* positions of the epoch whose segment is rewritten */

struct test {
	char directory[32];
	bool faults, compacts;
	atomic_uint anew;
	struct journal *journal;
	struct lock lock; /* stands for the scheduler's lock */
	uint32_t n;	  /* (lock) number of records, with the BEGUN records */
	atomic_bool over;
};

static const struct journal_identity identity = {
	.job = "job", .id = 1, .positions = POSITIONS, .samples = POSITIONS};

/* Returns the i-th record, the same for appends and for the replay. */
static struct record record_of(uint32_t i, bool compacts)
{
	if (compacts && i > 0)
		return (struct record){.kind = i % 3 ? RECORD_OPENED : RECORD_BOUND,
			.position = i % FEW,
			.sample = i % 3 ? 0 : i % FEW,
			.reader = {.thread = i % 3 ? i : 0}};
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

/* Appends up to n records. Returns the number of all records. */
static uint32_t append(struct test *test, uint32_t n)
{
	LOCK_SCOPE(&test->lock);
	for (uint32_t i = 0; i < n; i++) {
		struct record record = record_of(test->n++, test->compacts);
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

static bool lacks_compaction(const struct test *test)
{
	return test->compacts && atomic_load(&test->anew) < ANEW;
}

static void *append_and_flush(void *context)
{
	struct test *test = context;
	for (uint32_t done = 0; done < RECORDS_EACH || lacks_compaction(test);) {
		uint32_t some = 1 + done % 5;
		uint32_t n = append(test, some);
		done += some;
		journal_flush(test->journal);
		if (!test->faults && !test->compacts && done % 64 < 5)
			ensure(bytes_in_files(test) >= (uint64_t)n * 16);
	}
	return NULL;
}

static uint64_t compacted(struct journal *journal)
{
	LOCK_SCOPE(&journal->lock);
	return journal->compacted;
}

static void compact(struct test *test)
{
	uint64_t before = compacted(test->journal);
	journal_compact(test->journal);
	if (compacted(test->journal) != before)
		atomic_fetch_add(&test->anew, 1);
}

static void *sync_all_the_time(void *context)
{
	struct test *test = context;
	while (!atomic_load(&test->over)) {
		if (test->compacts)
			compact(test);
		int err = journal_sync(test->journal);
		ensure(err == 0 || (test->faults && err == -ENOSPC));
		if (test->faults)
			journal_forget(test->journal, 0);
		struct timespec pause = {.tv_nsec = 1000 * 1000};
		nanosleep(&pause, NULL);
	}
	return NULL;
}

struct replay {
	uint32_t n;
	bool compacts; /* opens may be missing, because the segment was rewritten */
};

static int check_record(
	void *context, const struct record *record, const char **ret_reason)
{
	struct replay *replay = context;
	struct record expected;
	(void)ret_reason;
	do
		expected = record_of(replay->n++, replay->compacts);
	while (replay->compacts && expected.kind == RECORD_OPENED &&
		expected.reader.thread != record->reader.thread);
	ensure(record->kind == expected.kind && record->epoch == expected.epoch);
	ensure(record->position == expected.position);
	ensure(record->sample == expected.sample &&
		record->reader.thread == expected.reader.thread);
	return 0;
}

static void open_journal(struct test *test, uint32_t expected)
{
	enum journal_found found;
	struct journal_identity of = identity;
	struct replay replay = {.compacts = test->compacts};
	if (test->compacts)
		of.positions = FEW;
	ensure(journal_open(test->directory, &of, check_record, &replay, &found,
		       &test->journal) == 0);
	ensure(replay.n == expected);
	if (test->compacts)
		test->journal->long_from = 0;
}

static void run(bool faults, bool compacts)
{
	struct test test = {.directory = "/tmp/joaderfs-test.XXXXXX",
		.faults = faults,
		.compacts = compacts};
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
	ensure(!lacks_compaction(&test));
	lock_destroy(&test.lock);
	snprintf(command, sizeof(command), "rm -rf '%s'", test.directory);
	ensure(system(command) == 0);
}

int main(void)
{
	ensure(log_to_file("/dev/null") == 0);
	run(false, false);
	run(true, false);
	run(false, true);
	return 0;
}
