// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "journal_helpers.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* Disks that are full, fail or are slow; missing memory; the end of the process. */

TestSuite(journal_faults, .init = make_directory, .fini = remove_directory);

static void fault(const char *specification)
{
	cr_assert_eq(0, fault_add(specification));
}

/* The journal tries again only after a while. */
static void wait_for_retry(void)
{
	struct timespec while_ = {.tv_nsec = 110 * 1000 * 1000};
	nanosleep(&while_, NULL);
}

static const char *const disk_errors[] = {"ENOSPC", "EIO", "EPERM"};

Test(journal_faults, what_could_not_be_written_is_written_later)
{
	for (size_t i = 0; i < N_OF(disk_errors); i++) {
		char specification[64];
		struct journal *journal = open_new();
		snprintf(specification, sizeof(specification), "journal.write:%s",
			disk_errors[i]);
		catch_log();
		append_all(journal, samples_of_all, 2);
		journal_flush(journal);
		fault(specification);
		for (size_t k = 2; k < N_SAMPLES_OF_ALL; k++) {
			journal_append(journal, &samples_of_all[k]);
			journal_flush(journal);
		}
		cr_assert_eq(64 + 2 * 16, size_of("journal-0000"));
		cr_assert_lt(journal_sync(journal), 0);
		wait_for_retry();
		journal_flush(journal);
		cr_assert_eq(1, logged("can't be written"), "once");
		cr_assert_eq(0, logged("written again"));
		fault_clear();
		wait_for_retry();
		journal_flush(journal);
		cr_assert_eq(0, journal_sync(journal));
		cr_assert_eq(1, logged("written again; nothing is missing"));
		journal_close(&journal);
		expect_records(samples_of_all, N_SAMPLES_OF_ALL);
		remove_directory();
		cr_assert_eq(0, mkdir(directory, 0755));
	}
}

/* The directory is full when an epoch begins. */
Test(journal_faults, a_segment_that_can_not_be_made_is_made_later)
{
	for (unsigned after = 0; after < 3; after++) {
		char specification[64];
		struct journal *journal = open_new();
		snprintf(specification, sizeof(specification),
			"journal.write:ENOSPC:after=%u:times=1", after);
		fault(specification);
		for (size_t k = 0; k < N_SAMPLES_OF_ALL; k++) {
			journal_append(journal, &samples_of_all[k]);
			if (k % 8 == 0)
				journal_flush(journal);
		}
		cr_assert(!exists("journal-0000.new") && !exists("journal-0001.new"));
		cr_assert_eq(after > 0, exists("journal-0000"));
		journal_close(&journal);
		expect_records(samples_of_all, N_SAMPLES_OF_ALL);
		remove_directory();
		cr_assert_eq(0, mkdir(directory, 0755));
	}
}

Test(journal_faults, tries_again_only_after_a_while)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, 1);
	journal_flush(journal);
	fault("journal.write:ENOSPC:times=1");
	append_all(journal, samples_of_all + 1, 1);
	journal_flush(journal);
	/* There is room again, but the journal has not noticed it yet. */
	journal_flush(journal);
	cr_assert_eq(64 + 16, size_of("journal-0000"));
	wait_for_retry();
	journal_flush(journal);
	cr_assert_eq(64 + 2 * 16, size_of("journal-0000"));
	journal_close(&journal);
}

