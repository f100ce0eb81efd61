// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "journal_helpers.h"

#include <endian.h>
#include <zlib.h>

TestSuite(journal_damage, .init = make_directory, .fini = remove_directory);

#define HEAD 64
#define RECORD 16

static void write_all(void)
{
	struct journal *journal = open_new();
	append_all(journal, samples_of_all, N_SAMPLES_OF_ALL);
	journal_close(&journal);
}

/* One segment with four records of 16 bytes. */
static const struct record small[] = {
	{.kind = RECORD_BEGUN, .epoch = 3},
	{.kind = RECORD_BOUND, .epoch = 3, .position = 1, .sample = 2},
	{.kind = RECORD_BOUND, .epoch = 3, .position = 2, .sample = 1},
	{.kind = RECORD_CONSUMED, .epoch = 3, .position = 1},
};

static uint8_t *write_small(size_t *ret_size)
{
	struct journal *journal = open_new();
	append_all(journal, small, N_OF(small));
	journal_close(&journal);
	return read_file("journal-0003", ret_size);
}

static void remove_file(const char *name)
{
	cr_assert(unlink(file(name)) == 0 || errno == ENOENT);
}

/* Writes the file as the only segment. */
static void put_alone(const void *bytes, size_t size)
{
	remove_file("journal-0003.damaged");
	write_file("journal-0003", bytes, size);
}

Test(journal_damage, a_torn_tail_is_cut_off_and_kept)
{
	size_t size, cut_size;
	uint8_t *bytes = write_small(&size);
	cr_assert_eq(HEAD + N_OF(small) * RECORD, size);
	for (size_t end = 0; end < size; end++) {
		put_alone(bytes, end);
		size_t whole = end < HEAD ? 0 : (end - HEAD) / RECORD;
		size_t kept = whole ? HEAD + whole * RECORD : 0;
		catch_log();
		expect_records(small, whole);
		cr_assert_eq(kept, size_of("journal-0003"));
		if (kept == end) {
			cr_assert(!exists("journal-0003.damaged"));
			continue;
		}
		uint8_t *cut = read_file("journal-0003.damaged", &cut_size);
		cr_assert_eq(end - kept, cut_size);
		cr_assert_arr_eq(bytes + kept, cut, cut_size);
		free(cut);
	}
	free(bytes);
}

Test(journal_damage, after_a_cut_it_goes_on)
{
	size_t size;
	uint8_t *bytes = write_small(&size);
	for (size_t end = 0; end < size; end++) {
		struct replay replay = {0};
		struct journal *journal;
		enum journal_found found;
		put_alone(bytes, end);
		cr_assert_eq(0, replay_all(&replay, &found, &journal));
		append_all(journal, small + replay.n, N_OF(small) - replay.n);
		journal_close(&journal);
		expect_records(small, N_OF(small));
		free(replay.records);
	}
	free(bytes);
}

/* Checks that the journal is refused, or that its records are a prefix of the given ones. */
static void expect_a_prefix(const struct record *records, size_t n)
{
	struct replay replay = {0};
	struct journal *journal;
	enum journal_found found;
	int err = replay_all(&replay, &found, &journal);
	cr_assert(err == 0 || err == -EINVAL);
	cr_assert(replay.n <= n);
	for (size_t i = 0; i < replay.n; i++)
		cr_assert(same_record(&records[i], &replay.records[i]));
	journal_close(&journal);
	free(replay.records);
}

