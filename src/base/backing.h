// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Files in memory that the kernel can read from by itself, once it knows them: who opens
 * a file of the mount is then told "it is that one", by a number, and reads no longer
 * come to the daemon. Once made, they can't be changed.
 *
 *   Flow: main makes the store; the mount's session says how the kernel is told
 *         (backings_begin) and, before it ends, that it can be told no longer
 *         (backings_end). Between them backing_new and backing_add.
 *   Owns: the number of the files that there are; each file belongs to who made it, may
 *         outlive the session, but not the store.
 *   Threads: any.   Errors: -errno, with nothing to clean up: there is no such file then,
 *         and its bytes have to be kept elsewhere. -EPERM from the kernel ends it all.
 */

struct backings;

/* limit: files that are mapped at once; 0: as many as leave enough of the mappings that
 * a process may have. -ENOMEM. */
must_check int backings_new(uint32_t limit, struct backings **ret);
void backings_free(struct backings **backings);

/* How the kernel is told of a file, and that it may forget one. */
struct backing_kernel {
	int (*add)(void *context, int fd); /* a number above 0, or -errno */
	void (*remove)(void *context, int id);
	void *context;
};

void backings_begin(struct backings *backings, const struct backing_kernel *kernel);
/* Neither of the two runs any more when it returns. */
void backings_end(struct backings *backings);

/* A file, and its bytes, which can only be read. */
struct backing {
	struct backings *store; /* NULL: none */
	uint8_t *bytes;
	size_t size;
	int id;
};

/* Of n parts. Faults: backing.memory, backing.add. -ENODEV: no session; -ENFILE: too
 * many; -EINVAL: empty. */
must_check int backing_new(
	struct backings *backings, const struct iovec *parts, int n, struct backing *ret);
void backing_free(struct backing *backing);

/* A small file with these bytes, which stays until the session ends. */
must_check int backing_add(
	struct backings *backings, void *bytes, size_t size, int *ret_id);

void backing_remove(struct backings *backings, int id);

/* Of those that are mapped. */
uint32_t backings_count(struct backings *backings);
