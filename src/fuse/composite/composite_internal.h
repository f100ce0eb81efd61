// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/composite.h"
#include "files/content.h"
#include "fuse/await_close.h"
#include "fuse/composite/composite_file.h"
#include "load/load.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>

struct sched_handle;
struct sched_job;

/*
 * The states of a slot, which is a position that an open file uses.
 *
 *   batch   (none) -> OPENING -> HELD -> MAKING -> READY -> HELD -> (none)
 *   shard   (none) -> OPENING -> READY -> (none)
 *   both    OPENING, MAKING -> FAILED -> (none)
 *
 * HELD: the sample is prepared, and the handle keeps its tensor in the cache. READY: the content is
 * made from the sample. A batch frees the content when as many bytes were read as the content has.
 * A shard frees the content and releases the handle when the last byte of the content was read.
 * Slots of a batch that an earlier engine opened go from OPENING to READY, too.
 */
enum slot_state { SLOT_OPENING, SLOT_HELD, SLOT_MAKING, SLOT_READY, SLOT_FAILED };

struct slot {
	struct composite_file *file;
	uint32_t index;
	/* The file's lock protects the fields from here to bytes_read. */
	TAILQ_ENTRY(slot) link;
	enum slot_state state;
	int status; /* -errno of a failed slot */
	bool bad;   /* the slot failed because its sample is bad */
	/* number of waits that use the slot, which is freed only when `users` is 0 */
	unsigned users;
	uint64_t ticket; /* ticket of the slot's open; 0: the open does not wait */
	/* read_some: a byte was read; read_end: the last byte was read */
	bool read_some, read_end;
	uint64_t bytes_read;	     /* bytes read since the content was made */
	struct sched_handle *handle; /* NULL: not opened yet, or failed */
	struct content content;
	struct load_work work; /* in use while the content is made */
};

TAILQ_HEAD(slots, slot);

/* A request for a composite file, an open or a read, until its answer. */
struct wait {
	struct composite_file *file;
	fuse_req_t req;
	uint64_t unique; /* number of the request, from handover_request() */
	bool opens;	 /* true: an open; false: a read */
	/* The request needs the positions of the `size` bytes from `offset` on: all bytes at the
	 * open of a batch or of labels, none at the open of a shard. */
	uint64_t offset;
	size_t size;
	struct fuse_file_info fi; /* for the answer of an open */
	bool armed;		  /* libfuse reports interrupts (wait_arm) */
	int status;		  /* -errno if a position can't be bound or opened */
	/* offset in the file; the positions of all labels and texts before this offset are bound */
	uint64_t bound_to;
	uint32_t binding;     /* index of the position that is being bound */
	uint32_t asked_epoch; /* epoch in which the position `binding` is to be bound */
	/* handle of the position that was bound last; NULL once its sample is in file->samples */
	struct sched_handle *bound;
	atomic_int turn; /* number of calls of is_later for the position `binding` */
	struct close_waiter waiter; /* waiter.work makes a worker continue the wait */
	/* The file's lock protects the fields from here on. */
	TAILQ_ENTRY(wait) link;
	uint64_t
		ticket; /* ticket of the sched_open of position `binding`; 0: it does not wait */
	uint32_t first, n; /* the request uses the n slots from index `first` on */
	/* Number of the request's slots that are not prepared yet; one higher while `asking` is
	 * set, so that no answer is sent before all slots were asked for. */
	uint32_t missing;
	bool asking, answered, interrupted;
};

TAILQ_HEAD(waits, wait);

static inline struct wait *wait_of(struct load_work *work)
{
	return struct_of(work, struct wait, waiter.work);
}

struct composite_file {
	/* The first member, so that pointers can be cast. Each wait, and each slot that is OPENING
	 * or MAKING, has a reference to the file. */
	struct open_file open;
	bool again; /* an earlier engine opened the file */
	struct sched_job *job;
	struct inode inode;
	struct composite composite;
	enum sample_format format;
	struct lock lock;
	/* (lock) SCHED_CURRENT: the file is in current/, and no position is bound yet */
	uint32_t epoch;
	/* (session's lock) epoch that a batch and its labels share; SCHED_CURRENT: not known yet */
	uint32_t known_epoch;
	/* (lock) sample of each position; SAMPLE_NONE: not bound yet. NULL in a batch */
	sample_id *samples;
	/* (lock) slots[i] is the slot of position i, or NULL. Files of labels have no slots. */
	struct slot **slots;
	struct slots used;  /* (lock) the least recently used slot comes first */
	uint32_t n_used;    /* (lock) */
	struct waits waits; /* (lock) */
};

/* Returns the epoch of a file of current/: usually `epoch`, in which the file's first position was
 * bound. But if other readers have the same batch, or its labels, open in another epoch, returns
 * SCHED_CURRENT: the wait continues when they have closed their file. If they keep their file open
 * for too long (await_close.h), returns their epoch. */
uint32_t composite_choose_epoch(struct wait *wait, uint32_t epoch);
uint32_t composite_epoch(struct composite_file *file);
/* Makes and returns the file's handle. If the file's epoch in current/ is not known yet, adds the
 * file to the list for later engines (handover.h). The caller has passed the open to
 * handover_answers, and must answer the open next. */
uint64_t composite_file_handle(struct composite_file *file);
/* --- composite_bind.c: finds the samples of a file's labels --- */

/* Binds to samples the positions whose labels or texts the request reads. Then calls wait_bound,
 * possibly in a worker after this function has returned. */
void wait_bind(struct wait *wait);
/* Continues a wait whose reader was killed, without binding more positions. The caller must have
 * taken the wait's work back from the workers. */
void wait_give_up(struct wait *wait);

/* --- composite_slot.c: the samples that a file holds --- */

/* Makes the wait use the slot of position `index`. If the slot is new, opens the position. -errno:
 * the position can't be opened, and the caller must ask for no further slots. */
must_check int slot_need(struct wait *wait, uint32_t index);
/* Ends the wait's use of its slots. delivered: the reader has received the slots' bytes. */
void slots_leave(struct wait *wait, bool delivered);
void slots_cancel(struct composite_file *file);
/* Frees all slots of a file that has no waits. In a shard, consumes the positions from which bytes
 * were read. In a batch, consumes all positions, unless file->open.undo is set. */
void slots_give_back(struct composite_file *file);

/* --- composite_wait.c: requests that need samples, until they are answered --- */

/* Makes a wait from `wanted`, and calls wait_bind. */
void wait_start(fuse_req_t req, struct composite_file *file, const struct wait *wanted);
/* Asks for the samples, and then answers the request, or lets it wait. Called when the positions of
 * the labels and texts are bound, or when this has failed: wait->status is the error. */
void wait_bound(struct wait *wait);
/* Makes libfuse report an interrupt of the request. libfuse may do so before wait_arm returns. */
void wait_arm(struct wait *wait);
/* Moves to `ready` the waits that lacked only slot `index`, now HELD, READY or FAILED. */
void waits_collect_locked(
	struct composite_file *file, uint32_t index, struct waits *ready);
/* Answers the requests of the waits, and frees the waits. The caller holds no lock. */
void waits_answer(struct waits *ready);

/* --- composite_reply.c --- */

/* Answers a read. Returns true if the reader has received the bytes. */
bool composite_reply(struct wait *wait);
