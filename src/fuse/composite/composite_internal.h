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
 *   (none) -> OPENING -> HELD <-> MAKING -> READY -> (none)
 *                  \-> FAILED -> (none)
 *
 * HELD: the sample is prepared, and the handle pins it. READY: the content is made from the sample.
 * In a batch, the content is freed when as many bytes were read as it has. In a tar, the content is
 * freed and the handle is released when the last byte was read.
 */
enum slot_state { SLOT_OPENING, SLOT_HELD, SLOT_MAKING, SLOT_READY, SLOT_FAILED };

/* A position that an open file uses. */
struct slot {
	struct composite_file *file;
	uint32_t index;
	/* (file's lock) */
	TAILQ_ENTRY(slot) link;
	enum slot_state state;
	int status; /* error code of a failed slot */
	bool bad;   /* the sample itself is bad */
	/* Number of waits that use the slot. A slot with users is never removed. */
	unsigned users;
	uint64_t ticket;	  /* the scheduler's number for an open that waits */
	bool read_some, read_end; /* the reader has read some bytes; the last byte */
	uint64_t bytes_read;	  /* bytes read since the content was last made */
	/* Set once the slot is HELD; never changes after that. */
	struct sched_handle *handle;
	struct content content;
	struct load_work work; /* in use while the content is made */
};

TAILQ_HEAD(slots, slot);

/* A request, from its arrival to its answer. */
struct wait {
	struct composite_file *file;
	fuse_req_t req;
	uint64_t unique; /* number of the request, from handover_request() */
	bool opens;	 /* the request is an open; otherwise it reads these bytes: */
	uint64_t offset;
	size_t size;
	struct fuse_file_info fi; /* for the answer of an open */
	bool armed;		  /* an interrupt of the request will be handled */
	int status;		  /* error code, if not all slots could be asked for */
	uint64_t bound_to;	  /* an offset; all labels before it are known */
	uint32_t binding;	  /* the record whose position is being bound */
	uint32_t asked_epoch;	  /* epoch in which this position is asked for */
	/* handle of the position, until its sample is stored */
	struct sched_handle *bound;
	atomic_int turn;
	struct close_waiter waiter; /* its work makes another thread continue the wait */
	/* (file's lock) */
	TAILQ_ENTRY(wait) link;
	uint64_t ticket;   /* the scheduler's number for an open that waits */
	uint32_t first, n; /* slots */
	uint32_t missing;  /* slots that are not prepared yet; plus one while `asking` */
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
	/* The first member. Waits and unfinished slots hold references. */
	struct open_file open;
	bool again; /* an earlier engine has opened the file */
	struct sched_job *job;
	struct inode inode;
	struct composite composite;
	enum sample_format format; /* the format of its samples */
	struct lock lock;
	uint32_t epoch; /* (lock) SCHED_CURRENT until a position is bound */
	/* (session's lock) the epoch that a batch and its labels share */
	uint32_t known_epoch;
	/* (lock) the sample of each label, by index; NULL in a batch */
	sample_id *samples;
	struct slot **slots; /* (lock) indexed by record; NULL in labels */
	struct slots used;   /* (lock) the least recently used slot comes first */
	uint32_t n_used;     /* (lock) */
	struct waits waits;  /* (lock) */
};

/* Returns the epoch for all positions of the file. A file of current/ gets `epoch`, the epoch of
 * its first bound position, unless other readers have another epoch open: then it shares that
 * epoch. SCHED_CURRENT: the wait continues when other readers have closed their file. */
uint32_t composite_choose_epoch(struct wait *wait, uint32_t epoch);
/* Returns the kernel's handle for the open file. If the file is a shard of unknown epoch, lists it
 * for later engines (handover.h), because the caller is about to answer the open. */
uint64_t composite_file_handle(struct composite_file *file);
/* --- composite_bind.c --- */

/* Binds the positions whose labels the request needs, then calls wait_bound. Some of this may
 * happen after the function has returned. */
void wait_bind(struct wait *wait);
/* Continues an interrupted wait. Its work was taken back from the workers. */
void wait_give_up(struct wait *wait);

/* --- composite_slot.c --- */

/* Makes the wait use one more slot. A new slot is opened. -errno: the wait need not ask for further
 * slots. */
must_check int slot_need(struct wait *wait, uint32_t index);
/* Ends the wait's use of its slots. delivered: the reader has received their bytes. */
void slots_leave(struct wait *wait, bool delivered);
/* Cancels the parked opens of positions. */
void slots_cancel(struct composite_file *file);
/* Frees all unused slots of a file. Consumes their positions, or undoes their binding. */
void slots_give_back(struct composite_file *file);

/* --- composite_wait.c --- */

/* Copies `wanted`, binds the labels and asks for the slots. Then parks the request or answers
 * it. */
void wait_start(fuse_req_t req, struct composite_file *file, const struct wait *wanted);
/* Asks for the slots of the wait, then parks the request or answers it. The labels are known, or
 * wait->status has the error. */
void wait_bound(struct wait *wait);
/* Enables interrupts of the request. An interrupt may be handled before the function returns. */
void wait_arm(struct wait *wait);
/* Moves the waits that lacked only this slot to `ready`. The slot has just become HELD, READY or
 * FAILED. */
void waits_collect_locked(
	struct composite_file *file, uint32_t index, struct waits *ready);
/* Answers the waits and frees them. The caller holds no lock. */
void waits_answer(struct waits *ready);

/* --- composite_reply.c --- */

/* Answers a read. true: the reader has received the bytes. */
bool composite_reply(struct wait *wait);
