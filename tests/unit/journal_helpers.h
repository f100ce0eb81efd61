// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/fault.h"
#include "base/log.h"
#include "epoch/journal.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A journal in its own directory, and the records of a replay. */

static char directory[] = "/tmp/joaderfs-test.XXXXXX";

static inline void make_directory(void)
{
	cr_assert(mkdtemp(directory));
	cr_assert_eq(0, log_to_file("/dev/null"));
}

static inline void remove_directory(void)
{
	char command[64];
	fault_clear();
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	cr_assert_eq(0, system(command));
}

static inline const char *file(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static inline bool exists(const char *name)
{
	return access(file(name), F_OK) == 0;
}

static inline size_t size_of(const char *name)
{
	struct stat st;
	return stat(file(name), &st) == 0 ? (size_t)st.st_size : 0;
}

/* Returns the content of a file. The caller frees it. */
static inline uint8_t *read_file(const char *name, size_t *ret_size)
{
	*ret_size = size_of(name);
	uint8_t *bytes = malloc(*ret_size + 1);
	int fd = open(file(name), O_RDONLY);
	cr_assert(bytes && fd >= 0);
	cr_assert_eq((ssize_t)*ret_size, read(fd, bytes, *ret_size + 1));
	close(fd);
	return bytes;
}

static inline void write_file(const char *name, const void *bytes, size_t size)
{
	int fd = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	cr_assert(fd >= 0);
	cr_assert_eq((ssize_t)size, write(fd, bytes, size));
	close(fd);
}

/* Sends log messages to a file in the directory. */
static inline void catch_log(void)
{
	cr_assert_eq(0, log_to_file(file("log")));
}

static inline unsigned logged(const char *text)
{
	size_t size;
	unsigned n = 0;
	char *log = (char *)read_file("log", &size);
	log[size] = '\0';
	for (const char *at = log; (at = strstr(at, text)); at++)
		n++;
	free(log);
	return n;
}

#define POSITIONS 1000
#define SAMPLES 2000

static const struct journal_identity identity = {.job = "job",
	.id = 7,
	.positions = POSITIONS,
	.samples = SAMPLES,
	.fingerprint = 0x123456789abcdef0};

struct replay {
	struct record *records;
	size_t n, capacity;
	size_t refuse_at; /* index of the record that is refused; 0: none */
};

static inline int note_record(
	void *context, const struct record *record, const char **ret_reason)
{
	struct replay *replay = context;
	if (replay->n == replay->capacity) {
		replay->capacity = replay->capacity ? 2 * replay->capacity : 64;
		replay->records =
			reallocarray(replay->records, replay->capacity, sizeof(*record));
		cr_assert(replay->records);
	}
	replay->records[replay->n++] = *record;
	if (replay->refuse_at == 0 || replay->n < replay->refuse_at)
		return 0;
	*ret_reason = "the test says so";
	return -EINVAL;
}

static inline bool same_record(const struct record *a, const struct record *b)
{
	return a->kind == b->kind && a->epoch == b->epoch && a->position == b->position &&
	       a->sample == b->sample && a->served == b->served && a->rolls == b->rolls &&
	       a->how == b->how && a->label == b->label &&
	       memcmp(&a->reader, &b->reader, sizeof(a->reader)) == 0;
}

/* Replays the journal in the directory. */
static inline int replay_all(
	struct replay *replay, enum journal_found *ret_found, struct journal **ret)
{
	replay->n = 0;
	return journal_open(directory, &identity, note_record, replay, ret_found, ret);
}

static inline struct journal *open_new(void)
{
	struct replay replay = {0};
	struct journal *journal;
	enum journal_found found;
	cr_assert_eq(0, replay_all(&replay, &found, &journal));
	cr_assert_eq(JOURNAL_NEW, found);
	cr_assert_eq(0, replay.n);
	return journal;
}

static inline void expect_records(const struct record *records, size_t n)
{
	struct replay replay = {0};
	struct journal *journal;
	enum journal_found found;
	cr_assert_eq(0, replay_all(&replay, &found, &journal));
	cr_assert_eq(n ? JOURNAL_SAME : JOURNAL_NEW, found);
	cr_assert_eq(n, replay.n, "%zu records, expected %zu", replay.n, n);
	for (size_t i = 0; i < n; i++)
		cr_assert(same_record(&records[i], &replay.records[i]), "record %zu", i);
	journal_close(&journal);
	free(replay.records);
}

static inline struct record begun(uint32_t epoch)
{
	return (struct record){.kind = RECORD_BEGUN, .epoch = epoch};
}

static inline struct record bound(uint32_t epoch, uint32_t position, sample_id sample)
{
	return (struct record){.kind = RECORD_BOUND,
		.epoch = epoch,
		.position = position,
		.sample = sample,
		.served = SERVED_HIT};
}

static inline struct record ended(uint32_t epoch)
{
	return (struct record){.kind = RECORD_ENDED, .epoch = epoch};
}

static inline void append_all(
	struct journal *journal, const struct record *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		journal_append(journal, &records[i]);
}

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Records of every kind, in three epochs. */
static const struct record samples_of_all[] = {
	{.kind = RECORD_BEGUN, .epoch = 0},
	{.kind = RECORD_BOUND, .position = 999, .sample = 1999, .served = SERVED_SHARED},
	{.kind = RECORD_OPENED,
		.position = 999,
		.reader = {0xfedcba9876543210, 0x123456789abcdef0, 0x5a5a5a5aa5a5a5a5},
		.how = OPENED_BEHIND,
		.label = true},
	{.kind = RECORD_BOUND, .position = 0, .sample = 0, .served = SERVED_DECODED},
	{.kind = RECORD_OPENED, .position = 0, .reader = {0xfedcba9876543210, 7, 8}},
	{.kind = RECORD_OPENED, .position = 0, .reader = {0}},
	{.kind = RECORD_OPENED,
		.position = 999,
		.reader = {.thread = 1},
		.how = OPENED_LATE},
	{.kind = RECORD_CONSUMED, .position = 999},
	{.kind = RECORD_BEGUN, .epoch = 1, .rolls = true},
	{.kind = RECORD_CONSUMED, .epoch = 0, .position = 0},
	{.kind = RECORD_OPENED, .epoch = 0, .position = 0, .reader = {.thread = 1}},
	{.kind = RECORD_ENDED, .epoch = 0},
	{.kind = RECORD_LET_GO, .epoch = 0},
	{.kind = RECORD_BOUND,
		.epoch = 1,
		.position = 7,
		.sample = 5,
		.served = SERVED_HIT},
	{.kind = RECORD_ENDED, .epoch = 1},
	{.kind = RECORD_BEGUN, .epoch = 2},
};
#define N_SAMPLES_OF_ALL N_OF(samples_of_all)
