// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "base/log.h"
#include "base/rng.h"
#include "tier/tier.h"
#include "tier/tier_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A tier on a disk: samples that are found there are those that were offered, whatever happens to
 * the disk. */

#define BYTES 1000
#define CAPACITY ((uint64_t)64 << 20)

static char place[] = "/tmp/test_tier.XXXXXX", directory[64], log_file[64];
static struct tier *tier;
static struct tier_dataset *photos;
/* worth of all samples in the tier, as told to its thread */
static uint32_t worth_of_all;

static void begin(void)
{
	cr_assert(mkdtemp(place));
	snprintf(directory, sizeof(directory), "%s/tier", place);
	snprintf(log_file, sizeof(log_file), "%s/log", place);
	cr_assert_eq(0, log_to_file(log_file));
	worth_of_all = 1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static void end(void)
{
	fault_clear();
	tier_close(&tier);
	nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(tier, .init = begin, .fini = end, .timeout = 600);

static void tell_worths(void *context, struct tier_asked *asked, size_t n)
{
	(void)context;
	for (size_t i = 0; i < n; i++)
		asked[i].worth = worth_of_all;
}

static void open_tier(uint64_t capacity)
{
	cr_assert_eq(0, tier_open(directory, capacity, tell_worths, NULL, &tier));
	photos = tier_dataset(tier, "photos", &tier);
	cr_assert_not_null(photos);
	tier_settle(tier);
}

static unsigned logged(const char *text)
{
	char line[1000];
	unsigned n = 0;
	FILE *in = fopen(log_file, "r");
	cr_assert_not_null(in);
	while (fgets(line, sizeof(line), in))
		n += strstr(line, text) != NULL;
	fclose(in);
	return n;
}

/* --- samples ---------------------------------------------------------------------------- */

static uint64_t identity_of(sample_id id)
{
	return UINT64_C(0x1234567890abcdef) + id;
}

static struct tier_sample sample_of(sample_id id)
{
	return (struct tier_sample){
		.dataset = photos, .id = id, .identity = identity_of(id)};
}

static void fill(sample_id id, uint8_t *ret, size_t n)
{
	struct rng rng;
	rng_seed(&rng, id);
	for (size_t i = 0; i < n; i++)
		ret[i] = (uint8_t)rng_next(&rng);
}

static void offer(sample_id id, size_t n, uint32_t worth)
{
	uint8_t *bytes = malloc(n);
	struct tier_sample sample = sample_of(id);
	fill(id, bytes, n);
	tier_offer(&sample, bytes, n, worth);
	free(bytes);
}

static void keep(sample_id id)
{
	offer(id, BYTES, 1);
	tier_settle(tier);
}

/* Tells whether the tier has the sample, and checks that it is the one that was offered. */
static bool finds(sample_id id, size_t n)
{
	uint8_t *expected = malloc(n), *found = calloc(1, n);
	struct tier_sample sample = sample_of(id);
	fill(id, expected, n);
	bool there = tier_read(&sample, found, n);
	cr_assert(!there || memcmp(found, expected, n) == 0, "sample %u is wrong", id);
	free(expected);
	free(found);
	return there;
}

static const char *file_of(sample_id id)
{
	static char path[200];
	char name[RECORD_NAME];
	record_name(id, identity_of(id), name);
	snprintf(path, sizeof(path), "%s/photos/%s", directory, name);
	return path;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static struct tier_status status(void)
{
	struct tier_status ret;
	tier_status(photos, &ret);
	return ret;
}

/* --- the usual case --------------------------------------------------------------------- */

Test(tier, what_is_kept_is_found_also_after_a_restart)
{
	open_tier(CAPACITY);
	for (sample_id id = 0; id < 50; id++)
		cr_assert_not(finds(id, BYTES));
	for (sample_id id = 0; id < 50; id++)
		offer(id * 1000, BYTES + id, 1);
	tier_settle(tier);
	for (int start = 0; start < 2; start++) {
		for (sample_id id = 0; id < 50; id++)
			cr_assert(finds(id * 1000, BYTES + id));
		cr_assert_not(finds(1, BYTES));
		cr_assert_eq(50, status().hits);
		cr_assert_eq(50, status().samples);
		tier_close(&tier);
		open_tier(CAPACITY);
	}
}

Test(tier, another_dataset_and_another_version_are_other_samples)
{
	uint8_t bytes[BYTES];
	open_tier(CAPACITY);
	keep(5);
	struct tier_sample sample = sample_of(5);
	sample.dataset = tier_dataset(tier, "sketches", &photos);
	cr_assert_not(tier_read(&sample, bytes, BYTES));
	sample = sample_of(5);
	sample.identity++;
	cr_assert(exists(file_of(5)));
	cr_assert_not(tier_read(&sample, bytes, BYTES));
	cr_assert_not(exists(file_of(5)), "the version before");
	cr_assert_not(finds(5, BYTES));
	cr_assert_eq(0, status().samples);
}

Test(tier, an_identity_depends_on_all_of_its_source)
{
	static const struct tier_source sources[] = {{"/a", 1, 2, 3}, {"/b", 1, 2, 3},
		{"/a", 2, 2, 3}, {"/a", 1, 3, 3}, {"/a", 1, 2, 4}, {"/a/", 1, 2, 3}};
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		for (size_t k = 0; k < i; k++)
			cr_assert_neq(
				tier_identity(&sources[i]), tier_identity(&sources[k]));
}

Test(tier, a_second_daemon_is_refused)
{
	struct tier *second;
	open_tier(CAPACITY);
	cr_assert_eq(
		-EWOULDBLOCK, tier_open(directory, CAPACITY, tell_worths, NULL, &second));
	cr_assert_eq(1, logged("in use by another joaderfs"));
	keep(1);
	cr_assert(finds(1, BYTES));
}

/* --- damage ----------------------------------------------------------------------------- */

static void flip(const char *path, off_t at)
{
	uint8_t byte;
	int fd = open(path, O_RDWR);
	cr_assert(fd >= 0 && pread(fd, &byte, 1, at) == 1);
	byte ^= (uint8_t)(1 << at % 8);
	cr_assert(pwrite(fd, &byte, 1, at) == 1 && close(fd) == 0);
}

Test(tier, a_bit_that_flips_is_noticed_wherever_it_is)
{
	open_tier(CAPACITY);
	for (off_t at = 0; at < RECORD_HEAD + BYTES;
		at += at < 2 * RECORD_HEAD ? 1 : 37) {
		keep(7);
		cr_assert(finds(7, BYTES));
		flip(file_of(7), at);
		uint64_t damaged = status().damaged;
		cr_assert_not(finds(7, BYTES), "bit at %d", (int)at);
		cr_assert_eq(damaged + 1, status().damaged);
		cr_assert_not(exists(file_of(7)));
		cr_assert_eq(0, status().samples);
	}
}

Test(tier, a_file_that_ends_early_or_late_is_noticed)
{
	for (off_t n = 0; n < RECORD_HEAD + BYTES + 20; n += n < RECORD_HEAD ? 3 : 61) {
		open_tier(CAPACITY);
		keep(7);
		cr_assert_eq(0, truncate(file_of(7), n));
		tier_close(&tier);
		open_tier(CAPACITY);
		cr_assert_not(finds(7, BYTES), "%d bytes", (int)n);
		cr_assert_not(exists(file_of(7)));
		keep(7);
		cr_assert(finds(7, BYTES));
		tier_close(&tier);
	}
}

static void put(const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

Test(tier, strange_files_are_left_alone_and_never_served)
{
	static const char *const strange[] = {"notes.txt", "photos/notes.txt",
		"photos/000000/notes.txt", "photos/000000/00000007-1",
		"photos/000000/00001007-1234567890abcdef"};
	char path[200], text[RECORD_HEAD + BYTES + 1] = {0};
	open_tier(CAPACITY);
	keep(7);
	tier_close(&tier);
	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++)
		put(strange[i], text);
	/* one with the name of a sample's file */
	cr_assert_eq(0, unlink(file_of(7)));
	put(file_of(7) + strlen(directory) + 1, text);
	/* one of another sample */
	open_tier(CAPACITY);
	keep(8);
	cr_assert_eq(1, logged("5 files that do not belong to a tier"));
	char from[200];
	snprintf(from, sizeof(from), "%s", file_of(8));
	keep(9);
	cr_assert_eq(0, rename(from, file_of(9)));
	cr_assert_not(finds(7, BYTES));
	cr_assert_not(finds(8, BYTES));
	cr_assert_not(finds(9, BYTES));
	for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, strange[i]);
		cr_assert(exists(path), "%s", path);
	}
}

/* --- the end of the process ------------------------------------------------------------- */

static uint64_t news; /* number of incomplete files */
static int see(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	news += strstr(path, RECORD_NEW) != NULL;
	return 0;
}

/* Keeps some samples, with several writes each, in a process that is killed on the way. Returns
 * false if it was not killed. */
static bool is_killed(const char *fault, unsigned after)
{
	char specification[64];
	pid_t child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		snprintf(specification, sizeof(specification), "%s:CRASH:after=%u", fault,
			after);
		if (fault_add(specification) != 0)
			_exit(2);
		open_tier(CAPACITY);
		for (sample_id id = 0; id < 6; id++)
			offer(id, 150000, 1);
		tier_settle(tier);
		_exit(0);
	}
	int ended;
	cr_assert_eq(child, waitpid(child, &ended, 0));
	cr_assert(WIFSIGNALED(ended) ? WTERMSIG(ended) == SIGKILL : ended == 0);
	return WIFSIGNALED(ended);
}

