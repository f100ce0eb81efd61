// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/backing.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* vm.max_map_count, where it can't be read. */
#define DEFAULT_MAPPINGS 65530
#define MOST_FILES (UINT32_C(1) << 20)

struct backings {
	uint32_t limit;
	atomic_uint count;
	struct lock lock;
	struct backing_kernel kernel; /* (lock) add is NULL: no session */
	unsigned calls;		      /* (lock) of its functions, running now */
	pthread_cond_t idle;
};

/* A third of the mappings: the allocator and the libraries need some as well. */
static uint32_t default_limit(void)
{
	unsigned mappings = DEFAULT_MAPPINGS;
	auto_fclose FILE *in = fopen("/proc/sys/vm/max_map_count", "re");
	if (in && fscanf(in, "%u", &mappings) != 1)
		mappings = DEFAULT_MAPPINGS;
	return mappings / 3 < MOST_FILES ? mappings / 3 : MOST_FILES;
}

int backings_new(uint32_t limit, struct backings **ret)
{
	struct backings *backings = calloc(1, sizeof(*backings));
	if (!backings)
		return -ENOMEM;
	backings->limit = limit ? limit : default_limit();
	atomic_init(&backings->count, 0);
	lock_init(&backings->lock, LOCK_RANK_BACKING, "backing");
	ensure(pthread_cond_init(&backings->idle, NULL) == 0);
	*ret = backings;
	return 0;
}

void backings_free(struct backings **backings)
{
	if (!*backings)
		return;
	ensure(atomic_load(&(*backings)->count) == 0);
	ensure(!(*backings)->kernel.add);
	ensure(pthread_cond_destroy(&(*backings)->idle) == 0);
	lock_destroy(&(*backings)->lock);
	free(*backings);
	*backings = NULL;
}

uint32_t backings_count(struct backings *backings)
{
	return atomic_load(&backings->count);
}

/* --- the kernel --------------------------------------------------------------------- */

void backings_begin(struct backings *backings, const struct backing_kernel *kernel)
{
	LOCK_SCOPE(&backings->lock);
	ensure(!backings->kernel.add);
	backings->kernel = *kernel;
}

void backings_end(struct backings *backings)
{
	LOCK_SCOPE(&backings->lock);
	backings->kernel = (struct backing_kernel){0};
	while (backings->calls > 0)
		lock_wait(&backings->lock, &backings->idle);
}

static bool begin_call(struct backings *backings, struct backing_kernel *ret)
{
	LOCK_SCOPE(&backings->lock);
	*ret = backings->kernel;
	backings->calls += ret->add != NULL;
	return ret->add != NULL;
}

static void end_call(struct backings *backings, bool refused)
{
	LOCK_SCOPE(&backings->lock);
	if (refused)
		backings->kernel = (struct backing_kernel){0};
	if (--backings->calls == 0)
		pthread_cond_broadcast(&backings->idle);
}

/* Nobody will be told of it when it is too late for that: the kernel forgets them all. */
void backing_remove(struct backings *backings, int id)
{
	struct backing_kernel kernel;
	if (!begin_call(backings, &kernel))
		return;
	kernel.remove(kernel.context, id);
	end_call(backings, false);
}

static int tell_added(struct backings *backings, int fd)
{
	struct backing_kernel kernel;
	int id = fault_hit("backing.add");
	if (id)
		return id;
	if (!begin_call(backings, &kernel))
		return -ENODEV;
	id = kernel.add(kernel.context, fd);
	ensure(id != 0);
	if (id == -EPERM)
		log_warn("the kernel refuses to read samples by itself: reads are "
			 "answered by the daemon");
	end_call(backings, id == -EPERM);
	return id;
}

static bool has_session(struct backings *backings)
{
	LOCK_SCOPE(&backings->lock);
	return backings->kernel.add != NULL;
}

/* --- files -------------------------------------------------------------------------- */

static int new_file(struct backings *backings, int *ret)
{
	int err = has_session(backings) ? fault_hit("backing.memory") : -ENODEV;
	if (err)
		return err;
	*ret = memfd_create("joaderfs", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	return *ret < 0 ? -errno : 0;
}

/* All pages at once, so that a lack of memory is an error here and no signal later. */
static int map(int fd, size_t size, uint8_t **ret)
{
	if (fallocate(fd, 0, 0, (off_t)size) != 0)
		return -errno;
	void *at = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*ret = at;
	return 0;
}

static int make(struct backings *backings, struct backing *backing)
{
	auto_close int fd = -1;
	int err = new_file(backings, &fd);
	if (!err)
		err = map(fd, backing->size, &backing->bytes);
	if (err)
		return err;
	backing->id = tell_added(backings, fd);
	if (backing->id > 0)
		return 0;
	ensure(munmap(backing->bytes, backing->size) == 0);
	return backing->id;
}

int backing_new(struct backings *backings, size_t size, struct backing *ret)
{
	*ret = (struct backing){0};
	if (size == 0)
		return -EINVAL;
	struct backing backing = {.store = backings, .size = size};
	int err = -ENFILE;
	if (atomic_fetch_add(&backings->count, 1) < backings->limit)
		err = make(backings, &backing);
	if (err)
		atomic_fetch_sub(&backings->count, 1);
	else
		*ret = backing;
	return err;
}

void backing_free(struct backing *backing)
{
	if (!backing->store)
		return;
	backing_remove(backing->store, backing->id);
	ensure(munmap(backing->bytes, backing->size) == 0);
	atomic_fetch_sub(&backing->store->count, 1);
	*backing = (struct backing){0};
}

int backing_add(struct backings *backings, const void *bytes, size_t size, int *ret_id)
{
	auto_close int fd = -1;
	int err = new_file(backings, &fd);
	if (err)
		return err;
	ssize_t written = write(fd, bytes, size);
	if (written != (ssize_t)size)
		return written < 0 ? -errno : -ENOSPC;
	*ret_id = tell_added(backings, fd);
	return *ret_id < 0 ? *ret_id : 0;
}
