// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * A file whose parts lie in different places. content_cut cuts a read request out of it,
 * without copying:
 *
 *   0          head_bytes           head + body            size
 *   |-- head --|------- body -------|------- zeros --------|
 *
 *   Threads: any.   Errors: none; a request beyond the end gives nothing.
 */

#define CONTENT_ZEROS ((size_t)64 * 1024)		   /* one block of zeros */
#define CONTENT_MAX_READ ((size_t)1024 * 1024)		   /* the largest request */
#define CONTENT_IOV (CONTENT_MAX_READ / CONTENT_ZEROS + 3) /* entries of any cut */

struct content_parts {
	const void *head;
	uint64_t head_bytes;
	const void *body;
	uint64_t body_bytes;
	uint64_t size; /* of the whole file, zeros included */
};

/* Returns the number of entries; *ret_bytes is at most CONTENT_MAX_READ. */
int content_cut(const struct content_parts *parts, uint64_t offset, size_t length,
	struct iovec iov[CONTENT_IOV], size_t *ret_bytes);
