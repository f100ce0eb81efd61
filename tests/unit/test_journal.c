// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "journal_helpers.h"

TestSuite(journal, .init = make_directory, .fini = remove_directory);

Test(journal, gives_back_what_was_appended)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, N_SAMPLES_OF_ALL);
	journal_close(&journal);
	cr_assert_null(journal);
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
	cr_assert(exists("journal-0000") && exists("journal-0001"));
}

Test(journal, goes_on_after_each_record_where_it_was)
{
	for (size_t i = 0; i < N_SAMPLES_OF_ALL; i++) {
		struct replay replay = {0};
		struct journal *journal;
		enum journal_found found;
		cr_assert_eq(0, replay_all(&replay, &found, &journal));
		cr_assert_eq(i, replay.n);
		journal_append(journal, &samples_of_all[i]);
		journal_close(&journal);
		free(replay.records);
	}
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
}

Test(journal, has_no_file_before_an_epoch_begins)
{
	struct journal *journal = open_new();
	journal_flush(journal);
	cr_assert_eq(0, journal_sync(journal));
	journal_close(&journal);
	cr_assert_eq(0, rmdir(directory));
	cr_assert_eq(0, mkdir(directory, 0755));
}

Test(journal, is_on_the_file_when_it_is_flushed)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, 2);
	cr_assert(!exists("journal-0000"));
	journal_flush(journal);
	cr_assert_eq(64 + 2 * 16, size_of("journal-0000"));
	cr_assert_eq(0, journal_sync(journal));
	cr_assert_eq(0, journal_sync(journal));
	journal_close(&journal);
	expect_records(samples_of_all, 2);
}

Test(journal, of_other_samples_is_not_read)
{
	struct journal *journal = open_new();
	enum journal_found found;
	struct replay replay = {0};
	append_all(journal, samples_of_all, N_SAMPLES_OF_ALL);
	journal_close(&journal);
	struct journal_identity others[] = {identity, identity};
	others[0].fingerprint++;
	others[1].positions++;
	for (size_t i = 0; i < N_OF(others); i++) {
		cr_assert_eq(0, journal_open(directory, &others[i], note_record, &replay,
					&found, &journal));
		cr_assert_eq(JOURNAL_OTHER, found);
		cr_assert_null(journal);
		cr_assert_eq(0, replay.n);
	}
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
}

/* More readers than the journal remembers come again and again. */
Test(journal, knows_each_of_many_readers)
{
	enum { READERS = 1000 };
	struct replay replay = {0};
	struct journal *journal = open_new();
	enum journal_found found;
	struct record record = begun(0);
	journal_append(journal, &record);
	for (unsigned i = 0; i < 3 * READERS; i++) {
		record = (struct record){.kind = RECORD_OPENED,
			.position = i % POSITIONS,
			.reader = {(uint64_t)(i % READERS) * 0x9e3779b97f4a7c15, i % 7,
				i % 3}};
		journal_append(journal, &record);
	}
	journal_close(&journal);
	cr_assert_eq(0, replay_all(&replay, &found, &journal));
	cr_assert_eq(1 + 3 * READERS, replay.n);
	for (unsigned i = 0; i < 3 * READERS; i++)
		cr_assert_eq((uint64_t)(i % READERS) * 0x9e3779b97f4a7c15,
			replay.records[1 + i].reader.thread);
	journal_close(&journal);
	free(replay.records);
}
