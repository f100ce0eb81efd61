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
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* Linux's default of vm.max_map_count, for the case that /proc can't be read. */
#define DEFAULT_MAPPINGS 65530
#define MOST_FILES (UINT32_C(1) << 20)

struct backings {
	uint32_t limit;
	atomic_uint count;
	struct lock lock;
	/* (lock) add NULL: no session, or the kernel has refused */
	struct backing_kernel kernel;
	unsigned calls; /* (lock) running calls of the functions in `kernel` */
	pthread_cond_t idle;
};

static unsigned parse_mappings(FILE *in)
{
	unsigned mappings;
	return fscanf(in, "%u", &mappings) == 1 ? mappings : DEFAULT_MAPPINGS;
}

/* Returns half of the allowed mappings: the allocator and libraries need the others. */
static uint32_t default_limit(void)
{
	unsigned mappings = DEFAULT_MAPPINGS;
	auto_fclose FILE *in = fopen("/proc/sys/vm/max_map_count", "re");
	if (in)
		mappings = parse_mappings(in);
	return mappings / 2 < MOST_FILES ? mappings / 2 : MOST_FILES;
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

/* Does nothing after backings_end, because the kernel has forgotten all files. */
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
	if (!begin_call(backings, &kernel))
		return -ENODEV;
	int id = fault_hit("backing.add");
	if (id == 0)
		id = kernel.add(kernel.context, fd);
	ensure(id != 0);
	if (id == -EPERM)
		log_warn("FUSE passthrough: the kernel refuses it, so the daemon answers "
			 "all reads");
	end_call(backings, id == -EPERM);
	return id;
}

static bool has_session(struct backings *backings)
{
	LOCK_SCOPE(&backings->lock);
	return backings->kernel.add != NULL;
}

static int write_all(int fd, const struct iovec *parts, int n, size_t size)
{
	ssize_t written = writev(fd, parts, n);
	if (written < 0)
		return -errno;
	return (size_t)written == size ? 0 : -ENOSPC;
}

static int new_file(struct backings *backings, const struct iovec *parts, int n,
	size_t size, int *ret)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
	int err = has_session(backings) ? fault_hit("backing.memory") : -ENODEV;
	if (err)
		return err;
	*ret = memfd_create("joaderfs", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (*ret < 0)
		return -errno;
	err = write_all(*ret, parts, n, size);
	if (!err && fcntl(*ret, F_ADD_SEALS, seals) != 0)
		err = -errno;
	return err;
}

static int make(struct backings *backings, const struct iovec *parts, int n,
	struct backing *backing)
{
	auto_close int fd = -1;
	int err = new_file(backings, parts, n, backing->size, &fd);
	if (err)
		return err;
	void *at = mmap(NULL, backing->size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	backing->bytes = at;
	backing->id = tell_added(backings, fd);
	if (backing->id > 0)
		return 0;
	ensure(munmap(at, backing->size) == 0);
	return backing->id;
}

int backing_new(
	struct backings *backings, const struct iovec *parts, int n, struct backing *ret)
{
	struct backing backing = {.store = backings};
	*ret = (struct backing){0};
	for (int i = 0; i < n; i++)
		backing.size += parts[i].iov_len;
	if (backing.size == 0)
		return -EINVAL;
	int err = -ENFILE;
	if (atomic_fetch_add(&backings->count, 1) < backings->limit)
		err = make(backings, parts, n, &backing);
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

int backing_add(struct backings *backings, void *bytes, size_t size, int *ret_id)
{
	auto_close int fd = -1;
	struct iovec part = {.iov_base = bytes, .iov_len = size};
	int err = new_file(backings, &part, 1, size, &fd);
	if (err)
		return err;
	*ret_id = tell_added(backings, fd);
	return *ret_id < 0 ? *ret_id : 0;
}
