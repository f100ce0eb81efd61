// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Files in memory that the kernel can read without the daemon. The daemon tells the kernel of such
 * a file and gets a number for it. An open of a file of the mount can then be answered by that
 * number, and its reads no longer come to the daemon. A file can't be changed after it is made.
 *
 *   Flow: main makes the store. The mount's session says how to tell the kernel
 *         (backings_begin), and ends that before it ends itself (backings_end). Between the
 *         two, backing_new and backing_add make files.
 *   Owns: the count of files. Each file belongs to its maker; it may outlive the session,
 *         but not the store.
 *   Threads: any.   Errors: -errno, with nothing to clean up: there is no file then, and
 *         the caller keeps the bytes elsewhere. After -EPERM from the kernel no further
 *         file is made.
 */

struct backings;

/* Makes a store. `limit` is the most files that may be mapped at once; 0: half of the mappings
 * that a process may have. -ENOMEM. */
must_check int backings_new(uint32_t limit, struct backings **ret);
void backings_free(struct backings **backings);

/* Functions that tell the kernel of a file, and that it may forget one. */
struct backing_kernel {
	int (*add)(void *context, int fd); /* returns a number above 0, or -errno */
	void (*remove)(void *context, int id);
	void *context;
};

void backings_begin(struct backings *backings, const struct backing_kernel *kernel);
/* Ends the session: returns when neither function runs any more, and calls neither of them
 * again. */
void backings_end(struct backings *backings);

/* A mapped file; its bytes can only be read. */
struct backing {
	struct backings *store; /* NULL: there is no file */
	uint8_t *bytes;
	size_t size;
	int id;
};

/* Makes a file of n parts. -ENODEV: there is no session; -ENFILE: too many files; -EINVAL: it
 * would be empty. Faults: backing.memory, backing.add. */
must_check int backing_new(
	struct backings *backings, const struct iovec *parts, int n, struct backing *ret);
void backing_free(struct backing *backing);

/* Makes a small file with these bytes. It is not mapped, and stays until backing_remove or the
 * end of the session. */
must_check int backing_add(
	struct backings *backings, void *bytes, size_t size, int *ret_id);

void backing_remove(struct backings *backings, int id);

/* Returns how many files are mapped. */
uint32_t backings_count(struct backings *backings);
