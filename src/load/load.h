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
 * Prepares samples in two stages. Readers are threads that read files; the pool starts more of them
 * as long as this makes the storages faster. Decoders are threads that decode images (image.h),
 * usually one per CPU. So a slow read holds up no decoder, and a read that never ends holds up only
 * its own thread. Decoders also do other long work for callers: load_pool_run.
 *
 *     next_read --> a reader --> read ... next_decode --> a decoder --> done
 *
 *   Flow: the caller passes the callbacks to the pool. A reader gets a task from `next_read`, reads
 *         the file without holding a lock, and passes the task to `read`. A decoder gets a task
 *         whose file was read from `next_decode`, prepares it, and passes it to `done`. Between
 *         `read` and `next_decode` the task is the caller's. load_pool_kick announces that there
 *         may be a task. If a tier has the sample, the sample is read from the tier; otherwise it
 *         is offered to the tier. A sample that a program prepares (prepare.h) waits for the
 *         program in a third stage: a runner gets the task from `next_run`, and continues like a
 *         decoder.
 *   Owns: no part of a task; the call of `done` passes the tensor to the caller.
 *   Threads: callbacks run on readers, decoders and runners. Decoders and runners run at batch
 *         priority (SCHED_BATCH).
 *   Errors: a task's status is 0 or -errno, with a message that names the cause. The caller logs
 *         the message, once, with the path.
 */

struct load_read;

/*
 * The identity of an image. Equal identities mean equal images: either the same part of the same
 * version of a file, or bytes with the same SHA-256. All zero: not known.
 */
struct load_identity {
	uint64_t words[5];
};

struct load_task {
	/* The members from here on are set by the caller. */
	const char *path;
	/* Path of the container that has the sample as its part `part`. NULL: the sample is the
	 * whole file `path`. */
	const char *container;
	struct source_part part;
	/* if `path` is a URL: offset of the rest that is not escaped yet (struct far_object) */
	size_t plain;
	const char *name; /* name of the sample, for programs that prepare samples */
	/* directory that symbolic links of the dataset must not leave; NULL: links may lead
	 * anywhere */
	const char *root;
	uint64_t expected_bytes; /* size of the sample in the catalogue */
	/* mtime in the catalogue; if the file's mtime differs, the task fails */
	int64_t expected_mtime_ns;
	struct tensor_shape expected_image; /* size of the image in the file */
	/* EXIF orientation, for preparations with exif = apply; 0 or 1: upright */
	unsigned orientation;
	uint64_t max_pixels; /* images with more pixels fail; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	/* the sample in its tier; tier.dataset is NULL if there is no tier */
	struct tier_sample tier;
	uint32_t tier_worth;
	void *owner; /* private to the caller */
	/* if not NULL: the tensor is put into a file in memory, which belongs to these backings */
	struct backings *backings;
	struct file_head head; /* head of the tensor's file */
	/* `identity` must be the hash of the bytes that were read */
	bool by_content;
	/* The next task of the chain; NULL: none. A chain prepares the same file in several ways,
	 * from one read and one decode. Only the members preparation, owner, backings and head of
	 * the later tasks are used. Preparations that are encoded, approximate or exif, or keep
	 * channels, are never in a chain. */
	struct load_task *also;
	/* The second file of a pair, such as a mask; its pixels come after those of the first file.
	 * Or, if preparation->frames is set, the next frame of a video, whose `second` is the frame
	 * after that. Only its members about the file, the preparation and the tier are used. It
	 * belongs to no chain. */
	struct load_task *second;
	struct load_read *read; /* the bytes that were read; set by the pool */
	/* Identity of the image; set by the pool when the file was read. The caller may read it. */
	struct load_identity identity;
	/* A tensor that was already made from the same image, or NULL. If next_decode sets it, with
	 * a reference, in all tasks of the chain, nothing is decoded. */
	struct tensor *same;
	/* The members from here on are set by the pool. */
	int status;
	bool passing; /* the error is transient: another try may succeed */
	/* the error affects all samples of the source, and is already logged */
	bool told;
	uint64_t retry_ns;     /* delay before a retry that a server requested; 0: none */
	bool damaged;	       /* the file was read, but is not a valid image */
	struct tensor *tensor; /* NULL unless status is 0 */
	uint64_t decode_ns;    /* duration of the chain's decode */
	uint64_t cpu_ns;       /* processor time of the chain's decode */
	char message[IMAGE_MESSAGE];
};

