// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/rng.h"
#include "epoch/disk.h"
#include "epoch/order_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC "JOADERO\n"
#define VERSION 2

/* number of words that write_words writes at once, and of bytes that order_check_content reads */
#define BLOCK (16 * 1024)

int order_refuse(const char *name, const char *what)
{
	log_error("%s: %s; the file is not used, and left unchanged", name, what);
	return -EINVAL;
}

static uint32_t head_checksum(const struct order_head *head)
{
	return (uint32_t)crc32_z(
		0, (const uint8_t *)head, offsetof(struct order_head, checksum));
}

uint64_t order_samples_at(uint32_t position)
{
	return sizeof(struct order_head) + (uint64_t)position * sizeof(uint32_t);
}

uint64_t order_log_at(const struct order_head *head, uint32_t k)
{
	return order_samples_at(le32toh(head->positions)) +
	       (uint64_t)k * sizeof(uint32_t);
}

uint64_t order_bytes(const struct order_head *head)
{
	return order_log_at(head, le32toh(head->bound)) +
	       (uint64_t)le32toh(head->consumed) * sizeof(uint32_t);
}

/* Writes the words in little endian, adds their size to the offset, and continues the checksum. */
static int write_words(
	int fd, const uint32_t *words, uint32_t n, uint64_t *offset, uint32_t *checksum)
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
		int err = disk_write(fd, block, bytes, *offset, "order.write", &done);
		if (err)
			return err;
		*offset += bytes;
		i += some;
	}
	return 0;
}

int order_write_to(int fd, uint32_t epoch, uint64_t fingerprint,
	const struct order *order, uint64_t *offset)
{
	uint64_t at = *offset + order_samples_at(0);
	uint32_t content = 0;
	size_t done;
	struct order_head head = {
		.version = htole32(VERSION),
		.positions = htole32(order->positions),
		.bound = htole32(order->bound),
		.epoch = htole32(epoch),
		.fingerprint = htole64(fingerprint),
		.consumed = htole32(order->consumed),
	};
	ensure(order->positions > 0 && order->positions < 1u << ORDER_POSITION_BITS);
	ensure(order->bound <= order->positions && order->consumed <= order->bound);
	memcpy(head.magic, MAGIC, sizeof(head.magic));
	int err = write_words(fd, order->samples, order->positions, &at, &content);
	if (!err)
		err = write_words(fd, order->log, order->bound, &at, &content);
	if (!err)
		err = write_words(fd, order->reads, order->consumed, &at, &content);
	if (err)
		return err;
	head.content = htole32(content);
	head.checksum = htole32(head_checksum(&head));
	err = disk_write(fd, &head, sizeof(head), *offset, "order.write", &done);
	*offset = at;
	return err;
}

static int sync_directory_of(const char *path)
{
	auto_free char *directory = strdup(path);
	char *slash = directory ? strrchr(directory, '/') : NULL;
	if (!directory)
		return -ENOMEM;
	if (slash)
		*slash = '\0';
	return disk_sync_directory(slash ? directory : ".", "order.write");
}

int order_save_at(
	const char *path, uint32_t epoch, uint64_t fingerprint, const struct order *order)
{
	uint64_t offset = 0;
	auto_free char *beside = aprintf("%s.new", path);
	if (!beside)
		return -ENOMEM;
	auto_close int fd =
		open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	int err =
		fd < 0 ? -errno : order_write_to(fd, epoch, fingerprint, order, &offset);
	if (!err)
		err = disk_sync(fd, "order.write");
	if (!err && rename(beside, path) != 0)
		err = -errno;
	if (!err)
		return sync_directory_of(path);
	unlink(beside);
	return err;
}

int order_read_head(int fd, const char *name, uint64_t offset, struct order_head *ret)
{
	size_t n;
	int err = disk_read(fd, ret, sizeof(*ret), offset, &n);
	if (err)
		return disk_cant(name, "read", err);
	if (n < sizeof(*ret) || memcmp(ret->magic, MAGIC, sizeof(ret->magic)) != 0)
		return order_refuse(name, "byte 0: found no order, allowed: one");
	if (le32toh(ret->version) < 1 || le32toh(ret->version) > VERSION)
		return order_refuse(
			name, "byte 8: found another version, allowed: 1 and 2");
	if (le32toh(ret->checksum) != head_checksum(ret))
		return order_refuse(
			name, "byte 60: the head's checksum is wrong: it is damaged");
	if (le32toh(ret->positions) == 0 ||
		le32toh(ret->positions) >= 1u << ORDER_POSITION_BITS ||
		le32toh(ret->bound) > le32toh(ret->positions) ||
		le32toh(ret->consumed) > le32toh(ret->bound))
		return order_refuse(name, "its head is impossible");
	return 0;
}

