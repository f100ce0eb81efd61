// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/order.h"
#include "base/ensure.h"
#include "base/log.h"
#include "epoch/disk.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/*
 *   | head | sample + 1 of each position, 0: unbound | order_log_entry of each binding |
 *
 * The head is checked whenever a file is listed or its bindings are read, and says how
 * long the file is. The checksum of what follows is compared where that costs little
 * beside what was asked for: by order_bindings from the beginning of a small file.
 */

#define PREFIX "epoch-"
#define SUFFIX ".order"
#define BESIDE ".order.new"
#define MAGIC "JOADERO\n"
#define VERSION 1

#define CHEAP (UINT32_C(1) << 20) /* bytes to read for their checksum */
#define BLOCK (16 * 1024)	  /* words */
#define NEIGHBOURS 1024		  /* words, read with the one that is wanted */

/* All numbers are little endian. */
struct head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t positions;
	uint32_t bound;
	uint32_t epoch;
	uint64_t fingerprint;
	uint32_t content; /* checksum of what follows the head */
	uint32_t zero[6];
	uint32_t checksum; /* of the 60 bytes before it */
};
_Static_assert(sizeof(struct head) == 64, "no holes");

struct path {
	char text[PATH_MAX];
};

static int make_path(
	const char *directory, uint32_t epoch, const char *suffix, struct path *ret)
{
	int n = snprintf(ret->text, sizeof(ret->text), "%s/" PREFIX "%04u%s", directory,
		epoch, suffix);
	return n > 0 && (size_t)n < sizeof(ret->text) ? 0 : -ENAMETOOLONG;
}

static int cant(const char *path, const char *what, int err)
{
	log_error("%s: can't be %s: %s", path, what, strerror(-err));
	return err;
}

static uint32_t head_checksum(const struct head *head)
{
	return (uint32_t)crc32_z(
		0, (const uint8_t *)head, offsetof(struct head, checksum));
}

static uint64_t samples_at(uint32_t position)
{
	return sizeof(struct head) + (uint64_t)position * sizeof(uint32_t);
}

static uint64_t log_at(const struct head *head, uint32_t k)
{
	return samples_at(le32toh(head->positions)) + (uint64_t)k * sizeof(uint32_t);
}

/* --- saving --- */

/* checksum: goes on. */
static int write_words(
	int fd, const uint32_t *words, uint32_t n, uint64_t offset, uint32_t *checksum)
{
	auto_free uint32_t *block = malloc(BLOCK * sizeof(*block));
	size_t done;
	if (!block)
		return -ENOMEM;
	for (uint32_t i = 0; i < n;) {
		uint32_t some = n - i < BLOCK ? n - i : BLOCK;
		for (uint32_t k = 0; k < some; k++)
			block[k] = htole32(words[i + k]);
		size_t bytes = some * sizeof(*block);
		*checksum = (uint32_t)crc32_z(*checksum, (const uint8_t *)block, bytes);
		int err = disk_write(fd, block, bytes, offset, "order.write", &done);
		if (err)
			return err;
		offset += bytes;
		i += some;
	}
	return 0;
}

static int write_order(
	int fd, uint32_t epoch, uint64_t fingerprint, const struct order *order)
{
	uint32_t content = 0;
	size_t done;
	struct head head = {
		.version = htole32(VERSION),
		.positions = htole32(order->positions),
		.bound = htole32(order->bound),
		.epoch = htole32(epoch),
		.fingerprint = htole64(fingerprint),
	};
	memcpy(head.magic, MAGIC, sizeof(head.magic));
	int err = write_words(
		fd, order->samples, order->positions, samples_at(0), &content);
	if (!err)
		err = write_words(
			fd, order->log, order->bound, log_at(&head, 0), &content);
	if (err)
		return err;
	head.content = htole32(content);
	head.checksum = htole32(head_checksum(&head));
	err = disk_write(fd, &head, sizeof(head), 0, "order.write", &done);
	return err ? err : disk_sync(fd, "order.write");
}