/* Buffers and state of the codecs, which a decoder keeps from one image to the next.
 *
 *   Threads: one at a time. */
struct load_context;
must_check int load_context_new(struct load_context **ret);
void load_context_free(struct load_context **context);

/* Makes the context use only portable code, without SIMD, so that a benchmark can compare. After
 * -ENOMEM the caller must free the context. */
must_check int load_context_use_plain(struct load_context *context);
/* Sets the programs that prepare arrays. The caller must not free them before the context. */
void load_context_use_programs(struct load_context *context, struct programs *programs);

/* Processor times that a context has used, and the largest number of bytes that it held after an
 * image. Tensors are not counted. */
struct load_usage {
	uint64_t read_ns;
	uint64_t decode_ns;
	uint64_t resample_ns;
	size_t peak_bytes;
};

struct load_usage load_context_usage(const struct load_context *context);

/*
 * Reads and prepares one sample, and the further tasks `also` of its chain, in the calling thread.
 * The preparation decides the output: usually RGB8 as PIL's convert('RGB') gives it, resized as
 * Pillow does, and centre-cropped; for `encoded` the file's bytes.
 *
 * Faults: load.read, load.remote (like load.read, on another machine), load.decode, load.openat2.
 * -EIO: the file is unreadable, truncated, corrupt, not an image, or not supported; -ESTALE: it has
 * changed since the scan; -ENOENT: it does not exist; -ENOMEM. Transient errors
 * (transient_error.c): no memory, no free descriptor, a file server that does not answer, a missing
 * directory.
 */
void load_prepare(struct load_context *context, struct load_task *task);

/*
 * Reads the unchanged bytes of a file, or of a part of a file, in the calling thread. Sets the
 * task's status, message and tensor; the caller owns the tensor. Returns the status. Errors: as for
 * load_prepare.
 */
must_check int load_bytes(struct load_task *task);

/* Work other than preparing a sample. `run` is called once, by a decoder, or by a reader if the
 * work waits for a server. From this call on, `run` owns the work. */
struct load_work {
	TAILQ_ENTRY(load_work) link;
	void (*run)(struct load_work *work);
	bool waits;  /* the work waits for a server, so a reader does it */
	bool queued; /* used by the pool: the work is queued */
	/* used by the scheduler: time at which the work is due; 0: at once */
	uint64_t due_ns;
};

struct load_pool;

/* The callbacks of a pool. next_read, next_decode and next_run return the next task of their stage,
 * or NULL if there is none now. */
struct load_callbacks {
	struct load_task *(*next_read)(void *context);
	void (*read)(void *context, struct load_task *task);
	struct load_task *(*next_decode)(void *context);
	void (*done)(void *context, struct load_task *task);
	void *context;
	struct load_task *(*next_run)(void *context);
	/* the pool starts one runner for each process of these programs; NULL: no programs */
	struct programs *programs;
};

enum load_stage { LOAD_READ, LOAD_DECODE, LOAD_RUN, LOAD_STAGES };

/* Makes a pool of threads. It starts readers as needed, at most most_readers. */
must_check int load_pool_new(unsigned most_readers, unsigned n_decoders,
	const struct load_callbacks *callbacks, struct load_pool **ret);
/* Announces that the callback of the stage (such as next_read) may have a task: wakes a sleeping
 * thread of the stage. If no reader is free, starts another one. A callback that returns a task
 * must call this if it has more tasks. */
void load_pool_kick(struct load_pool *pool, enum load_stage stage);
/* Queues the work for a decoder, which does it before its next task. A caller that is a decoder or
 * a runner does the work at once. Work that waits for a server is always queued for a reader, which
 * does it before its next read. */
void load_pool_run(struct load_pool *pool, struct load_work *work);
/* Removes the work from the queue. Returns false if the work is not queued any more, because a
 * thread has begun it. */
must_check bool load_pool_take_back(struct load_pool *pool, struct load_work *work);
/*
 * Stops the pool: finishes the tasks that were begun and the queued work, and joins the threads. A
 * read that has not ended after two seconds fails with -EINTR; its thread remains, and no longer
 * accesses the caller's data.
 */
void load_pool_free(struct load_pool **pool);

/* Reads the file of one task, and decodes one task, in the calling thread and without a pool.
 * Returns false if there is no task to decode. */
bool load_run_one(struct load_context *context, const struct load_callbacks *callbacks);
