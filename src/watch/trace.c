// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "watch/watch.h"

#include <errno.h>

/* A trace is a ring buffer of a job's opens and closes. It is kept as long as somebody
 * reads it. A reader that falls behind gets the newest EVENTS events. */

#define EVENTS 65536
/* time after the last read at which a trace is freed */
#define KEPT_NS UINT64_C(60000000000)

struct trace {
	uint64_t next, opens; /* number of events, and of opens, so far */
	uint64_t asked_ns;
	struct sched_trace_event ring[EVENTS];
};

void trace_note_locked(struct sched_handle *handle, enum sched_trace_kind kind)
{
	struct sched_job *job = handle->job;
	struct trace *trace = job->trace;
	const struct open_request *request = &handle->request;
	lock_assert_held(&job->sched->lock);
	if (!trace || handle->bare || request->label)
		return;
	if (kind == SCHED_TRACE_OPEN)
		handle->traced_as = ++trace->opens;
	bool known = handle->answered && request->status == 0;
	trace->ring[trace->next++ % EVENTS] =
		(struct sched_trace_event){.ns = clock_now_ns(),
			.kind = kind,
			.open = handle->traced_as,
			.status = handle->status,
			.epoch = known ? request->found_epoch : request->epoch,
			.position = request->position,
			.sample = known ? request->sample : SAMPLE_NONE,
			.waited_ns = handle->waited_ns};
}

int sched_trace_begin(struct sched_job *job, uint64_t *ret_next)
{
	struct trace *spare = calloc(1, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	lock_take(&job->sched->lock);
	if (!job->trace) {
		job->trace = spare;
		spare = NULL;
	}
	job->trace->asked_ns = clock_now_ns();
	*ret_next = job->trace->next;
	lock_release(&job->sched->lock);
	free(spare);
	return 0;
}

uint32_t sched_trace_read(struct sched_job *job, uint64_t *from, uint64_t *ret_lost,
	struct sched_trace_event *ret, uint32_t most)
{
	LOCK_SCOPE(&job->sched->lock);
	struct trace *trace = job->trace;
	uint32_t n = 0;
	*ret_lost = 0;
	if (!trace ||
		*from > trace->next) { /* an earlier daemon's trace, or one that was freed */
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

static struct trace *take_old(struct sched *sched)
{
	LOCK_SCOPE(&sched->lock);
	uint64_t now_ns = clock_now_ns();
	struct sched_job *job;
	TAILQ_FOREACH (job, &sched->jobs, link) {
		struct trace *trace = job->trace;
		if (!trace || now_ns - trace->asked_ns < KEPT_NS)
			continue;
		job->trace = NULL;
		return trace;
	}
	return NULL;
}

void traces_forget(struct sched *sched)
{
	struct trace *trace;
	while ((trace = take_old(sched)))
		free(trace);
}

void trace_free(struct sched_job *job)
{
	free(job->trace);
	job->trace = NULL;
}
