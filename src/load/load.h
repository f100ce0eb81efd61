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
 * Prepares samples in two stages. Readers are threads that read files; their number grows as long
 * as this makes the storages faster. Decoders (image.h) are one thread per CPU. So a slow read
 * holds up no decoder, and a read that never ends holds up only its own thread. Decoders also do
 * other long work for callers: load_pool_run.
 *
 *     next_read --> a reader --> read ... next_decode --> a decoder --> done
 *
 *   Flow: the caller hands in the callbacks. A reader asks `next_read` for a task, reads its file
 *         without holding a lock, and gives it to `read`. A decoder asks `next_decode` for a task
 *         that is read, prepares it, and gives it to `done`. Between `read` and `next_decode` the
 *         task is the caller's. load_pool_kick announces that there may be a task. If a tier has
 *         the sample, it is read from the tier; otherwise it is offered to the tier. A sample that
 *         a program prepares (prepare.h) waits for the program in a third stage: a runner asks
 *         `next_run` for the task, and continues like a decoder.
 *   Owns: no part of a task; the call of `done` passes the tensor to the caller.
 *   Threads: callbacks run on readers and decoders. Decoders and runners run at batch priority
 *         (SCHED_BATCH).
 *   Errors: a task's status is 0 or -errno, with a message that names the cause. The caller logs
 *         it, once, with the path.
 */

struct load_read;

/*
 * Identity of an image. Equal identities mean equal images: the same part of the same version of a
 * file, or bytes with the same SHA-256. All zero: not known.
 */
struct load_identity {
	uint64_t words[5];
};

struct load_task {
	/* The members from here on are set by the caller. */
	const char *path;
	const char *
		/* The container whose part `part` is the sample; NULL: `path` is the sample's
		 * file. */
		container;
	struct source_part part;
	/* offset in a URL where the unescaped name begins; see far_object */
	size_t plain;
	const char *name; /* the sample's name for programs */
	const char *root; /* root of the tree: links must stay below it; NULL: no limit */
	uint64_t expected_bytes; /* size of the sample in the catalogue */
	/* time in the catalogue; a file with another time is refused */
	int64_t expected_mtime_ns;
	struct tensor_shape expected_image; /* shape in the file */
	unsigned
		orientation; /* EXIF orientation, for preparations with exif; 0 or 1: upright */
	uint64_t max_pixels; /* larger images are refused; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	/* the sample in its tier; dataset NULL: there is no tier */
	struct tier_sample tier;
	uint32_t tier_worth;
	void *owner;		   /* private to the caller */
	struct backings *backings; /* store for a file that holds the tensor, or NULL */
	struct file_head head;	   /* head of that file */
	bool by_content;	   /* the identity must be the hash of the bytes */
	/* The next task of a chain. All tasks of a chain prepare the same file in different ways,
	 * from one read and one decode. Of the later tasks only preparation, owner, backings and
	 * head are used. No preparation in a chain may be encoded, approximate or exif, or keep
	 * channels. */
	struct load_task *also;
	/* The second file of a pair, whose pixels come after those of the first file. With frames:
	 * the next file of a group, whose own `second` is the following frame. Only the fields
	 * about the file, the preparation and the tier are used, and it is in no chain. */
	struct load_task *second;
	struct load_read *read; /* set by the pool between the stages */
	/* Set by the pool after the file was read; the caller may use it. */
	struct load_identity identity;
	/* A tensor that was prepared before. next_decode may set it in all tasks of the chain, with
	 * a reference for them. Then nothing is decoded. */
	struct tensor *same;
	/* The members from here on are set by the pool. */
	int status;
	bool passing;	   /* the error is transient, and not the file's fault */
	bool told;	   /* the source has already logged the error for all samples */
	uint64_t retry_ns; /* delay before a retry that a server requested; 0: none */
	bool damaged;	   /* the file was read, but is no valid image */
	struct tensor *tensor; /* NULL unless status is 0 */
	uint64_t decode_ns;    /* time that the chain took to decode */
	uint64_t cpu_ns;       /* processor time of the decode */
	char message[IMAGE_MESSAGE];
};

