// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "dataset/source_part.h"
#include "load/file_head.h"
#include "image/image.h"
#include "prepare/prepare.h"
#include "tier/tier.h"

#include <stddef.h>
#include <sys/queue.h>

/*
 * Preparing samples in two stages: threads that read files, as many as the storages
 * reward, and decoders (image.h), as many as there are CPUs. A read that takes long holds
 * up no decoder, and one that never ends holds up nothing but its own thread. Decoders also
 * do what is too long for the thread that is asked for it: load_pool_run.
 *
 *     next_read --> a reader --> read ... next_decode --> a decoder --> done
 *
 *   Flow: the caller hands in four callbacks. A reader asks `next_read` for a task, reads
 *         its file without holding a lock, and gives it to `read`. A decoder asks
 *         `next_decode` for one that is read, prepares it, and gives it to `done`. What the
 *         caller has in between is its own. load_pool_kick tells that there may be a task.
 *         A sample that a tier has is read from there; else it is offered to the tier.
 *         What a program prepares (prepare.h) waits for its processes, in a third stage: a
 *         runner asks `next_run`, and goes on as a decoder.
 *   Owns: nothing of a task; from the call of `done` on the tensor is the caller's.
 *   Threads: callbacks run on readers and decoders. Decoders and runners run at batch priority
 *         (SCHED_BATCH).
 *   Errors: a task's status is 0 or -errno, with a message that names the cause. The
 *         caller logs it, once, with the path.
 */

struct load_read;

/*
 * Samples with the same identity are the same image: they are the same part of the same file,
 * as it was read, or their bytes have the same SHA-256. All zero: not known.
 */
struct load_identity {
	uint64_t words[5];
};

struct load_task {
	/* in */
	const char *path;
	const char *container; /* the file that has it, as part says; NULL: path is one */
	struct source_part part;
	size_t plain;	  /* of a URL: where the name begins, as far_object has it */
	const char *name; /* of the sample, for programs */
	const char *root; /* of the tree that links may not lead out of; NULL: they may */
	uint64_t expected_bytes;   /* of the sample, by the catalogue */
	int64_t expected_mtime_ns; /* a file that changed since the scan is refused */
	struct tensor_shape expected_image; /* as in the file */
	unsigned orientation; /* EXIF's, for preparations with exif; 0 or 1: upright */
	uint64_t max_pixels;  /* larger images are refused; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	struct tier_sample tier; /* where it may be, and is kept; dataset NULL: nowhere */
	uint32_t tier_worth;
	void *owner;		   /* the caller's */
	struct backings *backings; /* where the tensor gets a file of its own, or NULL */
	struct file_head head;	   /* of that file */
	bool by_content;	   /* the identity comes from the bytes */
	/* The next task of a chain that prepares the same file in several ways, from one
	 * read and one decode. Only its preparation, owner, backings and head count. In a
	 * chain no preparation may be encoded, approximate, exif or of kept channels. */
	struct load_task *also;
	/* The second file of a pair, which is prepared by itself, and lies behind the tensor; or,
	 * with frames, the next one of a group, which has the frame after it as its second. Only
	 * what is said of the file, its preparation and tier count; it is in no chain. */
	struct load_task *second;
	struct load_read *read;	       /* between the stages: the pool's */
	struct load_identity identity; /* likewise, for the caller to look at */
	/* If next_decode sets this, in all tasks of the chain, they are held for these tasks,
	 * and are the tensors: nothing is decoded. */
	struct tensor *same;
	/* out */
	int status;
	bool passing;	   /* an error that is not the file's, and may pass */
	bool told;	   /* the source has logged it, for all samples at once */
	uint64_t retry_ns; /* but not before so long, as a server asks for; or 0 */
	bool damaged;	   /* the file was read, and is no image that can be prepared */
	struct tensor *tensor; /* NULL unless status is 0 */
	uint64_t decode_ns;    /* that its chain took */
	uint64_t cpu_ns;       /* processor time of that */
	char message[IMAGE_MESSAGE];
};

