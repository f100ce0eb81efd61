// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/order_lines.h"
#include "files/text.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>

#define AT_ONCE 64

/* Calls `line` for the lines from number `first` on, at most n times. Returns the number of
 * calls. */
static uint32_t each_line(const struct order_lines *lines, uint32_t first, uint32_t n,
	void (*line)(void *into, const struct sched_edition *edition,
		const struct binding *binding),
	void *into)
{
	auto_edition *edition = sched_edition(lines->job, lines->epoch);
	struct binding bindings[AT_ONCE];
	uint32_t done = 0, some;
	do {
		uint32_t most = n - done < AT_ONCE ? n - done : AT_ONCE;
		some = sched_bindings(
			lines->job, lines->epoch, first + done, most, bindings);
		for (uint32_t i = 0; i < some; i++)
			line(into, edition, &bindings[i]);
		done += some;
	} while (some > 0 && done < n);
	return done;
}

static void print_line(
	void *into, const struct sched_edition *edition, const struct binding *binding)
{
	text_order_line(into, edition, binding);
}

uint32_t order_lines_print(
	const struct order_lines *lines, uint32_t first, uint32_t n, FILE *out)
{
	return each_line(lines, first, n, print_line, out);
}

static uint32_t print_order(void *context, uint32_t first, uint32_t n, FILE *out)
{
	return order_lines_print(context, first, n, out);
}

static void measure_line(
	void *into, const struct sched_edition *edition, const struct binding *binding)
{
	uint64_t *bytes = into;
	*bytes += text_order_line_length(edition, binding);
}

static uint32_t measure_order(
	void *context, uint32_t first, uint32_t n, uint64_t *ret_bytes)
{
	return each_line(context, first, n, measure_line, ret_bytes);
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