Test(journal_faults, an_interrupted_write_goes_on)
{
	struct journal *journal = open_new();
	fault("journal.write:EINTR:times=3");
	append_all(journal, samples_of_all, 4);
	journal_flush(journal);
	cr_assert_eq(64 + 7 * 16, size_of("journal-0000")); /* and three READER records */
	journal_close(&journal);
	expect_records(samples_of_all, 4);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;
	cr_assert_eq(0, getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = bytes;
	cr_assert_eq(0, setrlimit(RLIMIT_FSIZE, &limit));
}

/* The file ends in the middle of a record, and perhaps the process ends, too. */
Test(journal_faults, a_record_of_which_a_part_was_written_is_completed)
{
	signal(SIGXFSZ, SIG_IGN);
	for (rlim_t room = 0; room <= 96; room++) {
		struct journal *journal = open_new();
		append_all(journal, samples_of_all, 2);
		journal_flush(journal);
		append_all(journal, samples_of_all + 2, 3);
		limit_files(96 + room);
		journal_flush(journal);
		cr_assert_eq(96 + room, size_of("journal-0000"));
		append_all(journal, samples_of_all + 5, 3);
		size_t torn_size;
		uint8_t *torn = read_file("journal-0000", &torn_size);
		limit_files(RLIM_INFINITY);
		journal_close(&journal);
		expect_records(samples_of_all, 8);
		write_file("journal-0000", torn, torn_size);
		free(torn);
		/* three READER records, OPENED, BOUND, a READER */
		size_t records = room / 16;
		records = records > 5 ? 5 : records;
		expect_records(samples_of_all, 2 + (records > 3 ? records - 3 : 0));
		remove_directory();
		cr_assert_eq(0, mkdir(directory, 0755));
	}
}

Test(journal_faults, a_disk_that_failed_once_is_not_trusted)
{
	struct journal *journal = open_new();
	catch_log();
	append_all(journal, samples_of_all, 2);
	journal_flush(journal);
	fault("journal.sync:EIO:times=1");
	cr_assert_eq(-EIO, journal_sync(journal));
	cr_assert_eq(-EIO, journal_sync(journal), "the kernel says it once only");
	cr_assert_eq(1, logged("can't be written to the disk"));
	append_all(journal, samples_of_all + 2, 7); /* another epoch begins */
	journal_flush(journal);
	cr_assert_eq(0, journal_sync(journal));
	journal_close(&journal);
	expect_records(samples_of_all, 9);
}

Test(journal_faults, the_directory_is_synced_too)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, 2);
	journal_flush(journal);
	fault("journal.sync:EIO:after=1"); /* the sync of the file fails */
	cr_assert_eq(-EIO, journal_sync(journal));
	journal_close(&journal);
}

/* Nothing is removed while the records that replace it may be lost. */
Test(journal_faults, nothing_is_forgotten_before_the_rest_is_on_the_disk)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, N_SAMPLES_OF_ALL);
	journal_flush(journal);
	fault("journal.sync:EIO");
	journal_forget(journal, 2);
	cr_assert(exists("journal-0000") && exists("journal-0001"));
	fault_clear();
	journal_close(&journal);
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
}

/* --- memory --- */

/* Appends without a flush, so that memory has to grow again and again. */
static void append_many(struct journal *journal, uint32_t epoch, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct record record = bound(epoch, i % POSITIONS, i % POSITIONS);
		journal_append(journal, &record);
	}
}

/* Counts the replayed bindings of the epoch, which must be its first ones. */
static uint32_t count_bound(const struct replay *replay, uint32_t epoch)
{
	uint32_t n = 0;
	for (size_t i = 0; i < replay->n; i++) {
		const struct record *record = &replay->records[i];
		if (record->kind != RECORD_BOUND || record->epoch != epoch)
			continue;
		cr_assert_eq(n % POSITIONS, record->position);
		cr_assert_eq(n % POSITIONS, record->sample);
		n++;
	}
	return n;
}

static size_t count_kind(const struct replay *replay, enum record_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < replay->n; i++)
		n += replay->records[i].kind == kind;
	return n;
}

/* Appends two epochs at once, the second one long, and a third one when there is memory again. */
static void append_three_epochs(struct journal *journal, bool lost)
{
	struct record records[] = {begun(0), begun(1), ended(0), ended(1),
		{.kind = RECORD_LET_GO, .epoch = 0}, begun(2), ended(2)};
	records[1].rolls = true;
	journal_append(journal, &records[0]);
	append_many(journal, 0, 1000);
	journal_append(journal, &records[1]);
	append_many(journal, 1, 5000);
	append_many(journal, 0, 1000);
	append_all(journal, &records[2], 3);
	journal_flush(journal);
	cr_assert_eq(lost ? -ENOMEM : 0, journal_sync(journal));
	fault_clear();
	journal_append(journal, &records[5]);
	append_many(journal, 2, 700);
	journal_append(journal, &records[6]);
	journal_flush(journal);
	cr_assert_eq(0, journal_sync(journal));
}

#define GROWS 6 /* times that memory grows, from the first record to the 7000th */