Test(tier, a_process_that_is_killed_at_any_write_leaves_nothing_wrong)
{
	static const char *const faults[] = {"tier.make", "tier.write", "tier.rename"};
	static const unsigned each[] = {1, 4, 1}; /* calls for each sample */
	for (size_t i = 0; i < 3; i++) {
		unsigned after = 0;
		for (; is_killed(faults[i], after); after++) {
			open_tier(CAPACITY);
			for (sample_id id = 0; id < 6; id++)
				cr_assert_eq(id < after / each[i], finds(id, 150000),
					"%s %u: %u", faults[i], after, id);
			news = 0;
			nftw(directory, see, 16, FTW_PHYS);
			cr_assert_eq(0, news);
			cr_assert_eq(0, status().damaged);
			tier_close(&tier);
			nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		}
		cr_assert_eq(6 * each[i], after);
		nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
}

/* --- bounds ----------------------------------------------------------------------------- */

static uint64_t blocks;
static int add_blocks(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)path, (void)flag, (void)ftw;
	blocks += (uint64_t)st->st_blocks * 512;
	return 0;
}

static uint64_t taken(void)
{
	blocks = 0;
	nftw(directory, add_blocks, 16, FTW_PHYS);
	return blocks;
}

Test(tier, it_never_takes_more_than_its_size_in_blocks)
{
	const uint64_t capacity = (uint64_t)2 << 20;
	struct rng rng;
	rng_seed(&rng, 1);
	open_tier(capacity);
	for (sample_id id = 0; id < 3000; id++) {
		offer(id * 37, 1 + rng_below(&rng, id % 3 ? 2000 : 60000), 2);
		if (id % 100 != 99)
			continue;
		tier_settle(tier);
		cr_assert_leq(taken(), capacity, "%d KiB", (int)(taken() >> 10));
	}
	cr_assert_gt(status().evicted, 1000);
	cr_assert_gt(taken(), capacity / 2, "it is used");
	offer(1000000, 3 << 20, 9);
	tier_settle(tier);
	cr_assert_not(finds(1000000, 3 << 20), "larger than all of it");
	tier_close(&tier);
	open_tier(capacity / 2);
	cr_assert_leq(taken(), capacity / 2, "it was made smaller");
	cr_assert_gt(status().samples, 0);
}

