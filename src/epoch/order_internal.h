// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/order.h"

#include <endian.h>
#include <limits.h>
#include <stdint.h>

/*
 * Inside of orders.
 *
 *   order_file.c   orders <-> bytes at a place of a file
 *   order.c        the files of a job's directory, and places in them
 *
 *   | head | sample + 1 of each position, 0: unbound | order_log_entry of each binding |
 *          | position of each that was consumed |
 */

/* All numbers are little endian. */
struct order_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t positions;
	uint32_t bound;
	uint32_t epoch;
	uint64_t fingerprint;
	uint32_t content;  /* checksum of what follows the head */
	uint32_t consumed; /* version 1: 0 */
	uint32_t zero[5];
	uint32_t checksum; /* of the 60 bytes before it */
};
_Static_assert(sizeof(struct order_head) == 64, "no holes");

/* Logs it, and returns it. */
int order_cant(const char *name, const char *what, int err);
/* Logs it. -EINVAL */
int order_refuse(const char *name, const char *what);

/* Where they are, from the order's beginning on. */
uint64_t order_samples_at(uint32_t position);
uint64_t order_log_at(const struct order_head *head, uint32_t k);
uint64_t order_bytes(const struct order_head *head);

/* A head that is whole. offset: of the order. -EINVAL, logged. */
must_check int order_read_head(
	int fd, const char *name, uint64_t offset, struct order_head *ret);
/* Exactly n words. */
must_check int order_read_words(
	int fd, const char *name, uint32_t *words, uint32_t n, uint64_t offset);
/* Compares the checksum of all that follows the head. */
must_check int order_check_content(
	int fd, const char *name, uint64_t offset, const struct order_head *head);