Test(journal_faults, without_memory_the_rest_of_the_epoch_is_left_out)
{
	for (unsigned after = 0; after <= GROWS; after++) {
		char specification[64];
		struct replay replay = {0};
		enum journal_found found;
		struct journal *journal = open_new();
		bool lost = after != GROWS;
		snprintf(specification, sizeof(specification),
			"journal.memory:ENOMEM:after=%u", after);
		fault(specification);
		catch_log();
		append_three_epochs(journal, lost);
		journal_close(&journal);
		cr_assert_eq(0, replay_all(&replay, &found, &journal));
		uint32_t first = count_bound(&replay, 0);
		uint32_t second = count_bound(&replay, 1);
		cr_assert_eq(700, count_bound(&replay, 2), "the next epoch is whole");
		cr_assert(first <= 2000 && second <= 5000 && (first >= 1000 || !second));
		cr_assert(lost || first + second == 7000);
		size_t begins = count_kind(&replay, RECORD_BEGUN);
		size_t ends = count_kind(&replay, RECORD_ENDED);
		cr_assert(begins >= 1 && begins <= 3 && ends == begins);
		cr_assert_eq(lost, logged("no memory for it") > 0);
		journal_close(&journal);
		free(replay.records);
		remove_directory();
		cr_assert_eq(0, mkdir(directory, 0755));
	}
}

/* No earlier epoch can continue beside the next one. */
Test(journal_faults, after_a_lost_epoch_the_next_one_begins_alone)
{
	struct record rolls = begun(1), kept[] = {begun(0), ended(0), begun(2)};
	struct journal *journal = open_new();
	rolls.rolls = true;
	journal_append(journal, &kept[0]);
	append_many(journal, 0, 250); /* 4096 bytes with the BEGUN and its head */
	fault("journal.memory:ENOMEM");
	journal_append(journal, &rolls);
	journal_append(journal, &kept[1]);
	fault_clear();
	rolls.epoch = 2;
	journal_append(journal, &rolls);
	journal_close(&journal);
	struct replay replay = {0};
	enum journal_found found;
	cr_assert_eq(0, replay_all(&replay, &found, &journal));
	cr_assert_eq(1 + 250 + 2, replay.n);
	cr_assert(same_record(&replay.records[251], &kept[1]));
	cr_assert(same_record(&replay.records[252], &kept[2]), "it does not roll");
	journal_close(&journal);
	free(replay.records);
}

/* An epoch may be left out. Then the epoch before it continues beside the next one. */
Test(journal_faults, an_epoch_that_was_left_out_is_not_a_lost_one)
{
	struct record records[] = {begun(0), begun(2), ended(0)};
	struct journal *journal = open_new();
	records[1].rolls = true;
	append_all(journal, records, N_OF(records));
	journal_close(&journal);
	expect_records(records, N_OF(records));
}

/* --- the end of the process --- */

/* Appends records until the process is killed, and writes the number of each flushed one. */
static void append_for_ever(int out)
{
	struct journal *journal = open_new();
	struct record record = begun(0);
	journal_append(journal, &record);
	for (uint32_t i = 0;; i++) {
		record = bound(i / 1000, i % POSITIONS, i % SAMPLES);
		if (i % 1000 == 0 && i > 0) {
			struct record next = begun(i / 1000);
			journal_append(journal, &next);
		}
		journal_append(journal, &record);
		journal_flush(journal);
		if (write(out, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
}

Test(journal_faults, what_is_flushed_survives_the_process)
{
	for (int round = 0; round < 8; round++) {
		int ends[2];
		uint32_t last = 0, i;
		cr_assert_eq(0, pipe(ends));
		pid_t child = fork();
		cr_assert_geq(child, 0);
		if (child == 0)
			append_for_ever(ends[1]);
		close(ends[1]);
		while (last < 400 + 377 * (uint32_t)round &&
			read(ends[0], &i, sizeof(i)) == sizeof(i))
			last = i;
		kill(child, SIGKILL);
		while (read(ends[0], &i, sizeof(i)) == sizeof(i))
			last = i;
		close(ends[0]);
		cr_assert_eq(child, waitpid(child, NULL, 0));

		struct replay replay = {0};
		struct journal *journal;
		enum journal_found found;
		cr_assert_eq(0, replay_all(&replay, &found, &journal));
		uint32_t bindings = (uint32_t)count_kind(&replay, RECORD_BOUND);
		cr_assert(bindings >= last + 1, "%u of %u", bindings, last + 1);
		cr_assert_eq(replay.n, bindings + 1 + (bindings - 1) / 1000);
		journal_close(&journal);
		free(replay.records);
		remove_directory();
		cr_assert_eq(0, mkdir(directory, 0755));
	}
}