/* Buffers and codec state that a worker keeps between images.
 *
 *   Threads: one at a time. */
struct load_context;
must_check int load_context_new(struct load_context **ret);
void load_context_free(struct load_context **context);

/* Makes the context use only portable code, for comparisons. After -ENOMEM the context can only be
 * freed. */
must_check int load_context_use_plain(struct load_context *context);
/* Gives the context the programs that prepare arrays. */
void load_context_use_programs(struct load_context *context, struct programs *programs);

/* Processor time that a context has used, and the most bytes that it held after an image. Tensors
 * are not counted. */
struct load_usage {
	uint64_t read_ns;
	uint64_t decode_ns;
	uint64_t resample_ns;
	size_t peak_bytes;
};

struct load_usage load_context_usage(const struct load_context *context);

/*
 * Reads and prepares one sample, and its chain `also`, in the calling thread. The output is RGB8 as
 * PIL's convert('RGB') gives it, turned by its EXIF orientation if the preparation says so, resized
 * as Pillow does (antialiased bilinear), then centre-cropped; for `encoded` it is the file's bytes.
 * Faults: load.read, load.remote (like load.read, on another machine), load.decode, load.openat2.
 * -EIO: unreadable, truncated, corrupt, not an image, unsupported; -ESTALE: changed since the scan;
 * -ENOENT: gone; -ENOMEM. Transient errors (transient_error.c): no memory, no free descriptor, a
 * file server that does not answer, a missing directory.
 */
void load_prepare(struct load_context *context, struct load_task *task);

/*
 * Reads the unchanged bytes of a file, or of a part of one, in the calling thread. Sets status,
 * message and tensor; the caller owns the tensor. Errors: as for load_prepare.
 */
must_check int load_bytes(struct load_task *task);

/* Other work for a decoder; if it waits for a server, for a reader. One of these threads calls
 * `run` once. From then on `run` owns the work. */
struct load_work {
	TAILQ_ENTRY(load_work) link;
	void (*run)(struct load_work *work);
	bool waits;  /* waits for a server */
	bool queued; /* used by the pool: the work is queued */
	/* used by the scheduler: time when it is due; 0: not postponed */
	uint64_t due_ns;
};

struct load_pool;

/* The callbacks. next_read, next_decode and next_run return NULL if there is nothing to do now. */
struct load_callbacks {
	struct load_task *(*next_read)(void *context);
	void (*read)(void *context, struct load_task *task);
	struct load_task *(*next_decode)(void *context);
	void (*done)(void *context, struct load_task *task);
	void *context;
	struct load_task *(*next_run)(void *context);
	struct programs
		*programs; /* one runner is started per process of a program; or NULL */
};

enum load_stage { LOAD_READ, LOAD_DECODE, LOAD_RUN, LOAD_STAGES };

/* Makes a pool. Readers are started as needed, up to most_readers. */
must_check int load_pool_new(unsigned most_readers, unsigned n_decoders,
	const struct load_callbacks *callbacks, struct load_pool **ret);
/* Wakes one sleeping thread of the stage, if there is one. A callback that finds several tasks
 * calls this, too. */
void load_pool_kick(struct load_pool *pool, enum load_stage stage);
/* Queues the work for a decoder, before the next task. If a decoder calls this, it runs the work at
 * once. Work that waits for a server is queued for a reader instead, before the next read. */
void load_pool_run(struct load_pool *pool, struct load_work *work);
/* Takes queued work back. true: no thread has begun the work, and none will. */
must_check bool load_pool_take_back(struct load_pool *pool, struct load_work *work);
/*
 * Accepts no new tasks, finishes the tasks that were taken and the queued work, and joins the
 * threads. A read that has not ended after two more seconds fails with -EINTR; its thread remains,
 * and no longer accesses the caller's data.
 */
void load_pool_free(struct load_pool **pool);

/* Carries out one task in the calling thread, for callers without a pool. Returns false if there is
 * no task. */
bool load_run_one(struct load_context *context, const struct load_callbacks *callbacks);
