// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* journal [DIRECTORY]: measures the cost of a job's journal: of a record in memory; of records that
 * are written to the kernel 1, 4 or 64 at a time, as if so many readers opened files at once; of
 * reading the journal after a restart; and of listing 300 saved orders 64 times, as for 64 jobs.
 * The costs of a record are the best of ROUNDS repetitions; reading and listing are measured once.
 * There is one thread, and nothing waits for the disk. The default DIRECTORY is $TMPDIR, or else
 * /tmp. */

#include "base/clock.h"
#include "base/ensure.h"
#include "epoch/journal.h"
#include "epoch/order.h"

#define RECORDS 16384
#define ROUNDS 20
#define REPLAYED 4000000

static const struct journal_identity identity = {
	.job = "bench", .id = 1, .positions = REPLAYED, .samples = REPLAYED};

static int count(void *context, const struct record *record, const char **ret_reason)
{
	(void)record, (void)ret_reason;
	++*(size_t *)context;
	return 0;
}

static struct journal *open_journal(const char *directory, size_t *ret_records)
{
	struct journal *journal;
	enum journal_found found;
	*ret_records = 0;
	ensure(journal_open(directory, &identity, count, ret_records, &found, &journal) ==
		0);
	return journal;
}

/* Returns ns per record. group: records that are flushed to the kernel at a time; 0: none are. */
static double round_of(struct journal *journal, enum record_kind kind, uint32_t group)
{
	struct record record = {.kind = kind, .reader = {.thread = 12345}};
	journal_flush(journal);
	uint64_t begin = clock_now_ns();
	for (uint32_t i = 0; i < RECORDS; i++) {
		record.position = i;
		record.sample = i;
		journal_append(journal, &record);
		if (group > 0 && (i + 1) % group == 0)
			journal_flush(journal);
	}
	return (double)(clock_now_ns() - begin) / RECORDS;
}

static double best(struct journal *journal, enum record_kind kind, uint32_t group)
{
	double least = round_of(journal, kind, group);
	for (int i = 1; i < ROUNDS; i++) {
		double ns = round_of(journal, kind, group);
		least = ns < least ? ns : least;
	}
	return least;
}

static void print_appends(const char *directory)
{
	size_t records;
	struct record begun = {.kind = RECORD_BEGUN};
	struct journal *journal = open_journal(directory, &records);
	journal_append(journal, &begun);
	printf("append, ns:              BOUND %.0f, OPENED %.0f, CONSUMED %.0f\n",
		best(journal, RECORD_BOUND, 0), best(journal, RECORD_OPENED, 0),
		best(journal, RECORD_CONSUMED, 0));
	printf("and flush, ns a record:  each %.0f, 4 at once %.0f, 64 at once %.0f\n",
		best(journal, RECORD_BOUND, 1), best(journal, RECORD_BOUND, 4),
		best(journal, RECORD_BOUND, 64));
	journal_close(&journal);
}

static void print_replay(const char *directory)
{
	size_t records;
	struct record record = {.kind = RECORD_BEGUN, .epoch = 1};
	struct journal *journal = open_journal(directory, &records);
	journal_append(journal, &record);
	for (uint32_t i = 0; i < REPLAYED; i++) {
		record = (struct record){
			.kind = RECORD_BOUND, .epoch = 1, .position = i, .sample = i};
		journal_append(journal, &record);
	}
	journal_close(&journal);
	uint64_t begin = clock_now_ns();
	journal = open_journal(directory, &records);
	double ns = (double)(clock_now_ns() - begin);
	printf("replay:                  %.0f ns a record, %.2f s for %zu\n",
		ns / (double)records, ns / 1e9, records);
	journal_close(&journal);
}

/* Measures the listing of the saved orders, which the daemon does for each added job. */
static void print_orders(const char *directory)
{
	enum { JOBS = 64, EPOCHS = 300 };
	uint32_t samples[] = {1, 2, 3}, log[] = {0, 1, 2}, *epochs;
	struct order order = {.positions = 3, .bound = 3, .samples = samples, .log = log};
	size_t n;
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
		ensure(order_save(directory, epoch, 1, &order) == 0);
	uint64_t begin = clock_now_ns();
	for (int job = 0; job < JOBS; job++) {
		ensure(order_list(directory, &(struct order_set){3, 1}, 1, &epochs, &n) ==
				0 &&
			n == EPOCHS);
		free(epochs);
	}
	printf("orders listed:           %.3f s for %d jobs with %d epochs each\n",
		(double)(clock_now_ns() - begin) / 1e9, JOBS, EPOCHS);
}

int main(int argc, char **argv)
{
	const char *parent = argc > 1 ? argv[1] : getenv("TMPDIR");
	char directory[4096], command[4200];
	snprintf(directory, sizeof(directory), "%s/joaderfs-bench.XXXXXX",
		parent ? parent : "/tmp");
	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	print_appends(directory);
	print_replay(directory);
	print_orders(directory);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command) != 0;
}
