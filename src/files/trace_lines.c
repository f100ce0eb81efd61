// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "files/trace_lines.h"
#include "sched/gauges.h"
#include "sched/positions.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LINES_AT_ONCE 4096

static void print_number(FILE *out, uint32_t number, uint32_t none)
{
	if (number == none)
		fputs("\t", out);
	else
		fprintf(out, "\t%" PRIu32, number);
}

static void print_line(
	FILE *out, const struct sched_trace_event *event, int64_t from_monotonic_ns)
{
	static const char *const words[] = {[SCHED_TRACE_OPEN] = "open",
		[SCHED_TRACE_READY] = "ready",
		[SCHED_TRACE_FAILED] = "failed",
		[SCHED_TRACE_RELEASE] = "release"};
	int64_t ns = (int64_t)event->ns + from_monotonic_ns;
	fprintf(out, "%" PRId64 ".%09" PRId64 "\t%" PRIu64 "\t%s", ns / 1000000000,
		ns % 1000000000, event->open, words[event->kind]);
	print_number(out, event->epoch, SCHED_CURRENT);
	fprintf(out, "\t%" PRIu32, event->position);
	print_number(out, event->sample, SAMPLE_NONE);
	if (event->kind == SCHED_TRACE_OPEN)
		fputs("\t\t\n", out);
	else
		fprintf(out, "\t%.9f\t%s\n", (double)event->waited_ns / 1e9,
			event->status ? strerrorname_np(-event->status) : "");
}

int trace_lines(FILE *out, struct sched_job *job, const uint64_t *from)
{
	auto_free struct sched_trace_event *events =
		calloc(LINES_AT_ONCE, sizeof(*events));
	uint64_t next = 0, lost = 0;
	uint32_t n = 0;
	if (!events)
		return -ENOMEM;
	int err = from ? 0 : sched_trace_begin(job, &next);
	if (err)
		return err;
	if (from) {
		next = *from;
		n = sched_trace_read(job, &next, &lost, events, LINES_AT_ONCE);
	}
	/* the time of day minus the clock of the events */
	int64_t offset = (int64_t)clock_ns(CLOCK_REALTIME) - (int64_t)clock_now_ns();
	fprintf(out, "next %" PRIu64 " lost %" PRIu64 "\n", next, lost);
	for (uint32_t i = 0; i < n; i++)
		print_line(out, &events[i], offset);
	return 0;
}
