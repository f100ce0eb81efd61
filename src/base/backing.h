// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Files in memory that the kernel can read without the daemon. The daemon registers such a file
 * with the kernel and gets a number for it. The answer to an open in the mount can contain this
 * number; the kernel then reads the file, and no reads come to the daemon. A file can't be changed
 * after it was made.
 *
 *   Flow: main makes the store. The mount's session provides the functions of the kernel
 *         (backings_begin), and takes them back before it ends (backings_end). Between these two
 *         calls, backing_new and backing_add make files.
 *   Owns: the count of files. The caller of backing_new owns the file; it may outlive the session,
 *         but not the store.
 *   Threads: any.   Errors: -errno: no file was made, and the caller must keep the bytes elsewhere.
 *         After -EPERM from the kernel all later calls fail.
 */

struct backings;

/* Makes a store. limit: most files mapped at one time; 0: half of the mappings that a process may
 * have. -ENOMEM. */
must_check int backings_new(uint32_t limit, struct backings **ret);
void backings_free(struct backings **backings);

/* Functions that register a file with the kernel, and that make the kernel forget it. */
struct backing_kernel {
	int (*add)(void *context, int fd); /* returns a positive number, or -errno */
	void (*remove)(void *context, int id);
	void *context;
};

void backings_begin(struct backings *backings, const struct backing_kernel *kernel);
/* Ends the session. After the return, the kernel's functions (struct backing_kernel) are neither
 * running nor called again. */
void backings_end(struct backings *backings);

/* A mapped file. Its bytes are read-only. */
struct backing {
	struct backings *store; /* NULL: the struct has no file */
	uint8_t *bytes;
	size_t size;
	int id;
};

/* Makes a file from n parts. -ENODEV: there is no session; -ENFILE: too many files; -EINVAL: the
 * file would be empty. Injected faults: backing.memory, backing.add. */
must_check int backing_new(
	struct backings *backings, const struct iovec *parts, int n, struct backing *ret);
void backing_free(struct backing *backing);

/* Makes a small file with these bytes. The file is not mapped. It exists until backing_remove or
 * the end of the session. */
must_check int backing_add(
	struct backings *backings, void *bytes, size_t size, int *ret_id);

void backing_remove(struct backings *backings, int id);

/* Returns the number of mapped files. */
uint32_t backings_count(struct backings *backings);
