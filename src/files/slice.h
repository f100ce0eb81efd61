// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Cuts a read request out of a file whose parts lie in different places, without copying:
 *
 *   0          head_bytes           head + body            size
 *   |-- head --|------- body -------|------- zeros --------|
 *
 *   Threads: any.   Errors: none; a request beyond the end gives nothing.
 */

#define SLICE_ZEROS ((size_t)64 * 1024)		     /* one block of zeros */
#define SLICE_MAX_READ ((size_t)1024 * 1024)	     /* the largest request */
#define SLICE_IOV (SLICE_MAX_READ / SLICE_ZEROS + 3) /* entries that it can need */

struct slice_source {
	const void *head;
	uint64_t head_bytes;
	const void *body;
	uint64_t body_bytes;
	uint64_t size; /* of the whole file, zeros included */
};

/* Returns the number of entries; *ret_bytes is at most SLICE_MAX_READ. */
int slice(const struct slice_source *source, uint64_t offset, size_t length,
	struct iovec iov[SLICE_IOV], size_t *ret_bytes);
