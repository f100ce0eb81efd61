// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/order.h"
#include "journal_helpers.h"

/* Segments are made, forgotten and set aside. */

TestSuite(journal_segments, .init = make_directory, .fini = remove_directory);

static void write_all(void)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, N_SAMPLES_OF_ALL);
	journal_close(&journal);
}

Test(journal_segments, of_earlier_epochs_are_forgotten)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, N_SAMPLES_OF_ALL);
	journal_flush(journal);
	journal_forget(journal, 0);
	cr_assert(exists("journal-0000"));
	journal_forget(journal, 1);
	cr_assert(!exists("journal-0000") && exists("journal-0001"));
	journal_forget(journal, 1000000);
	cr_assert(!exists("journal-0001") && exists("journal-0002"));
	journal_forget(journal, 1000000);
	cr_assert(exists("journal-0002"), "the newest says whose journal it is");
	journal_close(&journal);
	expect_records(&samples_of_all[15], 1);
}

/* Records that are not in a file yet can't replace records in files. */
Test(journal_segments, that_are_in_memory_do_not_count)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, 8);
	journal_flush(journal);
	append_all(journal, samples_of_all + 8, N_SAMPLES_OF_ALL - 8);
	journal_forget(journal, 2);
	cr_assert(exists("journal-0000"));
	journal_flush(journal);
	journal_forget(journal, 2);
	cr_assert(!exists("journal-0000") && !exists("journal-0001"));
	journal_close(&journal);
}

Test(journal_segments, of_a_job_that_was_restarted_are_forgotten_too)
{
	struct replay replay = {0};
	struct journal *journal;
	enum journal_found found;
	write_all();
	cr_assert_eq(0, replay_all(&replay, &found, &journal));
	journal_forget(journal, 2);
	cr_assert(!exists("journal-0000") && !exists("journal-0001"));
	journal_close(&journal);
	free(replay.records);
}

Test(journal_segments, of_a_job_that_is_removed_do_not_come_back)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, 8);
	journal_flush(journal);
	append_all(journal, samples_of_all + 8, 2);
	journal_abandon(journal);
	remove_directory();
	journal_flush(journal);
	cr_assert_eq(0, journal_sync(journal));
	journal_close(&journal);
	cr_assert(!exists(""));
	cr_assert_eq(0, mkdir(directory, 0755));
}

/* A job may continue at any epoch, and there may be many epochs. */
Test(journal_segments, are_in_numeric_order)
{
	struct record records[3 * 30];
	struct journal *journal = open_new();
	for (uint32_t i = 0; i < 30; i++) {
		records[3 * i] = begun(9985 + i);
		records[3 * i + 1] = bound(9985 + i, i, i);
		records[3 * i + 2] = ended(9985 + i);
	}
	append_all(journal, records, N_OF(records));
	journal_close(&journal);
	cr_assert(exists("journal-9985") && exists("journal-10014"));
	expect_records(records, N_OF(records));
}

/* --- before/ --- */

static void save_order(uint32_t epoch)
{
	uint32_t samples[] = {1}, log[] = {0};
	struct order order = {.positions = 1, .bound = 1, .samples = samples, .log = log};
	cr_assert_eq(0, order_save(directory, epoch, 1, &order));
}

static void expect_set_aside(void)
{
	cr_assert(!exists("journal-0000") && !exists("journal-0002"));
	cr_assert(!exists("epoch-0000.order") && !exists("before.new"));
	cr_assert(exists("before/journal-0000") && exists("before/journal-0002"));
	cr_assert(exists("before/epoch-0000.order") && !exists("before.old"));
	cr_assert(exists("job.ini"));
}

Test(journal_segments, are_set_aside_with_the_orders)
{
	write_all();
	save_order(0);
	write_file("job.ini", "x", 1);
	cr_assert_eq(0, journal_set_aside(directory));
	expect_set_aside();
	expect_records(NULL, 0);
}

Test(journal_segments, that_were_set_aside_earlier_are_replaced)
{
	cr_assert_eq(0, mkdir(file("before"), 0755));
	write_file("before/journal-0777", "x", 1);
	write_all();
	save_order(0);
	write_file("job.ini", "x", 1);
	cr_assert_eq(0, journal_set_aside(directory));
	expect_set_aside();
	cr_assert(!exists("before/journal-0777"));
}

/* Wherever the operation was interrupted, it is undone or completed. */
Test(journal_segments, are_set_aside_all_or_none)
{
	write_all();
	save_order(0);
	write_file("job.ini", "x", 1);
	cr_assert_eq(0, mkdir(file("before.new"), 0755));
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
	cr_assert(!exists("before.new"));

	cr_assert_eq(0, mkdir(file("before.new"), 0755));
	cr_assert_eq(0, rename(file("journal-0002"), file("before.new/journal-0002")));
	cr_assert_eq(
		0, rename(file("epoch-0000.order"), file("before.new/epoch-0000.order")));
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
	cr_assert(exists("epoch-0000.order") && !exists("before.new"));

	/* before/ was renamed, and its successor is not in its place yet. */
	cr_assert_eq(0, mkdir(file("before.new"), 0755));
	cr_assert_eq(0, rename(file("journal-0002"), file("before.new/journal-0002")));
	cr_assert_eq(0, mkdir(file("before.old"), 0755));
	write_file("before.old/journal-0777", "x", 1);
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
	cr_assert(exists("before/journal-0777") && !exists("before.old"));

	/* Only the removal of the old before/ is missing. */
	cr_assert_eq(0, rename(file("before"), file("before.old")));
	cr_assert_eq(0, mkdir(file("before"), 0755));
	cr_assert_eq(0, journal_set_aside(directory));
	expect_set_aside();
	cr_assert(!exists("before/journal-0777"));
}

/* The dataset was scanned again, and later epochs have other samples. */
Test(journal_segments, may_be_of_different_samples)
{
	const struct order_set before = {identity.positions, identity.fingerprint};
	const struct order_set after = {2 * POSITIONS, 99};
	const struct record records[] = {
		begun(0), bound(0, 3, 4), ended(0), begun(1), bound(1, POSITIONS + 1, 5)};
	struct journal_identity now = identity;
	struct order_found *sets;
	struct replay replay = {0};
	enum journal_found found;
	size_t n;
	struct journal *journal = open_new();
	append_all(journal, records, 3);
	journal_use(journal, &after);
	append_all(journal, records + 3, 2);
	journal_close(&journal);
	cr_assert_eq(0, journal_sets(directory, &sets, &n));
	cr_assert(n == 2 && sets[0].epoch == 0 && sets[1].epoch == 1);
	cr_assert_eq(sets[0].set.fingerprint, before.fingerprint);
	cr_assert_eq(sets[1].set.positions, after.positions);
	free(sets);
	now.positions = after.positions;
	now.fingerprint = after.fingerprint;
	cr_assert_eq(
		0, journal_open(directory, &now, note_record, &replay, &found, &journal));
	cr_assert_eq(JOURNAL_OTHER, found, "the first segment is none of its");
	now.others = &before;
	now.n_others = 1;
	cr_assert_eq(
		0, journal_open(directory, &now, note_record, &replay, &found, &journal));
	cr_assert_eq(JOURNAL_SAME, found);
	cr_assert_eq(replay.n, N_OF(records));
	for (size_t i = 0; i < replay.n; i++)
		cr_assert(same_record(&records[i], &replay.records[i]), "record %zu", i);
	journal_close(&journal);
	free(replay.records);
}