int order_save(const char *directory, uint32_t epoch, uint64_t fingerprint,
	const struct order *order)
{
	struct path path, beside;
	ensure(order->positions > 0 && order->positions < 1u << ORDER_POSITION_BITS);
	ensure(order->bound <= order->positions);
	int err = make_path(directory, epoch, SUFFIX, &path);
	if (!err)
		err = make_path(directory, epoch, BESIDE, &beside);
	if (err)
		return err;
	auto_close int fd = open(
		beside.text, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	err = fd < 0 ? -errno : write_order(fd, epoch, fingerprint, order);
	if (!err && rename(beside.text, path.text) != 0)
		err = -errno;
	if (!err)
		return disk_sync_directory(directory, "order.write");
	unlink(beside.text);
	return err;
}

/* --- reading --- */

static int refuse(const char *path, const char *what)
{
	log_error("%s: %s; it is left as it is, and not used", path, what);
	return -EINVAL;
}

static int read_head(int fd, const char *path, uint32_t epoch, struct head *ret)
{
	struct stat st;
	size_t n;
	if (fstat(fd, &st) != 0)
		return cant(path, "read", -errno);
	int err = disk_read(fd, ret, sizeof(*ret), 0, &n);
	if (err)
		return cant(path, "read", err);
	if (n < sizeof(*ret) || memcmp(ret->magic, MAGIC, sizeof(ret->magic)) != 0)
		return refuse(path, "byte 0: found no order, allowed: one");
	if (le32toh(ret->version) != VERSION)
		return refuse(path, "byte 8: found another version, allowed: 1");
	if (le32toh(ret->checksum) != head_checksum(ret))
		return refuse(path, "byte 60: found another checksum than that of the "
				    "head: it is damaged");
	if (le32toh(ret->epoch) != epoch || le32toh(ret->positions) == 0 ||
		le32toh(ret->positions) >= 1u << ORDER_POSITION_BITS ||
		le32toh(ret->bound) > le32toh(ret->positions))
		return refuse(path, "its head is that of another epoch");
	if ((uint64_t)st.st_size != log_at(ret, le32toh(ret->bound)))
		return refuse(path, "it is shorter, or longer, than its head says");
	return 0;
}

static int open_order(
	const char *directory, uint32_t epoch, struct path *ret_path, int *ret_fd)
{
	int err = make_path(directory, epoch, SUFFIX, ret_path);
	if (err)
		return cant(directory, "read", err);
	*ret_fd = open(ret_path->text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd >= 0)
		return 0;
	err = -errno;
	return err == -ENOENT ? err : cant(ret_path->text, "opened", err);
}

/* Exactly n words. */
static int read_words(
	int fd, const char *path, uint32_t *words, uint32_t n, uint64_t offset)
{
	size_t got;
	int err = disk_read(fd, words, n * sizeof(*words), offset, &got);
	if (err)
		return cant(path, "read", err);
	if (got < n * sizeof(*words))
		return refuse(path, "it is shorter than its head says");
	for (uint32_t i = 0; i < n; i++)
		words[i] = le32toh(words[i]);
	return 0;
}

int order_look_up(
	const char *directory, uint32_t epoch, uint32_t position, sample_id *ret)
{
	struct path path;
	auto_close int fd = -1;
	uint32_t word;
	int err = open_order(directory, epoch, &path, &fd);
	if (!err)
		err = read_words(fd, path.text, &word, 1, samples_at(position));
	if (!err)
		*ret = word - 1;
	return err;
}

static int check_content(int fd, const char *path, const struct head *head)
{
	uint64_t offset = samples_at(0);
	uint64_t end = log_at(head, le32toh(head->bound));
	uint32_t checksum = 0;
	auto_free uint8_t *block = malloc(BLOCK);
	if (!block)
		return -ENOMEM;
	while (offset < end) {
		size_t n;
		int err = disk_read(fd, block, BLOCK, offset, &n);
		if (err)
			return cant(path, "read", err);
		if (n == 0)
			break;
		checksum = (uint32_t)crc32_z(checksum, block, n);
		offset += n;
	}
	if (checksum == le32toh(head->content))
		return 0;
	return refuse(path, "byte 32: found another checksum than that of what follows "
			    "the head: it is damaged");
}

/* Scripts most often open positions in their order: the next ones are read along. */
struct neighbours {
	uint32_t words[NEIGHBOURS];
	uint32_t first, n;
};

static int read_sample(int fd, const char *path, const struct head *head,
	struct neighbours *near, uint32_t position, sample_id *ret)
{
	if (position - near->first >= near->n) {
		uint32_t positions = le32toh(head->positions);
		uint32_t first = position - position % NEIGHBOURS;
		uint32_t left = positions - first;
		near->first = first;
		near->n = left < NEIGHBOURS ? left : NEIGHBOURS;
		int err = read_words(fd, path, near->words, near->n, samples_at(first));
		if (err) {
			near->n = 0;
			return err;
		}
	}
	*ret = near->words[position - near->first] - 1;
	return 0;
}

static int read_bindings(int fd, const char *path, const struct head *head, uint32_t k,
	uint32_t n, struct binding *ret)
{
	auto_free uint32_t *log = malloc(n * sizeof(*log));
	auto_free struct neighbours *near = calloc(1, sizeof(*near));
	if (!log || !near)
		return -ENOMEM;
	int err = read_words(fd, path, log, n, log_at(head, k));
	for (uint32_t i = 0; i < n && !err; i++) {
		struct binding *binding = &ret[i];
		binding->position = log[i] & ((1u << ORDER_POSITION_BITS) - 1);
		binding->served = (enum served)(log[i] >> ORDER_POSITION_BITS);
		if (binding->position >= le32toh(head->positions) ||
			binding->served > SERVED_SHARED)
			return refuse(path, "a binding is impossible: it is damaged");
		err = read_sample(
			fd, path, head, near, binding->position, &binding->sample);
		if (!err && binding->sample == SAMPLE_NONE)
			err = refuse(path, "a binding has no sample: it is damaged");
	}
	return err;
}

int order_bindings(const char *directory, uint32_t epoch, uint32_t k, uint32_t n,
	struct binding *ret, uint32_t *ret_n)
{
	struct path path;
	struct head head;
	auto_close int fd = -1;
	*ret_n = 0;
	int err = open_order(directory, epoch, &path, &fd);
	if (!err)
		err = read_head(fd, path.text, epoch, &head);
	if (err)
		return err;
	uint32_t bound = le32toh(head.bound);
	if (k == 0 && log_at(&head, bound) <= CHEAP)
		err = check_content(fd, path.text, &head);
	uint32_t left = k < bound ? bound - k : 0;
	n = n < left ? n : left;
	if (!err && n > 0)
		err = read_bindings(fd, path.text, &head, k, n, ret);
	if (!err)
		*ret_n = n;
	return err;
}

/* --- the directory --- */

/* 1: it can be used; 0: it can't, which was counted or logged; or -errno. */
static int judge(const char *directory, uint32_t epoch, uint32_t positions,
	uint64_t fingerprint, uint32_t *others)
{
	struct path path;
	struct head head;
	auto_close int fd = -1;
	int err = open_order(directory, epoch, &path, &fd);
	if (!err)
		err = read_head(fd, path.text, epoch, &head);
	if (err == -EINVAL || err == -ENOENT)
		return 0;
	if (err)
		return err;
	if (le32toh(head.positions) == positions &&
		le64toh(head.fingerprint) == fingerprint)
		return 1;
	(*others)++;
	return 0;
}

int order_list(const char *directory, uint32_t positions, uint64_t fingerprint,
	uint32_t **ret, size_t *ret_n)
{
	uint32_t *epochs;
	size_t n, good = 0;
	uint32_t others = 0;
	*ret = NULL;
	*ret_n = 0;
	int err = disk_list(directory, PREFIX, SUFFIX, &epochs, &n);
	if (err)
		return cant(directory, "read", err);
	for (size_t i = 0; i < n; i++) {
		int status = judge(directory, epochs[i], positions, fingerprint, &others);
		if (status < 0) {
			free(epochs);
			return status;
		}
		if (status)
			epochs[good++] = epochs[i];
	}
	if (others > 0)
		log_warn("%s: %u orders of epochs are of other samples, or of files that "
			 "have changed, and are not used",
			directory, others);
	*ret = epochs;
	*ret_n = good;
	return 0;
}

static void remove_before(const char *directory, uint32_t epoch, const char *suffix)
{
	auto_free uint32_t *epochs = NULL;
	struct path path;
	size_t n;
	int err = disk_list(directory, PREFIX, suffix, &epochs, &n);
	if (err) {
		(void)cant(directory, "read", err);
		return;
	}
	for (size_t i = 0; i < n && epochs[i] < epoch; i++)
		if (make_path(directory, epochs[i], suffix, &path) == 0 &&
			unlink(path.text) != 0 && errno != ENOENT)
			log_warn("%s: can't be removed: %s", path.text, strerror(errno));
}

void order_prune(const char *directory, uint32_t epoch)
{
	remove_before(directory, epoch, SUFFIX);
	remove_before(directory, epoch, BESIDE);
}