Test(journal_damage, no_flipped_bit_makes_a_record)
{
	size_t size;
	uint8_t *bytes = write_small(&size);
	for (size_t bit = 0; bit < size * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		put_alone(bytes, size);
		expect_a_prefix(small, N_OF(small));
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	free(bytes);
}

Test(journal_damage, records_that_are_moved_or_repeated_are_none)
{
	size_t size;
	uint8_t *bytes = write_small(&size);
	uint8_t changed[HEAD + 8 * RECORD];
	for (size_t to = 0; to < 4; to++)
		for (size_t from = 0; from < 4; from++) {
			memcpy(changed, bytes, size);
			memcpy(changed + HEAD + to * RECORD, bytes + HEAD + from * RECORD,
				RECORD);
			put_alone(changed, size);
			expect_records(small, from == to ? 4 : to);
		}
	memcpy(changed, bytes, size);
	memcpy(changed + size, bytes + HEAD + 3 * RECORD, RECORD);
	put_alone(changed, size + RECORD);
	expect_records(small, 4);
	free(bytes);
}

/* A disk gives back old bytes behind the end: of the same journal, with the same previous records,
 * but begun at another time. */
Test(journal_damage, what_was_there_before_is_not_replayed)
{
	size_t size, old_size;
	uint8_t *old = write_small(&old_size);
	remove_file("journal-0003");
	uint8_t *bytes = write_small(&size);
	cr_assert_eq(old_size, size);
	memcpy(bytes + HEAD + 2 * RECORD, old + HEAD + 2 * RECORD, 2 * RECORD);
	put_alone(bytes, size);
	expect_records(small, 2);
	memset(bytes + HEAD + 2 * RECORD, 0, 2 * RECORD);
	put_alone(bytes, size);
	expect_records(small, 2);
	free(old);
	free(bytes);
}

static void expect_refused(const char *message)
{
	struct replay replay = {0};
	struct journal *journal;
	enum journal_found found;
	remove_file("log");
	catch_log();
	cr_assert_eq(-EINVAL, replay_all(&replay, &found, &journal));
	cr_assert_null(journal);
	cr_assert_eq(1, logged(message), "expected: %s", message);
	cr_assert_eq(1, logged("\n"));
	cr_assert_eq(1, logged("no file was changed"));
	free(replay.records);
}

Test(journal_damage, before_the_last_segment_is_refused)
{
	size_t size, now;
	write_all();
	uint8_t *bytes = read_file("journal-0000", &size);
	for (size_t at = HEAD; at < size; at++) {
		bytes[at] ^= 0x10;
		write_file("journal-0000", bytes, size);
		expect_refused("journal-0000: byte");
		bytes[at] ^= 0x10;
	}
	for (size_t end = 0; end < size; end++)
		if (end < HEAD || (end - HEAD) % RECORD != 0) {
			write_file("journal-0000", bytes, end);
			expect_refused("journal-0000: byte");
			cr_assert_eq(end, size_of("journal-0000"));
		}
	write_file("journal-0000", bytes, size);
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
	uint8_t *after = read_file("journal-0000", &now);
	cr_assert_eq(size, now);
	cr_assert_arr_eq(bytes, after, size);
	free(after);
	free(bytes);
}

Test(journal_damage, a_missing_segment_is_refused)
{
	write_all();
	remove_file("journal-0001");
	expect_refused(
		"journal-0002: byte 44: found that this segment follows journal-0001");
}

/* The oldest segments are removed when they are not needed any more. */
Test(journal_damage, without_its_oldest_segments_it_begins_later)
{
	write_all();
	remove_file("journal-0000");
	/* Records of epoch 0 in segment 1 are left out. */
	struct record rest[] = {samples_of_all[8], samples_of_all[13], samples_of_all[14],
		samples_of_all[15]};
	expect_records(rest, N_OF(rest));
}

Test(journal_damage, another_version_is_refused_and_left_alone)
{
	size_t size, now;
	uint8_t *bytes = write_small(&size);
	bytes[8] = 2;
	put_alone(bytes, size);
	expect_refused("journal-0003: byte 0: found a journal of version 2 (another "
		       "joaderfs reads it), allowed: a journal of version 1");
	uint8_t *after = read_file("journal-0003", &now);
	cr_assert_eq(size, now);
	cr_assert_arr_eq(bytes, after, size);
	bytes[0] = 'X';
	put_alone(bytes, size);
	expect_refused("journal-0003: byte 0: found no journal, allowed");
	free(after);
	free(bytes);
}

Test(journal_damage, what_the_engine_refuses_is_refused)
{
	struct journal *journal;
	enum journal_found found;
	write_all();
	catch_log();
	struct replay replay = {.refuse_at = 2};
	cr_assert_eq(-EINVAL, replay_all(&replay, &found, &journal));
	cr_assert_null(journal);
	cr_assert_eq(
		1, logged("journal-0000: byte 80: found BOUND of epoch 0, position "
			  "999, sample 1999: the test says so; no file was changed"));
	free(replay.records);
	expect_records(samples_of_all, N_SAMPLES_OF_ALL);
}

/* Replaces the second record by another one with a right checksum. */
static void put_record(const uint8_t *bytes, const uint8_t record[static RECORD])
{
	uint8_t changed[HEAD + 2 * RECORD];
	uint32_t before;
	memcpy(changed, bytes, HEAD + RECORD);
	memcpy(changed + HEAD + RECORD, record, RECORD);
	memcpy(&before, bytes + HEAD, sizeof(before));
	uint32_t sum = htole32((uint32_t)crc32(le32toh(before), record + 4, RECORD - 4));
	memcpy(changed + HEAD + RECORD, &sum, sizeof(sum));
	put_alone(changed, sizeof(changed));
}

Test(journal_damage, impossible_records_are_refused)
{
	static const struct {
		uint8_t record[RECORD];
		const char *message;
	} cases[] = {
		{{[4] = 2, [8] = 0xe8, [9] = 3}, "position 1000, allowed: below 1000"},
		{{[4] = 3, [8] = 0xe8, [9] = 3}, "position 1000, allowed: below 1000"},
		{{[4] = 4, [8] = 0xff, [11] = 0xff}, "position 4278190335, allowed"},
		{{[4] = 2, [12] = 0xd0, [13] = 7}, "sample 2000, allowed: below 2000"},
		{{[4] = 2, [5] = 4}, "a BOUND with detail 4, allowed: 0 to 3"},
		{{[4] = 2, [6] = 4}, "a record about 4 epochs before, allowed: up to 3"},
		{{[4] = 3, [12] = 1}, "reader 1, allowed: up to 0"},
		{{[4] = 1},
			"a record of kind 1, allowed: kind 1 (BEGUN) as the first only"},
		{{[4] = 0}, "a record of kind 0, allowed: 1 to 7 and 64"},
		{{[4] = 8}, "a record of kind 8, allowed: 1 to 7 and 64"},
		{{[4] = 255}, "a record of kind 255, allowed: 1 to 7 and 64"},
	};
	size_t size;
	uint8_t *bytes = write_small(&size);
	for (size_t i = 0; i < N_OF(cases); i++) {
		char message[200];
		snprintf(message, sizeof(message), "journal-0003: byte 80: found %s",
			cases[i].message);
		put_record(bytes, cases[i].record);
		expect_refused(message);
		cr_assert_eq(HEAD + 2 * RECORD, size_of("journal-0003"));
	}
	free(bytes);
}

/* A segment says how many epochs back it begins, after a RESTORED, which then is its first record.
 * With a BEGUN the engine has to judge this, and no record is left out. */
Test(journal_damage, an_epoch_that_goes_back_is_not_passed_over)
{
	struct record records[] = {begun(3), begun(4)};
	struct journal *journal = open_new();
	append_all(journal, records, N_OF(records));
	journal_close(&journal);
	size_t size;
	uint8_t *bytes = read_file("journal-0004", &size);
	cr_assert_eq(size, HEAD + RECORD);
	bytes[48] = 2; /* epochs back */
	uint32_t sum = htole32((uint32_t)crc32(0, bytes, HEAD - 4));
	memcpy(bytes + HEAD - 4, &sum, sizeof(sum));
	sum = htole32((uint32_t)crc32(le32toh(sum), bytes + HEAD + 4, RECORD - 4));
	memcpy(bytes + HEAD, &sum, sizeof(sum));
	write_file("journal-0004", bytes, size);
	records[1].epoch = 2;
	expect_records(records, N_OF(records));
	free(bytes);
}
