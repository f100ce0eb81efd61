// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/sched_internal.h"

/*
 * A handle: an open, from its request to its release. The ticket is the number by which a waiting
 * open can be cancelled.
 *
 *     OPENING --> PARKING --> AWAITS_SAMPLE --> AWAITS_TENSOR --> FINISHED
 *
 * A handle skips states in which it has nothing to wait for.
 */
enum handle_state {
	HANDLE_OPENING, /* the thread that opens the file holds the lock */
	/* The thread in sched_open tells its caller the ticket (callback `parking`), without the
	 * lock; no other thread may change the state. */
	HANDLE_PARKING,
	/* The engine has not answered, or a worker looks the sample up (looks_up). */
	HANDLE_AWAITS_SAMPLE,
	HANDLE_AWAITS_TENSOR, /* The handle is among the wanted sample's waiters. */
	HANDLE_FINISHED
};

struct sched_handle {
	struct sched_job *job;
	bool bare; /* an open for another daemon: no position, not known to the engine */
	/* the request to the engine, which sets the results, such as the sample and the epoch */
	struct open_request request;
	bool answered;
	/* A worker looks the sample up in a saved order; only this worker may finish the handle. */
	bool looks_up;
	struct load_work look_up;
	/* the sample's space; NULL: the engine has not answered, or only a label was opened */
	struct space *space;
	sample_id in_space; /* the sample's id in the dataset of `space` */
	/* the sample, if its tensor was not ready at the open; or NULL */
	struct wanted *wanted;
	const struct tensor *tensor;
	enum handle_state state;
	int status;
	bool bad; /* `status` is an error of the sample, and is not transient */
	UT_hash_handle hash; /* entry in sched->tickets, by `ticket` */
	uint64_t ticket;
	uint64_t parked_ns;
	uint64_t awaits_ns;		/* when the present wait for the tensor began */
	uint64_t waited_ns;		/* sum of the waits for the tensor */
	uint64_t traced_as;		/* number of the open in the trace */
	struct waiter waiter;		/* used in the state AWAITS_TENSOR */
	TAILQ_ENTRY(sched_handle) link; /* in a list of an aftermath (after.h) */
	TAILQ_ENTRY(sched_handle) job_link; /* entry in sched_job.parked */
	struct sched_open_callbacks callbacks;
};

/* Makes the handle of an open, which handle_free frees. NULL: no memory. */
struct sched_handle *handle_new(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks);
/* Gives the handle a reference to the sample's tensor, or, if the tensor is not ready, to the
 * wanted sample; handle_detach_locked gives the reference back. -ENOMEM */
must_check int handle_attach_locked(struct sched_handle *handle);
/* Finishes the open if its tensor is ready; otherwise gives the open a ticket (HANDLE_PARKING).
 * -ENOMEM: the open is undone. */
must_check int handle_settle_locked(
	struct sched_handle *handle, struct aftermath *aftermath);
/* Ends the critical section of the open's request. Then frees the handle if err is not 0; otherwise
 * parks the open if it has to wait. */
void handle_asked(struct sched_handle *handle, int err, struct aftermath *aftermath);
/* Continues an open whose request the engine has answered. */
void handle_answered_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Lets a worker look up the request's sample in a saved order (EFFECT_LOOK_UP). */
void handle_look_up_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Ends the wait of an open (HANDLE_FINISHED): removes its ticket, and gives the handle its tensor,
 * or, after an error, gives up the sample. `opened` is called after the critical section. */
void handle_finish_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath);
/* Ends a waiting open with an error, at once or when the thread that works on it is done. */
void handle_give_up_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath);
void handle_free(struct sched_handle *handle);

/* Counts a handle that begins (change = 1) or ceases (-1) to wait for its tensor. */
void handle_waits_locked(struct sched_handle *handle, int change);
/* Reports an open to the job's watch (src/watch), when the open's epoch is known. */
void handle_in_epoch_locked(const struct sched_handle *handle);
/* Adds an event of this kind to the job's trace, unless the open is for another daemon or for a
 * label. There must be a trace. */
void handle_trace_event_locked(struct sched_handle *handle, enum sched_trace_kind kind);
static inline void handle_trace_locked(
	struct sched_handle *handle, enum sched_trace_kind kind)
{
	if (handle->job->watch.trace)
		handle_trace_event_locked(handle, kind);
}
/* Gives notices (warnings about scripts) at the open of an image: if scripts keep too many files
 * open, or readers can't be told apart. */
void notice_open_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* The caller has found that the reader's training also runs on other machines. Gives a notice,
 * unless the job has `ranks`, or positions decide their samples (EPOCHS_FIXED, EPOCHS_MIRRORED).
 * Returns true if the open must fail, because the job refuses scripts on several machines. */
bool notice_is_refused_locked(struct sched_handle *handle, struct aftermath *aftermath);

static inline struct sched_handle *handle_of_waiter(struct waiter *waiter)
{
	return struct_of(waiter, struct sched_handle, waiter);
}

void handle_detach_locked(struct sched_handle *handle, struct aftermath *aftermath);
