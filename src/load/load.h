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
 *   Flow: the caller passes callbacks to the pool, and calls load_pool_kick when there may be a
 *         task. A reader calls `next_read`, which returns a task. It reads the task's file without
 *         holding a lock, and passes the task to the callback `read`. Then the caller keeps the
 *         task. A decoder calls `next_decode`, which returns a task that was read. It decodes the
 *         image, and passes the task to `done`. If a program prepares the sample (prepare.h), a
 *         runner does this instead of a decoder, and gets the task from `next_run`. If a tier has
 *         the sample, it is read from the tier; otherwise it is offered to the tier.
 *   Owns: no part of a task; the call of `done` passes the tensor to the caller.
 *   Threads: callbacks run on readers, decoders and runners. Decoders and runners run at batch
 *         priority (SCHED_BATCH).
 *   Errors: a task's status is 0 or -errno, with a message that names the cause. The caller logs
 *         the message, once, with the path.
 */

struct load_read;

/*
 * The identity of an image. Equal identities mean equal images: either the same part of the same
 * version of a file, or bytes with the same SHA-256. If all words are 0, the identity is not known.
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
	/* If `path` is a URL: offset from which on its characters are not %-escaped yet; otherwise
	 * 0. */
	size_t plain;
	const char *name; /* name of the sample, for programs that prepare samples */
	/* directory that symbolic links of the dataset must not leave; NULL: links may lead
	 * anywhere */
	const char *root;
	uint64_t expected_bytes; /* size of the sample in the catalogue */
	/* mtime in the catalogue; if the file's mtime differs, the task fails */
	int64_t expected_mtime_ns;
	struct tensor_shape expected_image; /* size of the image in the file */
	/* EXIF orientation, 1 to 8; used by preparations with exif = apply. 0 or 1: the image is
	 * upright. */
	unsigned orientation;
	uint64_t max_pixels; /* images with more pixels fail; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	/* the sample in its tier; tier.dataset is NULL if there is no tier */
	struct tier_sample tier;
	uint32_t tier_worth;
	void *owner; /* private to the caller */
	/* If not NULL, the finished tensor is moved to a file in memory, so that the kernel can
	 * read it. These backings own the file. */
	struct backings *backings;
	struct file_head head; /* head of the tensor's file */
	/* the pool must set `identity` to the hash of the file's bytes */
	bool by_content;
	/* The next task of the chain; NULL: none. A chain prepares one file in several ways: the
	 * file is read and decoded once. In all tasks of a chain except the first, only the members
	 * preparation, owner, backings and head are used. The preparations of a chain must be
	 * plain: not encoded or approximate, without exif = apply and channels = keep. */
	struct load_task *also;
	/* If the sample is a pair: the second file, such as a mask. Its pixels follow those of the
	 * first file. If preparation->frames is set: the next frame of a video; its own `second` is
	 * the frame after that. Only the members about the file, the preparation and the tier are
	 * used. Such a task is in no chain. */
	struct load_task *second;
	struct load_read *read; /* what the reading stage has read; set by the pool */
	/* Identity of the image; set by the pool when the file was read. The caller may read it. */
	struct load_identity identity;
	/* A finished tensor of the same image, or NULL. The callback next_decode may set it in all
	 * tasks of the chain, each with a reference; then nothing is decoded. */
	struct tensor *same;
	/* The members from here on are set by the pool. */
	int status;
	bool passing; /* the error is transient: another try may succeed */
	/* The error affects all samples of the source. It was already logged, so the caller need
	 * not log it. */
	bool told;
	uint64_t retry_ns;     /* delay before a retry that a server requested; 0: none */
	bool damaged;	       /* the file was read, but is not a valid image */
	struct tensor *tensor; /* NULL unless status is 0 */
	/* duration of the decode, which is one for all tasks of the chain */
	uint64_t decode_ns;
	uint64_t cpu_ns; /* processor time of the chain's decode */
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
 * Reads and prepares one sample in the calling thread, for all tasks of its chain. The preparation
 * decides the output. Usually it is RGB with 8 bits as PIL's convert('RGB') gives it, resized as
 * Pillow does, and centre-cropped. If preparation->encoded is set, it is the file's bytes.
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

/* Work other than preparing a sample. A decoder calls `run` once; if the work waits for a server, a
 * reader calls it. The function `run` owns the work, and may free it. */
struct load_work {
	TAILQ_ENTRY(load_work) link;
	void (*run)(struct load_work *work);
	bool waits;  /* the work waits for a server, so a reader does it */
	bool queued; /* used by the pool: the work is queued */
	/* used by the scheduler: time at which the work is due; 0: at once */
	uint64_t due_ns;
};

struct load_pool;

/* The callbacks of a pool. next_read, next_decode and next_run each return the next task of a
 * stage, or NULL if the stage has no task now. */
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
/* Announces that the callback of the stage (such as next_read) may have a task. Wakes a sleeping
 * thread of the stage; if no reader is free, starts another reader. One call wakes one thread: a
 * callback that returns a task must call this again if it has more tasks. */
void load_pool_kick(struct load_pool *pool, enum load_stage stage);
/* Queues the work for a decoder, which does it before its next task. If the caller is a decoder or
 * a runner, does the work at once. Work that waits for a server is always queued, for a reader,
 * which does it before its next read. */
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
