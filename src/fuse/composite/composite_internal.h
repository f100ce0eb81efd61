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
 * HELD: the sample is prepared, and the handle pins it. READY: the content is made of it.
 * The content is freed when as many bytes were read as it has; in a tar, when the last
 * byte was read, and then the handle is released, too.
 */
enum slot_state { SLOT_OPENING, SLOT_HELD, SLOT_MAKING, SLOT_READY, SLOT_FAILED };

/* A position that an open file uses. */
struct slot {
	struct composite_file *file;
	uint32_t index;
	/* (file's lock) */
	TAILQ_ENTRY(slot) link;
	enum slot_state state;
	int status; /* the error of a failed slot */
	bool bad;   /* the sample itself is bad */
	/* number of waits that use the slot, which stays while there are any */
	unsigned users;
	uint64_t ticket;	  /* sched's ticket of a parked opening */
	bool read_some, read_end; /* some bytes, the last byte were read */
	uint64_t bytes_read;	  /* since the content was made last */
	/* constant from HELD or READY on */
	struct sched_handle *handle;
	struct content content;
	struct load_work work; /* while the content is made */
};

TAILQ_HEAD(slots, slot);

/* A request, from its arrival to its answer. */
struct wait {
	struct composite_file *file;
	fuse_req_t req;
	uint64_t unique; /* handover_request() */
	bool opens;	 /* an open; else it reads these bytes: */
	uint64_t offset;
	size_t size;
	struct fuse_file_info fi;   /* the answer's, of an open */
	bool armed;		    /* may be interrupted */
	int status;		    /* the error, if not everything could be asked for */
	uint64_t bound_to;	    /* offset: the labels before it are known */
	uint32_t binding;	    /* the record whose position is being bound */
	uint32_t asked_epoch;	    /* the epoch that is asked for it */
	struct sched_handle *bound; /* the handle of its label, for a moment */
	atomic_int turn;
	struct close_waiter waiter; /* its work makes another thread go on */
	/* (file's lock) */
	TAILQ_ENTRY(wait) link;
	uint64_t ticket;   /* the scheduler's number for an open that waits */
	uint32_t first, n; /* slots */
	uint32_t
		missing; /* slots that are not prepared yet, and one more while `asking` */
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
	/* the first member; waits and slots under way have references */
	struct open_file open;
	bool again; /* another engine has opened it */
	struct sched_job *job;
	struct inode inode;
	struct composite composite;
	enum sample_format format; /* the format of its samples */
	struct lock lock;
	uint32_t epoch; /* (lock) SCHED_CURRENT until something is bound */
	uint32_t
		known_epoch; /* (session's lock) the epoch; a batch shares it with its labels */
	sample_id *samples;  /* (lock) the labels' samples, by index; NULL in a batch */
	struct slot **slots; /* (lock) by index; NULL in labels */
	struct slots used;   /* (lock) the least recently used first */
	uint32_t n_used;     /* (lock) */
	struct waits waits;  /* (lock) */
};

/* Returns the epoch of all positions of the file. A file of current/ gets `epoch`, that of its
 * first bound position, or the epoch that other readers have open. SCHED_CURRENT: the wait goes
 * on when other readers have closed their file. */
uint32_t composite_choose_epoch(struct wait *wait, uint32_t epoch);
/* Returns the kernel's handle for the open file. The caller answers the open next, so a shard
 * whose epoch is unknown is listed (handover.h). */
uint64_t composite_file_handle(struct composite_file *file);
/* --- composite_bind.c --- */

/* Binds the positions whose labels the request covers, then calls wait_bound, perhaps later. */
void wait_bind(struct wait *wait);
/* Goes on with an interrupted wait. Its work was taken back from the workers. */
void wait_give_up(struct wait *wait);

/* --- composite_slot.c --- */

/* Makes the wait use one more slot, which is opened if it is new. -errno: the wait need not ask
 * for others. */
must_check int slot_need(struct wait *wait, uint32_t index);
/* Ends the wait's use of its slots. delivered: the reader has got their bytes. */
void slots_leave(struct wait *wait, bool delivered);
/* Cancels the openings that are parked. */
void slots_cancel(struct composite_file *file);
/* Frees all slots of a file that nobody uses, and consumes or undoes their positions. */
void slots_give_back(struct composite_file *file);

/* --- composite_wait.c --- */

/* Copies `wanted`, binds labels and asks for slots, then parks the request or answers it. */
void wait_start(fuse_req_t req, struct composite_file *file, const struct wait *wanted);
/* Asks for the wait's slots, then parks the request or answers it. Its labels are known, or
 * wait->status says why not. */
void wait_bound(struct wait *wait);
/* Allows that the request is interrupted, which may happen at once. */
void wait_arm(struct wait *wait);
/* Moves the waits that missed only this slot to `ready`. The slot has just become HELD, READY
 * or FAILED. */
void waits_collect_locked(
	struct composite_file *file, uint32_t index, struct waits *ready);
/* Answers the waits and frees them. The caller holds no lock. */
void waits_answer(struct waits *ready);

/* --- composite_reply.c --- */

/* Answers a read. true: the reader has got the bytes. */
bool composite_reply(struct wait *wait);
