// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/inode.h"
#include "files/order_text.h"

struct sched;
struct sched_job;

/* The lines of epoch-NNNN.order. order_lines_source makes them a source for order_text.h.
 * order_lines_find takes a reference to the job; the caller gives it back by
 * sched_job_put(lines.job). Threads: any. Errors: -ENOENT. */

struct order_lines {
	struct sched_job *job;
	uint32_t epoch;
};

must_check int order_lines_find(
	struct sched *sched, struct inode inode, struct order_lines *ret);

/* Prints at most n lines from number `first` on. Returns the number of lines. */
uint32_t order_lines_print(
	const struct order_lines *lines, uint32_t first, uint32_t n, FILE *out);

/* `lines` must outlive the source. */
struct order_source order_lines_source(struct inode inode, struct order_lines *lines);
