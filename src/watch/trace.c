// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "watch/watch.h"

#include <errno.h>

/* A trace is a ring of a job's opens and closes. It exists as long as a client reads it.
 * A client that falls behind gets the newest EVENTS events. */

#define EVENTS 65536
#define KEPT_NS UINT64_C(60000000000)

struct trace {
	/* next: number of events in the trace so far, and the number of the next event. opens:
	 * number of opens in the trace so far. */
	uint64_t next, opens;
	uint64_t asked_ns;
	struct sched_trace_event ring[EVENTS];
};

void trace_note_locked(struct watch *watch, struct sched_trace_event *event)
{
	struct trace *trace = watch->trace;
	lock_assert_held(watch->job->lock);
	if (event->kind == SCHED_TRACE_OPEN)
		event->open = ++trace->opens;
	trace->ring[trace->next++ % EVENTS] = *event;
}

int trace_begin(struct watch *watch, uint64_t *ret_next)
{
	struct trace *spare = calloc(1, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	lock_take(watch->job->lock);
	if (!watch->trace) {
		watch->trace = spare;
		spare = NULL;
	}
	watch->trace->asked_ns = clock_now_ns();
	*ret_next = watch->trace->next;
	lock_release(watch->job->lock);
	free(spare);
	return 0;
}

uint32_t trace_read(struct watch *watch, uint64_t *from, uint64_t *ret_lost,
	struct sched_trace_event *ret, uint32_t most)
{
	LOCK_SCOPE(watch->job->lock);
	struct trace *trace = watch->trace;
	uint32_t n = 0;
	*ret_lost = 0;
	/* `from` may come from an earlier daemon, or from a trace that was freed. */
	if (!trace || *from > trace->next) {
		*from = trace ? trace->next : 0;
		return 0;
	}
	uint64_t first = trace->next > EVENTS ? trace->next - EVENTS : 0;
	if (*from < first)
		*ret_lost = first - *from;
	*from += *ret_lost;
	trace->asked_ns = clock_now_ns();
	while (n < most && *from < trace->next)
		ret[n++] = trace->ring[(*from)++ % EVENTS];
	return n;
}

static struct trace *take_old(struct watch *watch)
{
	LOCK_SCOPE(watch->job->lock);
	struct trace *trace = watch->trace;
	if (!trace || clock_now_ns() - trace->asked_ns < KEPT_NS)
		return NULL;
	watch->trace = NULL;
	return trace;
}

void trace_forget(struct watch *watch)
{
	free(take_old(watch));
}
