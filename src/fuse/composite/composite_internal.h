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
 * The declarations that the files of this folder share.
 *
 *   composite_file.c   open, release, the list of open files
 *   composite_bind.c   finds the samples of a file's labels
 *   composite_slot.c   the samples that a file holds
 *   composite_wait.c   requests that need samples: parked, interrupted, answered
 *   composite_reply.c  the bytes of a read
 */

/*
 * The states of a slot, which is a position that an open file uses.
 *
 * batch   (none) -> OPENING -> HELD -> MAKING -> READY -> HELD -> (none)
 * shard   (none) -> OPENING -> READY -> (none)
 * both    OPENING, MAKING -> FAILED -> (none)
 *
 * A batch that an earlier engine process opened goes from OPENING to READY, too. HELD: the sample
 * is prepared, and the handle pins it. READY: the content is made from the sample. In a batch, the
 * content is freed when the number of bytes read equals the size of the content. In a shard, the
 * content is freed and the handle is released when the last byte was read.
 */
enum slot_state { SLOT_OPENING, SLOT_HELD, SLOT_MAKING, SLOT_READY, SLOT_FAILED };

/* A position that an open file uses. */
struct slot {
	struct composite_file *file;
	uint32_t index;
	/* The file's lock protects the members from here to bytes_read. */
	TAILQ_ENTRY(slot) link;
	enum slot_state state;
	int status; /* -errno of a failed slot */
	bool bad;   /* the slot failed because its sample is bad */
	/* Number of requests (struct wait) that use the slot. A slot with users is never
	 * removed. */
	unsigned users;
	/* the scheduler's number of a parked open; 0: not parked */
	uint64_t ticket;
	/* whether a byte of the sample was read; whether its last byte was read */
	bool read_some, read_end;
	/* bytes of the content that were read since it was made */
	uint64_t bytes_read;
	/* set before the slot becomes HELD or READY; NULL after a failure */
	struct sched_handle *handle;
	struct content content;
	struct load_work work; /* in use while the content is made */
};

TAILQ_HEAD(slots, slot);

/* A request for a composite file, from its arrival to its answer. It is an open or a read. */
struct wait {
	struct composite_file *file;
	fuse_req_t req;
	uint64_t unique; /* number of the request, from handover_request() */
	/* true: the request is an open; false: it reads `size` bytes from `offset` on */
	bool opens;
	uint64_t offset;
	size_t size;
	struct fuse_file_info fi; /* for the answer of an open */
	/* wait_arm was called, so libfuse reports interrupts of the request */
	bool armed;
	int status; /* -errno: a position can't be bound or opened */
	/* The labels and texts before this offset in the file need no further binding. */
	uint64_t bound_to;
	uint32_t binding; /* index, in the file, of the position that is being bound */
	/* epoch that the scheduler was asked for when this position was to be bound */
	uint32_t asked_epoch;
	/* handle of this position, until the position's sample is stored in the file */
	struct sched_handle *bound;
	atomic_int turn;
	struct close_waiter waiter; /* waiter.work makes a worker continue the wait */
	/* The file's lock protects the members from here on. */
	TAILQ_ENTRY(wait) link;
	uint64_t ticket; /* the scheduler's number of a parked open; 0: not parked */
	/* index of the first slot that the request uses; number of its slots */
	uint32_t first, n;
	/* Number of the request's slots that are not prepared yet. While `asking` is set, this is
	 * one more, so that the request is not answered before it has asked for all slots. */
	uint32_t missing;
	bool asking, answered, interrupted;
};

TAILQ_HEAD(waits, wait);

static inline struct wait *wait_of(struct load_work *work)
{
	size_t offset =
		offsetof(struct wait, waiter) + offsetof(struct close_waiter, work);
	return (struct wait *)((char *)work - offset);
}

struct composite_file {
	/* Must be the first member, for casts. Waits and unfinished slots hold references to it. */
	struct open_file open;
	bool again; /* an earlier engine process has opened the file */
	struct sched_job *job;
	struct inode inode;
	struct composite composite;
	enum sample_format format; /* format of the file's samples */
	struct lock lock;
	/* (lock) epoch of the file; SCHED_CURRENT: a file of current/ without a bound position */
	uint32_t epoch;
	/* (session's lock) epoch that a batch and the file of its labels have in common;
	 * SCHED_CURRENT: not chosen yet */
	uint32_t known_epoch;
	/* (lock) Sample of each position; SAMPLE_NONE: the position is not bound yet. NULL: the
	 * file is a batch, which needs no such list. */
	sample_id *samples;
	/* (lock) For each position of the file, its slot; NULL: no request uses the position. A
	 * file of labels has no slots. */
	struct slot **slots;
	struct slots used;  /* (lock) the least recently used slot comes first */
	uint32_t n_used;    /* (lock) */
	struct waits waits; /* (lock) */
};

/* Chooses the epoch for all positions of a file of current/. epoch: the epoch in which the file's
 * first position was bound; usually it is chosen. If other readers keep the same batch open in
 * another epoch, that epoch is chosen. SCHED_CURRENT: no epoch is chosen yet; the wait continues
 * when these readers close their file, or have kept it open for too long. */
uint32_t composite_choose_epoch(struct wait *wait, uint32_t epoch);
/* Returns the kernel's handle for the open file. If the file's epoch in current/ is not known yet,
 * adds the file to the list for later engines (handover.h). The list notes which request made the
 * entry, so the caller has to answer this open next. */
uint64_t composite_file_handle(struct composite_file *file);
/* --- composite_bind.c --- */

/* Binds the positions whose labels the request needs, then calls wait_bound. The function may
 * return earlier; then a worker continues. */
void wait_bind(struct wait *wait);
/* Continues a wait whose reader was killed: no more positions are bound. The caller must have taken
 * the wait's work back from the workers. */
void wait_give_up(struct wait *wait);

/* --- composite_slot.c --- */

/* Makes the wait use the slot of a position, and opens the position if the slot is new. -errno: the
 * position can't be opened; then the caller asks for no further slots. */
must_check int slot_need(struct wait *wait, uint32_t index);
/* Ends the wait's use of its slots. delivered: the reader has received the slots' bytes. */
void slots_leave(struct wait *wait, bool delivered);
/* Cancels the parked opens of the file's positions. */
void slots_cancel(struct composite_file *file);
/* Frees all slots of a file that no wait uses any more. In a shard, consumes the positions of which
 * bytes were read. In a batch, consumes all positions, or none if file->open.undo is set. Undoes
 * the bindings of all other positions. */
void slots_give_back(struct composite_file *file);

/* --- composite_wait.c --- */

/* Makes a wait from `wanted`, binds the labels and asks for the slots. Then parks the request or
 * answers it. */
void wait_start(fuse_req_t req, struct composite_file *file, const struct wait *wanted);
/* Asks for the slots of the wait, then parks the request or answers it. Called when the labels are
 * known, or when wait->status has the error. */
void wait_bound(struct wait *wait);
/* Makes libfuse report interrupts of the request. An interrupt may be handled before the function
 * returns. */
void wait_arm(struct wait *wait);
/* Called when slot number `index` has become HELD, READY or FAILED. Waits that lacked no other slot
 * are moved to the list `ready`. */
void waits_collect_locked(
	struct composite_file *file, uint32_t index, struct waits *ready);
/* Answers the waits and frees them. The caller holds no lock. */
void waits_answer(struct waits *ready);

/* --- composite_reply.c --- */

/* Answers a read. true: the reader has received the bytes. */
bool composite_reply(struct wait *wait);
