// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/order_lines.h"
#include "files/text.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>

#define AT_ONCE 64

/* Prints at most n lines from number `first` on; out NULL: only adds their bytes to *ret_bytes.
 * Returns the number of lines. */
static uint32_t each_line(const struct order_lines *lines, uint32_t first, uint32_t n,
	FILE *out, uint64_t *ret_bytes)
{
	auto_edition *edition = sched_edition(lines->job, lines->epoch);
	struct binding bindings[AT_ONCE];
	uint32_t done = 0, some;
	do {
		uint32_t most = n - done < AT_ONCE ? n - done : AT_ONCE;
		some = sched_bindings(
			lines->job, lines->epoch, first + done, most, bindings);
		for (uint32_t i = 0; i < some; i++)
			if (out)
				text_order_line(out, edition, &bindings[i]);
			else
				*ret_bytes +=
					text_order_line_length(edition, &bindings[i]);
		done += some;
	} while (some > 0 && done < n);
	return done;
}

uint32_t order_lines_print(
	const struct order_lines *lines, uint32_t first, uint32_t n, FILE *out)
{
	return each_line(lines, first, n, out, NULL);
}

static uint32_t print_order(void *context, uint32_t first, uint32_t n, FILE *out)
{
	return each_line(context, first, n, out, NULL);
}

static uint32_t measure_order(
	void *context, uint32_t first, uint32_t n, uint64_t *ret_bytes)
{
	return each_line(context, first, n, NULL, ret_bytes);
}

int order_lines_find(struct sched *sched, struct inode inode, struct order_lines *ret)
{
	*ret = (struct order_lines){
		.job = sched_job_find_id(sched, inode.job), .epoch = inode.epoch};
	return ret->job ? 0 : -ENOENT;
}

struct order_source order_lines_source(struct inode inode, struct order_lines *lines)
{
	return (struct order_source){.key = inode_pack(inode),
		.print = print_order,
		.measure = measure_order,
		.context = lines};
}
