// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Files in memory that the kernel reads without the daemon. The daemon registers a file
 * with the kernel and gets a number. If the answer to an open in the mount contains this
 * number, the kernel reads the file by itself. A file is never changed.
 *
 *   Flow: main makes the store. The mount's session lends the kernel's functions to it
 *         (backings_begin) until the session ends (backings_end). Meanwhile backing_new
 *         and backing_add make files.
 *   Owns: the count of files. The caller of backing_new owns the file; it may outlive
 *         the session, but not the store.
 *   Threads: any.   Errors: -errno: no file was made, and the caller must keep the bytes
 *         elsewhere. After -EPERM from the kernel all later calls fail.
 */

struct backings;

/* `limit` is the number of files that may be mapped at a time; 0: half of the process's
 * mappings. -ENOMEM. */
must_check int backings_new(uint32_t limit, struct backings **ret);
void backings_free(struct backings **backings);

struct backing_kernel {
	/* registers a file; returns its number, which is positive, or -errno */
	int (*add)(void *context, int fd);
	void (*remove)(void *context, int id);
	void *context;
};

void backings_begin(struct backings *backings, const struct backing_kernel *kernel);
/* Ends the session: the kernel's functions have returned, and are not called again. */
void backings_end(struct backings *backings);

struct backing {
	struct backings *store; /* NULL: no file */
	uint8_t *bytes;		/* read-only */
	size_t size;
	int id;
};

/* Makes a file from n parts. -ENODEV: no session; -ENFILE: too many files; -EINVAL: no
 * bytes. Injected faults: backing.memory, backing.add. */
must_check int backing_new(
	struct backings *backings, const struct iovec *parts, int n, struct backing *ret);
void backing_free(struct backing *backing);

/* Makes a small file, which is not mapped. It exists until backing_remove or the end of
 * the session. */
must_check int backing_add(
	struct backings *backings, void *bytes, size_t size, int *ret_id);

void backing_remove(struct backings *backings, int id);
