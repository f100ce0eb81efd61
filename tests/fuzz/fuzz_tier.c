// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "tier/store.h"
#include "tier/tier_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/*
 * Foreign bytes as the file of a sample in a tier, and a foreign name beside it. Only bytes with a
 * right head may be read, as they were written. Most mutations get right checksums, because
 * otherwise only the checksums would be tested.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define NAME 29 /* bytes of the input for the name, before those of the file */
#define ID 7
#define IDENTITY UINT64_C(0x0123456789abcdef)
#define MOST 4096

static const struct stored sample = {.dataset = "photos", .id = ID, .identity = IDENTITY};

static void put_u32(uint8_t *to, uint32_t number)
{
	memcpy(to, &number, sizeof(number));
}

static void correct_checksums(uint8_t *file, size_t size)
{
	if (size < RECORD_HEAD)
		return;
	put_u32(file + 32,
		(uint32_t)crc32(0, file + RECORD_HEAD, (uInt)(size - RECORD_HEAD)));
	put_u32(file + 36, (uint32_t)crc32(0, file, 36));
}

size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (size <= NAME)
		return size;
	if (seed % 4 == 0)
		record_make_head(ID, IDENTITY, data + NAME + RECORD_HEAD,
			size > NAME + RECORD_HEAD ? size - NAME - RECORD_HEAD : 0,
			data + NAME);
	else if (seed % 4 != 1)
		correct_checksums(data + NAME, size - NAME);
	return size;
}

/* --- the tier's directory --- */

static char directory[] = "/dev/shm/joaderfs-fuzz.XXXXXX";
static struct store *store;

static const char *file(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void remove_directory(void)
{
	char command[128];
	store_close(&store);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ensure(system(command) == 0);
}

static bool put(const char *name, const uint8_t *bytes, size_t size)
{
	auto_close int fd = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	return fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
}

static void begin(void)
{
	ensure(log_to_file("/dev/null") == 0 && mkdtemp(directory));
	ensure(atexit(remove_directory) == 0);
	ensure(store_open(directory, &store) == 0);
	ensure(mkdir(file("photos"), 0700) == 0);
	ensure(mkdir(file("photos/000000"), 0700) == 0);
}

/* --- the checks --- */

static void see(void *context, const struct stored *found, uint64_t room)
{
	char name[RECORD_NAME];
	unsigned *n = context;
	record_name(found->id, found->identity, name);
	ensure(strcmp(found->dataset, "photos") == 0 && room >= RECORD_HEAD);
	char path[RECORD_NAME + 16];
	snprintf(path, sizeof(path), "photos/%s", name);
	ensure(access(file(path), F_OK) == 0);
	++*n;
}

static void scan(void)
{
	unsigned n = 0;
	struct store_scan found = {.found = see, .context = &n};
	ensure(store_scan(store, &found) == 0);
	ensure(n + found.strange <= 2);
}

static void read_back(const uint8_t *bytes, size_t size, uint64_t n)
{
	uint8_t got[MOST] = {0};
	int err = store_read(store, &sample, got, n);
	ensure(err == 0 || err == -EBADMSG || err == -ENOENT);
	if (err)
		return;
	ensure(size == RECORD_HEAD + n && memcmp(got, bytes + RECORD_HEAD, n) == 0);
	ensure(record_is_whole(bytes, ID, IDENTITY, got, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[RECORD_NAME], path[RECORD_NAME + 16], strange[NAME + 1] = {0};
	if (!store)
		begin();
	if (size <= NAME || size > MOST)
		return 0;
	const uint8_t *bytes = data + NAME;
	record_name(ID, IDENTITY, name);
	snprintf(path, sizeof(path), "photos/%s", name);
	ensure(put(path, bytes, size - NAME));
	memcpy(strange, data, NAME);
	char beside[NAME + 32];
	snprintf(beside, sizeof(beside), "photos/000000/%s", strange);
	bool there = !strchr(strange, '/') && strange[0] != '\0' && strange[0] != '.' &&
		     put(beside, bytes, size - NAME);
	scan();
	read_back(bytes, size - NAME,
		size - NAME > RECORD_HEAD ? size - NAME - RECORD_HEAD : 0);
	read_back(bytes, size - NAME, size % 97);
	if (there)
		(void)unlink(file(beside));
	return 0;
}