/* Buffers and codec state that a worker keeps between images. Threads: one at a time. */
struct load_context;
must_check int load_context_new(struct load_context **ret);
void load_context_free(struct load_context **context);

/* Uses the code for every processor from now on, to compare with. After -ENOMEM the
 * context can only be freed. */
must_check int load_context_use_plain(struct load_context *context);
/* Gives the context the programs for preparations with an array. */
void load_context_use_programs(struct load_context *context, struct programs *programs);

/* The processor time that a context has used, and the most bytes that it held at the end
 * of an image, without the tensor. */
struct load_usage {
	uint64_t read_ns;
	uint64_t decode_ns;
	uint64_t resample_ns;
	size_t peak_bytes;
};

struct load_usage load_context_usage(const struct load_context *context);

/*
 * Reads and prepares one sample, and `also`, in the calling thread. Output: RGB8 as PIL's
 * convert('RGB') gives it, turned if asked for, then resize (Pillow's antialiased
 * bilinear), then centre crop; or the file's bytes for `encoded`. Faults: load.read,
 * load.remote (as load.read, from another machine), load.decode, load.openat2. -EIO:
 * unreadable, truncated, corrupt, not an image, unsupported; -ESTALE: changed since the
 * scan; -ENOENT: gone; -ENOMEM. Errors that pass (passing.c): no memory, no descriptor, a
 * file server that is away, a directory that is not there.
 */
void load_prepare(struct load_context *context, struct load_task *task);

/*
 * Reads a file, or the part of one, as it is, in the calling thread. Output: status, message,
 * and the tensor, which is the caller's. Errors as above.
 */
must_check int load_bytes(struct load_task *task);

/*
 * Something else that a decoder does, or, if it waits for a server, a reader: `run` is called once,
 * by any of them, and owns the work from then on.
 */
struct load_work {
	TAILQ_ENTRY(load_work) link;
	void (*run)(struct load_work *work);
	bool waits;	 /* for a server */
	bool queued;	 /* the pool's */
	uint64_t due_ns; /* the scheduler's; 0: not postponed */
};

struct load_pool;

/* Those that ask for a task get NULL if there is nothing to do now. */
struct load_callbacks {
	struct load_task *(*next_read)(void *context);
	void (*read)(void *context, struct load_task *task);
	struct load_task *(*next_decode)(void *context);
	void (*done)(void *context, struct load_task *task);
	void *context;
	struct load_task *(*next_run)(void *context);
	struct programs
		*programs; /* or NULL; there is a runner for each of their processes */
};

enum load_stage { LOAD_READ, LOAD_DECODE, LOAD_RUN, LOAD_STAGES };

/* Readers are made when they are needed, up to so many. */
must_check int load_pool_new(unsigned most_readers, unsigned n_decoders,
	const struct load_callbacks *callbacks, struct load_pool **ret);
/* Wakes one thread of the stage, if one sleeps. Who finds several tasks kicks again. */
void load_pool_kick(struct load_pool *pool, enum load_stage stage);
/* A decoder does it before its next task; a decoder that calls this does it at once. What waits for
 * a server a reader does before its next read. */
void load_pool_run(struct load_pool *pool, struct load_work *work);
/* true: no decoder has begun with it, and none will. */
must_check bool load_pool_take_back(struct load_pool *pool, struct load_work *work);
/*
 * Takes no new tasks, finishes those that were taken, does the work that is left, and
 * joins the threads. A read that has not ended two seconds later fails with -EINTR; its
 * thread stays, and touches nothing of the caller's any more.
 */
void load_pool_free(struct load_pool **pool);

/* The pool's one-thread twin: does one task in the calling thread. false: there
 * is none. */
bool load_run_one(struct load_context *context, const struct load_callbacks *callbacks);
