// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/order.h"
#include "base/ensure.h"
#include "base/log.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define POSITION_BITS 30
#define POSITION_MASK ((UINT32_C(1) << POSITION_BITS) - 1)
#define UNBOUND UINT32_MAX

/* Written, not allocated sparsely: a full disk must show here, not as SIGBUS later. */
static int fill_unbound(int fd, uint64_t bytes)
{
	char block[64 * 1024];
	memset(block, 0xff, sizeof(block));
	while (bytes > 0) {
		size_t n = bytes < sizeof(block) ? (size_t)bytes : sizeof(block);
		ssize_t written = write(fd, block, n);
		if (written < 0)
			return -errno;
		bytes -= (uint64_t)written;
	}
	return 0;
}

/* Complete under another name first; link() leaves a file alone that is there already. */
static int create_file(const char *path, uint64_t bytes)
{
	auto_free char *temporary = NULL;
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	auto_close int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int err = fill_unbound(fd, bytes);
	if (err == 0 && link(temporary, path) != 0 && errno != EEXIST)
		err = -errno;
	unlink(temporary);
	return err;
}

static int map_file(const char *path, uint64_t bytes, uint32_t **ret)
{
	struct stat st;
	auto_close int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return -errno;
	if ((uint64_t)st.st_size != bytes)
		return -ESTALE;
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	*ret = map;
	return 0;
}

/* 1: it was made, nothing is bound in it; 0: it was there; or -errno. */
static int open_file(const char *directory, uint32_t epoch, const char *kind,
	uint64_t bytes, bool create, uint32_t **ret)
{
	bool made = false;
	auto_free char *path = NULL;
	if (asprintf(&path, "%s/epoch-%04u.%s", directory, epoch, kind) < 0)
		return -ENOMEM;
	int err = map_file(path, bytes, ret);
	if (err == -ENOENT && create) {
		err = create_file(path, bytes);
		if (err == 0)
			err = map_file(path, bytes, ret);
		made = err == 0;
	}
	if (err && (err != -ENOENT || create))
		log_error("%s: %s", path,
			err == -ESTALE ? "another number of positions than the job has"
				       : strerror(-err));
	return err ? err : made;
}

/* The daemon may have died between the two writes of order_bind. */
int order_read(const struct order *order, uint32_t *ret_bound)
{
	auto_free bool *logged = calloc(order->samples, sizeof(*logged));
	if (!logged)
		return -ENOMEM;
	uint32_t n = 0;
	for (; n < order->samples && order->log[n] != UNBOUND; n++) {
		uint32_t position = le32toh(order->log[n]) & POSITION_MASK;
		if (position >= order->samples || logged[position] ||
			order->ids[position] == UNBOUND)
			break;
		logged[position] = true;
	}
	for (uint32_t position = 0; position < order->samples; position++)
		if (order->ids[position] != UNBOUND && !logged[position])
			order->log[n++] = htole32(position);
	*ret_bound = n;
	return 0;
}

static int map_files(const char *directory, uint32_t epoch, uint32_t samples, bool create,
	struct order *ret)
{
	ensure(samples > 0 && samples <= POSITION_MASK);
	*ret = (struct order){.samples = samples};
	uint64_t bytes = (uint64_t)samples * sizeof(uint32_t);
	int ids = open_file(directory, epoch, "ids", bytes, create, &ret->ids);
	if (ids < 0)
		return ids;
	/* Without a log the bindings are still there: it is made anew. */
	int log = open_file(directory, epoch, "log", bytes, true, &ret->log);
	if (log < 0) {
		order_close(ret);
		return log;
	}
	ret->read = ids && log;
	return 0;
}

int order_map(const char *directory, uint32_t epoch, uint32_t samples, struct order *ret)
{
	return map_files(directory, epoch, samples, false, ret);
}

int order_open(const char *directory, uint32_t epoch, uint32_t samples, bool create,
	struct order *ret)
{
	struct order order;
	int err = map_files(directory, epoch, samples, create, &order);
	if (err)
		return err;
	if (!order.read)
		err = order_read(&order, &order.bound);
	order.read = !err;
	if (err)
		order_close(&order);
	else
		*ret = order;
	return err;
}

bool order_log_begins(const struct order *order)
{
	return order->log[0] != UNBOUND;
}

void order_close(struct order *order)
{
	size_t bytes = (size_t)order->samples * sizeof(uint32_t);
	if (order->ids)
		munmap(order->ids, bytes);
	if (order->log)
		munmap(order->log, bytes);
	*order = (struct order){0};
}

sample_id order_sample(const struct order *order, uint32_t position)
{
	return le32toh(order->ids[position]);
}

void order_bind(
	struct order *order, uint32_t position, sample_id sample, enum served served)
{
	ensure(order->ids[position] == UNBOUND && order->bound < order->samples);
	order->ids[position] = htole32(sample);
	order->log[order->bound++] =
		htole32(position | (uint32_t)served << POSITION_BITS);
}

void order_binding(const struct order *order, uint32_t k, struct sched_binding *ret)
{
	uint32_t entry = le32toh(order->log[k]);
	ret->position = entry & POSITION_MASK;
	ret->served = (enum served)(entry >> POSITION_BITS);
	ret->sample = order_sample(order, ret->position);
}
