// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/order.h"

#include <endian.h>
#include <limits.h>
#include <stdint.h>

/*
 *  order_file.c   reads and writes orders at any offset of a file
 *  order.c        finds the orders of a job's directory, and reads parts of them
 *
 *  | head | sample + 1 of each position, 0: unbound | order_log_entry of each binding |
 *         | consumed positions, in the order in which they were consumed |
 */

/* All numbers are little endian. */
struct order_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t positions;
	uint32_t bound;
	uint32_t epoch;
	uint64_t fingerprint;
	uint32_t content;  /* checksum of all bytes after the head */
	uint32_t consumed; /* 0 in version 1 */
	uint32_t zero[5];
	uint32_t checksum; /* checksum of the previous 60 bytes */
};
_Static_assert(sizeof(struct order_head) == 64, "no holes");

/* Logs "NAME: WHAT", and that the file is not used; returns -EINVAL. */
int order_refuse(const char *name, const char *what);

/* Returns the offset of a position's sample from the order's beginning. */
uint64_t order_samples_at(uint32_t position);
/* Returns the offset of log entry k from the order's beginning. */
uint64_t order_log_at(const struct order_head *head, uint32_t k);
uint64_t order_bytes(const struct order_head *head);

/* Reads the head of the order that begins at the offset, and checks it. -EINVAL, logged: the head
 * is incomplete, damaged or impossible. */
must_check int order_read_head(
	int fd, const char *name, uint64_t offset, struct order_head *ret);
/* Reads n words at an offset of the file. -EINVAL, logged: the file is too short. */
must_check int order_read_words(
	int fd, const char *name, uint32_t *words, uint32_t n, uint64_t offset);
/* Compares the checksum of the bytes after an order's head. offset: where the order begins.
 * -EINVAL, logged: the checksum is wrong. */
must_check int order_check_content(
	int fd, const char *name, uint64_t offset, const struct order_head *head);
