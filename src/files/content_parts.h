// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * A file whose parts lie in different places in memory. content_cut finds the parts that a read
 * wants, without copying them:
 *
 *   0          head_bytes           head + body            size
 *   |-- head --|------- body -------|------- zeros --------|
 *
 *   With a second file (second_at > 0):
 *   |-- head --|-- body --|- zeros -|- header -|- head -|- body -|- zeros -|
 *                                   second_at
 *
 *   Threads: any.   Errors: none; a request beyond the end gives nothing.
 */

#define CONTENT_ZEROS ((size_t)64 * 1024)      /* bytes of a block of zeros */
#define CONTENT_MAX_READ ((size_t)1024 * 1024) /* bytes of the largest read */
/* entries of an iovec array that is long enough for any read */
#define CONTENT_IOV (CONTENT_MAX_READ / CONTENT_ZEROS + 7)

struct content_parts {
	const void *head;
	uint64_t head_bytes;
	const void *body;
	uint64_t body_bytes;
	uint64_t size;	    /* size of the whole file, including its zeros */
	uint64_t second_at; /* offset of the second file; 0: there is none */
	const void *second_header;
	uint64_t second_header_bytes;
	const void *second_head;
	uint64_t second_head_bytes;
	const void *second_body;
	uint64_t second_body_bytes;
};

/* Fills `iov` with the parts of the file from `offset` on. Returns the number of entries in `iov`.
 * *ret_bytes: length of these parts, at most CONTENT_MAX_READ. */
int content_cut(const struct content_parts *parts, uint64_t offset, size_t length,
	struct iovec iov[CONTENT_IOV], size_t *ret_bytes);