Test(tier, what_is_worth_no_more_takes_no_place)
{
	open_tier((uint64_t)1 << 20);
	for (sample_id id = 0; id < 100; id++)
		keep(id);
	uint64_t all = status().samples;
	for (sample_id id = 1000; id < 1500; id++)
		keep(id);
	cr_assert_eq(0, status().evicted);
	uint64_t full = status().samples;
	cr_assert_gt(full, all);
	offer(5000, BYTES, 2);
	tier_settle(tier);
	cr_assert(finds(5000, BYTES));
	cr_assert_gt(status().evicted, 0);
	worth_of_all = 2;
	offer(5001, BYTES, 2);
	tier_settle(tier);
	cr_assert_not(finds(5001, BYTES));
}

Test(tier, a_full_disk_ends_writing_with_one_message_and_reading_goes_on)
{
	static const char *const places[] = {"tier.make", "tier.write", "tier.rename"};
	for (size_t i = 0; i < 3; i++) {
		char specification[64];
		open_tier(CAPACITY);
		keep(1);
		snprintf(specification, sizeof(specification), "%s:ENOSPC", places[i]);
		cr_assert_eq(0, fault_add(specification));
		for (sample_id id = 2; id < 9; id++)
			keep(id);
		fault_clear();
		keep(2);
		cr_assert_not(status().writes);
		cr_assert(finds(1, BYTES));
		cr_assert_not(finds(2, BYTES));
		cr_assert_eq(i + 1, logged("can't be written: No space left"));
		news = 0;
		nftw(directory, see, 16, FTW_PHYS);
		cr_assert_eq(0, news);
		tier_close(&tier);
	}
}

/* No reader waits for a disk that does not answer. */
Test(tier, what_does_not_fit_into_the_queue_is_not_kept)
{
	char specification[128], file[80];
	snprintf(file, sizeof(file), "%s/go-on", place);
	snprintf(specification, sizeof(specification), "tier.write:NONE:until=%s", file);
	cr_assert_eq(0, fault_add(specification));
	open_tier((uint64_t)256 << 20);
	for (sample_id id = 0; id < 80; id++)
		offer(id, 1 << 20, 1);
	for (sample_id id = 0; id < 80; id++)
		cr_assert_not(finds(id, 1 << 20));
	cr_assert(close(open(file, O_CREAT | O_WRONLY, 0600)) == 0);
	tier_settle(tier);
	uint64_t kept = status().samples;
	cr_assert(kept > 10 && kept <= 33, "%d", (int)kept);
	for (sample_id id = 0; id < kept; id++)
		cr_assert(finds(id, 1 << 20));
}

Test(tier, a_read_outlives_the_tier)
{
	open_tier(CAPACITY);
	keep(1);
	struct tier_dataset *held = photos;
	tier_hold(held);
	tier_close(&tier);
	cr_assert_not(finds(1, BYTES), "it was closed");
	offer(2, BYTES, 9);
	tier_put(held);
}
