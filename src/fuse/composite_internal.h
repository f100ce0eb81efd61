// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/composite.h"
#include "files/content.h"
#include "fuse/await_close.h"
#include "fuse/composite_file.h"
#include "load/load.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>

struct sched_handle;
struct sched_job;

/*
 * What the files of composite_*.c share.
 *
 *   composite_file.c   open, release, the list of open files
 *   composite_bind.c   which samples the labels of a file are of
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
	int status;		  /* of a failed one */
	bool bad;		  /* the sample itself is bad */
	unsigned users;		  /* waits; the slot stays while there is one */
	uint64_t ticket;	  /* of an opening that is parked */
	bool read_some, read_end; /* some bytes, the last byte */
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
	uint64_t request; /* outlived_request() */
	bool opens;	  /* else it reads: */
	uint64_t offset;
	size_t size;
	struct fuse_file_info fi;   /* of an open */
	bool armed;		    /* may be interrupted */
	int status;		    /* the error, if not everything could be asked for */
	uint64_t bound_to;	    /* offset: the labels before it are known */
	uint32_t binding;	    /* the record whose position is being bound */
	uint32_t asked_epoch;	    /* for it */
	struct sched_handle *bound; /* its label, for a moment */
	atomic_int turn;
	struct close_waiter waiter; /* its work: another thread goes on */
	/* (file's lock) */
	TAILQ_ENTRY(wait) link;
	uint64_t ticket;   /* of a binding that is parked */
	uint32_t first, n; /* slots */
	uint32_t missing;  /* slots not yet there, and one more while it asks for them */
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
	struct open_file
		open; /* (session's lock) the first member; its handle: the serial */
	bool again;   /* another engine has opened it */
	struct kept_open *kept; /* of a shard of current/ */
	struct session *session;
	struct sched_job *job;
	struct inode inode;
	struct composite composite;
	enum sample_format format; /* of the samples in it */
	atomic_uint references;	   /* of the reader, of waits, of slots under way */
	struct lock lock;
	uint32_t epoch;	      /* (lock) SCHED_CURRENT until something is bound */
	uint32_t known_epoch; /* (session's lock) of a batch and its labels, the same */
	sample_id *samples;   /* (lock) of labels, by index; NULL in a batch */
	struct slot **slots;  /* (lock) by index; NULL in labels */
	struct slots used;    /* (lock) the least recently used first */
	uint32_t n_used;      /* (lock) */
	struct waits waits;   /* (lock) */
	bool undo;	      /* (lock) nobody has read it */
};

void composite_file_put(struct composite_file *file);
/* All positions of a file are of one epoch; in current/, the epoch of the one that is
 * bound first, which is the wait's. Returns the file's; SCHED_CURRENT: the waiter waits
 * until others have closed theirs. */
uint32_t composite_choose_epoch(struct wait *wait, uint32_t epoch);
/* The kernel's name for the open file, which is about to be told. */
uint64_t composite_file_handle(struct composite_file *file);
/* Gives the reader's reference back. undo: the positions are not consumed. */
void composite_file_close(struct composite_file *file, bool undo);

/* --- composite_bind.c --- */

/* Binds what the request has labels of, then calls wait_bound, perhaps later. */
void wait_bind(struct wait *wait);
/* Its work was taken back, and it is interrupted. */
void wait_give_up(struct wait *wait);

/* --- composite_slot.c --- */

/* The wait uses one more slot. -errno: the wait need not ask for others. */
must_check int slot_need(struct wait *wait, uint32_t index);
/* The wait no longer uses its slots. delivered: its reader has got their bytes. */
void slots_leave(struct wait *wait, bool delivered);
void slots_cancel(struct composite_file *file);
void slots_give_back(struct composite_file *file); /* all of them */

/* --- composite_wait.c --- */

/* Asks for the slots of the bytes and parks the request, or answers it. */
void wait_start(fuse_req_t req, struct composite_file *file, const struct wait *wanted);
/* The labels are known, or wait->status says why not. */
void wait_bound(struct wait *wait);
/* From now on the request may be interrupted; perhaps it is at once. */
void wait_arm(struct wait *wait);
/* A slot has just become HELD, READY or FAILED: collects the waits that missed
 * no other. */
void waits_collect_locked(
	struct composite_file *file, uint32_t index, struct waits *ready);
/* Answers and frees them. No lock held. */
void waits_answer(struct waits *ready);

/* --- composite_reply.c --- */

/* true: the reader has got the bytes. */
bool composite_reply(struct wait *wait);
