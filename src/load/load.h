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
 * Prepares samples in two stages: readers, threads that read files, as many as the storages
 * reward; and decoders (image.h), as many as there are CPUs. A read that takes long holds
 * up no decoder, and one that never ends holds up nothing but its own thread. Decoders also
 * do work that is too long for the thread that is asked for it: load_pool_run.
 *
 *     next_read --> a reader --> read ... next_decode --> a decoder --> done
 *
 *   Flow: the caller hands in the callbacks. A reader asks `next_read` for a task, reads
 *         its file without holding a lock, and gives it to `read`. A decoder asks
 *         `next_decode` for a task that is read, prepares it, and gives it to `done`. Between
 *         `read` and `next_decode` the task is the caller's. load_pool_kick tells that there may
 *         be a task. A sample that a tier has is read from there; else it is offered to the
 *         tier. A sample that a program prepares (prepare.h) waits for its processes in a third
 *         stage: a runner asks `next_run`, and goes on like a decoder.
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
	/* set by the caller */
	const char *path;
	const char *
		/* the container that has the sample at `part`; NULL: `path` is the
		 * sample's file */
		container;
	struct source_part part;
	size_t plain;	  /* offset of the name in a URL: see far_object */
	const char *name; /* the sample's name, as programs get it */
	const char
		*root; /* root of the tree, which links must not leave; NULL: they may */
	uint64_t expected_bytes;   /* bytes of the sample, by the catalogue */
	int64_t expected_mtime_ns; /* a file that changed since the scan is refused */
	struct tensor_shape expected_image; /* shape in the file */
	unsigned
		orientation; /* EXIF orientation, for preparations with exif; 0 or 1: upright */
	uint64_t max_pixels; /* larger images are refused; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	struct tier_sample tier; /* its place in a tier; dataset NULL: it is in no tier */
	uint32_t tier_worth;
	void *owner;		   /* the caller's */
	struct backings *backings; /* store for a file of the tensor's own, or NULL */
	struct file_head head;	   /* head of that file */
	bool by_content;	   /* the identity is a hash of the bytes */
	/* The next task of a chain. It prepares the same file in another way, from one
	 * read and one decode. Only its preparation, owner, backings and head count. No
	 * preparation of a chain may be encoded, approximate, exif or of kept
	 * channels. */
	struct load_task *also;
	/* The second file of a pair, which is prepared by itself, and lies behind the
	 * tensor. With frames: the next file of a group, whose own `second` is the frame
	 * after it. Only the fields about the file, the preparation and the tier count;
	 * it is in no chain. */
	struct load_task *second;
	struct load_read *read; /* set by the pool between the stages */
	/* set by the pool when the file was read; the caller may look at it */
	struct load_identity identity;
	/* A tensor that was prepared before. next_decode may set it, in all tasks of the
	 * chain. It is held for these tasks, and nothing is decoded. */
	struct tensor *same;
	/* set by the pool */
	int status;
	bool passing;	       /* the error is transient, and not the file's fault */
	bool told;	       /* the source has logged the error, once for all samples */
	uint64_t retry_ns;     /* delay that a server asks for before a retry; 0: none */
	bool damaged;	       /* the file was read, but can't be prepared as an image */
	struct tensor *tensor; /* NULL unless status is 0 */
	uint64_t decode_ns;    /* time that the chain took to decode */
	uint64_t cpu_ns;       /* processor time of that decode */
	char message[IMAGE_MESSAGE];
};

/* Buffers and codec state that a worker keeps between images. Threads: one at a time. */
struct load_context;
must_check int load_context_new(struct load_context **ret);
void load_context_free(struct load_context **context);

/* Makes the context use the code without vector instructions from now on, for
 * comparisons. After -ENOMEM the context can only be freed. */
must_check int load_context_use_plain(struct load_context *context);
/* Gives the context the programs that prepare arrays. */
void load_context_use_programs(struct load_context *context, struct programs *programs);

/* Processor time that a context has used, and the most bytes that it held at the end of an
 * image, without the tensor. */
struct load_usage {
	uint64_t read_ns;
	uint64_t decode_ns;
	uint64_t resample_ns;
	size_t peak_bytes;
};

struct load_usage load_context_usage(const struct load_context *context);

/*
 * Reads and prepares one sample, and its chain `also`, in the calling thread. Output:
 * RGB8 as PIL's convert('RGB') gives it, rotated by its EXIF orientation if the
 * preparation says so, then resized (Pillow's antialiased bilinear), then centre-cropped;
 * or the file's bytes for `encoded`. Faults: load.read, load.remote (like load.read, on
 * another machine), load.decode, load.openat2. -EIO: unreadable, truncated, corrupt, not
 * an image, unsupported; -ESTALE: changed since the scan; -ENOENT: gone; -ENOMEM.
 * Transient errors (transient_error.c): no memory, no free descriptor, a file server that
 * does not answer, a directory that is not there.
 */
void load_prepare(struct load_context *context, struct load_task *task);

/*
 * Reads the unchanged bytes of a file, or of a part of one, in the calling thread. Sets status,
 * message, and the tensor, which is the caller's. Errors: as load_prepare.
 */
must_check int load_bytes(struct load_task *task);

/* Other work for a decoder, or for a reader thread if the work waits for a server. One of
 * these threads calls `run` once; `run` owns the work from then on. */
struct load_work {
	TAILQ_ENTRY(load_work) link;
	void (*run)(struct load_work *work);
	bool waits;	 /* it waits for a server */
	bool queued;	 /* the pool's: it is queued */
	uint64_t due_ns; /* the scheduler's: when it is due; 0: not postponed */
};

struct load_pool;

/* next_read, next_decode and next_run return NULL if there is nothing to do now. */
struct load_callbacks {
	struct load_task *(*next_read)(void *context);
	void (*read)(void *context, struct load_task *task);
	struct load_task *(*next_decode)(void *context);
	void (*done)(void *context, struct load_task *task);
	void *context;
	struct load_task *(*next_run)(void *context);
	struct programs
		*programs; /* has one runner for each of their processes; or NULL */
};

enum load_stage { LOAD_READ, LOAD_DECODE, LOAD_RUN, LOAD_STAGES };

/* Makes a pool. Readers are started when they are needed, up to most_readers. */
must_check int load_pool_new(unsigned most_readers, unsigned n_decoders,
	const struct load_callbacks *callbacks, struct load_pool **ret);
/* Wakes one thread of the stage, if one sleeps. A callback that finds several tasks calls
 * this again. */
void load_pool_kick(struct load_pool *pool, enum load_stage stage);
/* Queues the work for a decoder, before its next task; a decoder that calls this runs it at
 * once. Queues work that waits for a server for a reader, before its next read. */
void load_pool_run(struct load_pool *pool, struct load_work *work);
/* Takes queued work back. true: no thread has begun with it, and none will. */
must_check bool load_pool_take_back(struct load_pool *pool, struct load_work *work);
/*
 * Takes no new tasks, finishes the tasks that were taken, does the work that is left, and
 * joins the threads. A read that has not ended two seconds later fails with -EINTR; its
 * thread stays, and touches nothing of the caller's any more.
 */
void load_pool_free(struct load_pool **pool);

/* Does one task in the calling thread, for callers without a pool. Returns false if there
 * is no task. */
bool load_run_one(struct load_context *context, const struct load_callbacks *callbacks);