int order_read_words(
	int fd, const char *name, uint32_t *words, uint32_t n, uint64_t offset)
{
	size_t got;
	int err = disk_read(fd, words, n * sizeof(*words), offset, &got);
	if (err)
		return disk_cant(name, "read", err);
	if (got < n * sizeof(*words))
		return order_refuse(name, "it is shorter than the size in its head");
	for (uint32_t i = 0; i < n; i++)
		words[i] = le32toh(words[i]);
	return 0;
}

int order_check_content(
	int fd, const char *name, uint64_t offset, const struct order_head *head)
{
	uint64_t end = offset + order_bytes(head);
	uint32_t checksum = 0;
	auto_free uint8_t *block = malloc(BLOCK);
	if (!block)
		return -ENOMEM;
	offset += order_samples_at(0);
	while (offset < end) {
		size_t n, most = end - offset < BLOCK ? (size_t)(end - offset) : BLOCK;
		int err = disk_read(fd, block, most, offset, &n);
		if (err)
			return disk_cant(name, "read", err);
		if (n == 0)
			break;
		checksum = (uint32_t)crc32_z(checksum, block, n);
		offset += n;
	}
	if (checksum == le32toh(head->content))
		return 0;
	return order_refuse(name, "byte 32: the checksum of the data after the head is "
				  "wrong: it is damaged");
}

uint64_t order_reads_hash(uint64_t hash, uint32_t position)
{
	return rng_mix(hash, position);
}

void order_free(struct order *order)
{
	free(order->samples);
	free(order->log);
	free(order->reads);
	*order = (struct order){0};
}

/* The arrays are large, but pages that are never written take no memory. */
static int new_order(const struct order_head *head, struct order *ret)
{
	uint32_t n = le32toh(head->positions);
	*ret = (struct order){.positions = n,
		.bound = le32toh(head->bound),
		.consumed = le32toh(head->consumed),
		.samples = calloc(n, sizeof(uint32_t)),
		.log = calloc(n, sizeof(uint32_t)),
		.reads = calloc(n, sizeof(uint32_t))};
	if (ret->samples && ret->log && ret->reads)
		return 0;
	order_free(ret);
	return -ENOMEM;
}

static int read_data(int fd, const char *name, uint64_t offset,
	const struct order_head *head, struct order *ret)
{
	uint64_t reads = order_log_at(head, le32toh(head->bound));
	int err = new_order(head, ret);
	if (err)
		return err;
	err = order_read_words(
		fd, name, ret->samples, ret->positions, offset + order_samples_at(0));
	if (!err)
		err = order_read_words(
			fd, name, ret->log, ret->bound, offset + order_log_at(head, 0));
	if (!err)
		err = order_read_words(
			fd, name, ret->reads, ret->consumed, offset + reads);
	if (err)
		order_free(ret);
	return err;
}

int order_read_from(int fd, const char *name, uint32_t positions, uint64_t fingerprint,
	uint64_t *offset, uint32_t *ret_epoch, struct order *ret)
{
	struct order_head head;
	*ret = (struct order){0};
	int err = order_read_head(fd, name, *offset, &head);
	if (err)
		return err;
	if (le32toh(head.positions) != positions ||
		le64toh(head.fingerprint) != fingerprint)
		return order_refuse(name, "found an order of other samples, or of files "
					  "that have changed");
	err = order_check_content(fd, name, *offset, &head);
	if (!err)
		err = read_data(fd, name, *offset, &head, ret);
	*ret_epoch = le32toh(head.epoch);
	*offset += order_bytes(&head);
	return err;
}

int order_load_at(const char *path, uint32_t epoch, uint32_t positions,
	uint64_t fingerprint, struct order *ret)
{
	uint64_t offset = 0;
	uint32_t found;
	*ret = (struct order){0};
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : disk_cant(path, "opened", -errno);
	int err = order_read_from(fd, path, positions, fingerprint, &offset, &found, ret);
	if (!err && found != epoch) {
		order_free(ret);
		return order_refuse(path, "its head belongs to another epoch");
	}
	return err;
}
