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
 * A batch that an earlier engine opened goes from OPENING to READY, too. HELD: the sample is
 * prepared, and the handle pins it. READY: the content is made from the sample. In a batch, the
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

/* A request, an open or a read, from its arrival to its answer. */
struct wait {
	struct composite_file *file;
	fuse_req_t req;
	uint64_t unique; /* number of the request, from handover_request() */
	bool opens;	 /* the request is an open; otherwise it reads these bytes: */
	uint64_t offset;
	size_t size;
	struct fuse_file_info fi; /* for the answer of an open */
	bool armed;		  /* interrupts of the request are handled (wait_arm) */
	int status;		  /* -errno: a position can't be bound or opened */
	uint64_t bound_to;	  /* offset in the file; all labels before it are known */
	uint32_t binding;	  /* index of the record whose position is being bound */
	/* epoch in which the position of `binding` is asked for */
	uint32_t asked_epoch;
	/* handle of the position of `binding`, until its sample is stored */
	struct sched_handle *bound;
	atomic_int turn;
	struct close_waiter waiter; /* waiter.work makes a worker continue the wait */
	/* The file's lock protects the members from here on. */
	TAILQ_ENTRY(wait) link;
	uint64_t ticket; /* the scheduler's number of a parked open; 0: not parked */
	/* index of the first slot that the request uses; number of its slots */
	uint32_t first, n;
	/* number of slots that are not prepared yet; plus one until the request has asked for all
	 * its slots (`asking`) */
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
	bool again; /* an earlier engine has opened the file */
	struct sched_job *job;
	struct inode inode;
	struct composite composite;
	enum sample_format format; /* format of the file's samples */
	struct lock lock;
	uint32_t epoch; /* (lock) SCHED_CURRENT until a position is bound */
	/* (session's lock) epoch that a batch and its labels share; SCHED_CURRENT: none yet */
	uint32_t known_epoch;
	/* (lock) sample of each position, SAMPLE_NONE until it is bound; NULL in a batch */
	sample_id *samples;
	/* (lock) the slot of each record, or NULL; labels have no slots */
	struct slot **slots;
	struct slots used;  /* (lock) the least recently used slot comes first */
	uint32_t n_used;    /* (lock) */
	struct waits waits; /* (lock) */
};

/* Chooses the epoch for all positions of a file of current/. epoch: the epoch in which the file's
 * first position was bound. If other readers have the same batch open in another epoch, the file
 * gets that epoch. SCHED_CURRENT: not decided; the wait continues when those readers have closed
 * their file. */
uint32_t composite_choose_epoch(struct wait *wait, uint32_t epoch);
/* Returns the kernel's handle for the open file. Adds a file of current/ whose epoch is not known
 * yet to the list of open files for later engines (handover.h), so the caller has to answer the
 * open next. */
uint64_t composite_file_handle(struct composite_file *file);
/* --- composite_bind.c --- */

/* Binds the positions whose labels the request needs, then calls wait_bound. The function may
 * return earlier; then a worker continues. */
void wait_bind(struct wait *wait);
/* Continues a wait whose reader was killed: no more positions are bound. The caller must have taken
 * the wait's work back from the workers. */
void wait_give_up(struct wait *wait);

/* --- composite_slot.c --- */

/* Makes the wait use the slot of a record, and opens the position if the slot is new. -errno: the
 * position can't be opened, and the caller need not ask for further slots. */
must_check int slot_need(struct wait *wait, uint32_t index);
/* Ends the wait's use of its slots. delivered: the reader has received the slots' bytes. */
void slots_leave(struct wait *wait, bool delivered);
/* Cancels the parked opens of the file's positions. */
void slots_cancel(struct composite_file *file);
/* Frees all slots of a file that no wait uses any more. Consumes each position that was read; of a
 * batch, consumes all positions unless file->open.undo is set. Undoes the other bindings. */
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
/* Called when the slot `index` has become HELD, READY or FAILED. Moves the waits that lacked only
 * this slot to `ready`. */
void waits_collect_locked(
	struct composite_file *file, uint32_t index, struct waits *ready);
/* Answers the waits and frees them. The caller holds no lock. */
void waits_answer(struct waits *ready);

/* --- composite_reply.c --- */

/* Answers a read. true: the reader has received the bytes. */
bool composite_reply(struct wait *wait);
