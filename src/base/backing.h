// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Files in memory that the kernel reads without the daemon (FUSE passthrough). The daemon registers
 * a file with the kernel and gets a number. If the answer to an open in the mount contains this
 * number, the kernel reads the file by itself. A file is never changed.
 *
 *   Flow: main makes the store (struct backings). The mount's session lends the kernel's functions
 *         to the store from backings_begin to backings_end. Meanwhile backing_new and backing_add
 *         make files.
 *   Owns: the count of files. The caller of backing_new owns the file, which may outlive the
 *         session, and frees it before the store.
 *   Threads: any.
 *   Errors: -errno: no file was made, and the caller must keep the bytes elsewhere. After -EPERM
 *         from the kernel all later calls fail.
 */

struct backings;

/* `limit` is the number of files that may be mapped at a time; 0: half of the mappings that Linux
 * allows a process. Returns 0 or -ENOMEM. */
must_check int backings_new(uint32_t limit, struct backings **ret);
void backings_free(struct backings **backings);

struct backing_kernel {
	/* returns the file's number, which is positive, or -errno */
	int (*add)(void *context, int fd);
	void (*remove)(void *context, int id);
	void *context;
};

void backings_begin(struct backings *backings, const struct backing_kernel *kernel);
/* Waits for running calls of the kernel's functions, and allows no new calls. */
void backings_end(struct backings *backings);

struct backing {
	struct backings *store; /* NULL: no file */
	uint8_t *bytes;		/* read-only */
	size_t size;
	int id;
};

/* Makes a file from n parts. -ENODEV: no session; -ENFILE: too many files; -EINVAL: the parts are
 * empty. Injected faults: backing.memory, backing.add. */
must_check int backing_new(
	struct backings *backings, const struct iovec *parts, int n, struct backing *ret);
void backing_free(struct backing *backing);

/* Makes a file that contains `bytes`. *ret_id: the kernel's number of the file. The daemon does not
 * map the file, so `limit` does not count it. The file exists until backing_remove or the end of
 * the session. */
must_check int backing_add(
	struct backings *backings, void *bytes, size_t size, int *ret_id);

void backing_remove(struct backings *backings, int id);
