// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "epoch/journal.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/*
 * Foreign bytes as two segments of a journal; the first two bytes say how long the first segment
 * is. Nothing may abort, accepted records must be possible, a refused journal must stay unchanged,
 * and an accepted one must be usable for new records. Most mutations get right checksums, because
 * otherwise only the checksums would be tested.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define PREFIX 2
#define HEAD 64
#define RECORD 16
#define POSITIONS 100
#define SAMPLES 200

static const struct journal_identity identity = {
	.job = "job", .id = 1, .positions = POSITIONS, .samples = SAMPLES};

struct input {
	uint8_t *first, *second;
	size_t first_size, second_size;
};

static struct input split(uint8_t *data, size_t size)
{
	struct input input = {0};
	if (size < PREFIX)
		return input;
	size_t first = data[0] | (size_t)data[1] << 8;
	first = first < size - PREFIX ? first : size - PREFIX;
	input.first = data + PREFIX;
	input.first_size = first;
	input.second = data + PREFIX + first;
	input.second_size = size - PREFIX - first;
	return input;
}

static void correct_checksums(uint8_t *segment, size_t size)
{
	if (size < HEAD)
		return;
	uint32_t sum = htole32((uint32_t)crc32(0, segment, HEAD - 4));
	memcpy(segment + HEAD - 4, &sum, sizeof(sum));
	for (size_t at = HEAD; at + RECORD <= size; at += RECORD) {
		sum = htole32(
			(uint32_t)crc32(le32toh(sum), segment + at + 4, RECORD - 4));
		memcpy(segment + at, &sum, sizeof(sum));
	}
}

size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	struct input input = split(data, size);
	if (seed % 8 != 0)
		correct_checksums(input.first, input.first_size);
	if (seed % 8 > 1)
		correct_checksums(input.second, input.second_size);
	return size;
}

/* --- the journal's directory --- */

static char directory[] = "/dev/shm/joaderfs-fuzz.XXXXXX";

static const char *file(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void empty_directory(void)
{
	DIR *dir = opendir(directory);
	ensure(dir);
	for (const struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			ensure(unlink(file(entry->d_name)) == 0);
	closedir(dir);
}

static void remove_directory(void)
{
	empty_directory();
	rmdir(directory);
}

static void put(const char *name, const uint8_t *bytes, size_t size)
{
	auto_close int fd = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ensure(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
}

static bool has(const char *name, const uint8_t *bytes, size_t size)
{
	auto_close int fd = open(file(name), O_RDONLY);
	auto_free uint8_t *found = malloc(size + 1);
	ensure(found);
	return fd >= 0 && read(fd, found, size + 1) == (ssize_t)size &&
	       memcmp(bytes, found, size) == 0;
}

/* --- the checks --- */

struct seen {
	uint32_t n, crc;
	uint32_t epoch; /* the last epoch that began */
	bool begun;
};

static int see(void *context, const struct record *record, const char **ret_reason)
{
	struct seen *seen = context;
	ensure(record->kind >= RECORD_BEGUN && record->kind < RECORD_KINDS);
	ensure(record->position < POSITIONS);
	ensure(record->kind != RECORD_BOUND || record->sample < SAMPLES);
	ensure(record->served <= SERVED_SKIPPED);
	bool restored = record->kind == RECORD_RESTORED && !record->drains;
	bool begins = record->kind == RECORD_BEGUN || restored;
	ensure(begins || (seen->begun && record->epoch <= seen->epoch));
	if (record->kind == RECORD_BEGUN && seen->begun && record->epoch <= seen->epoch) {
		*ret_reason = "a later epoch has already begun";
		return -EINVAL;
	}
	if (begins)
		seen->epoch = record->epoch;
	seen->begun = true;
	seen->n++;
	seen->crc = (uint32_t)crc32(
		seen->crc, (const uint8_t *)&record->position, sizeof(record->position));
	if (record->position != 99)
		return 0;
	*ret_reason = "position 99 is bound by nobody";
	return -EINVAL;
}

static int replay(struct seen *ret, enum journal_found *ret_found, struct journal **ret_j)
{
	*ret = (struct seen){0};
	return journal_open(directory, &identity, see, ret, ret_found, ret_j);
}

static void go_on(struct journal *journal, const struct seen *before)
{
	enum journal_found found;
	struct seen after;
	struct record record = {.kind = RECORD_OPENED,
		.epoch = before->epoch,
		.position = 3,
		.reader = {.thread = 12345}};
	if (!before->begun)
		record = (struct record){.kind = RECORD_BEGUN, .epoch = 5};
	journal_append(journal, &record);
	journal_close(&journal);
	ensure(replay(&after, &found, &journal) == 0 && found == JOURNAL_SAME);
	ensure(after.n == before->n + 1);
	journal_close(&journal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct journal *journal;
	enum journal_found found;
	struct seen seen;
	if (!ready) {
		ensure(log_to_file("/dev/null") == 0 && mkdtemp(directory));
		ensure(atexit(remove_directory) == 0);
		ready = true;
	}
	auto_free uint8_t *copy = malloc(size + 1);
	ensure(copy);
	memcpy(copy, data, size);
	struct input input = split(copy, size);
	empty_directory();
	if (input.first_size > 0)
		put("journal-0004", input.first, input.first_size);
	put("journal-0005", input.second, input.second_size);
	int err = replay(&seen, &found, &journal);
	ensure(err == 0 || err == -EINVAL);
	if (err == 0 && found != JOURNAL_OTHER) {
		go_on(journal, &seen);
		return 0;
	}
	ensure(!journal && has("journal-0005", input.second, input.second_size));
	ensure(input.first_size == 0 ||
		has("journal-0004", input.first, input.first_size));
	return 0;
}
