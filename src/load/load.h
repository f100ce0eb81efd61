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
 * Prepares samples in two stages. Readers are threads that read files; the pool starts
 * more of them as long as this makes the storages faster. Decoders are threads that
 * decode images (image.h), usually one per CPU. So a slow read holds up no decoder, and
 * a read that never ends holds up only its own thread. Decoders also do other long work
 * for callers (load_pool_run).
 *
 *     next_read --> a reader --> read ... next_decode --> a decoder --> done
 *
 *   Flow: the caller calls load_pool_kick when there may be a task. A reader gets a task
 *         from `next_read`, reads the file without a lock, and passes the task to
 *         `read`; the caller keeps the task. A decoder gets from `next_decode` a task
 *         whose file was read, decodes the image, and passes the task to `done`. If a
 *         program prepares the sample (prepare.h), a runner takes the decoder's part,
 *         and gets the task from `next_run`. A sample with a tier (a local copy of a
 *         distant dataset) is read from the tier. If the tier lacks the sample, the
 *         sample is read from the source, and is then offered to the tier.
 *   Owns: no part of a task; the call of `done` passes the tensor to the caller.
 *   Threads: callbacks run on readers, decoders and runners. Decoders and runners run at
 *         batch priority (SCHED_BATCH).
 *   Errors: a task's status is 0 or -errno, with a message that names the cause. The
 *         caller logs the message, once, with the path.
 */

struct load_read;

/* Equal identities mean equal images: the same part of the same version of a file, or
 * bytes with the same SHA-256. If all words are 0, the identity is not known. */
struct load_identity {
	uint64_t words[5];
};

struct load_task {
	/* The caller sets the fields from here to `second`. */
	const char *path;
	/* path of the container; the sample is its part `part`. NULL: the file `path` is
	 * the sample */
	const char *container;
	struct source_part part;
	/* if `path` is a URL: offset of the text that still has to be %-escaped */
	size_t plain;
	const char *name; /* name of the sample, for programs that prepare samples */
	/* directory that symbolic links must not leave; NULL: no limit */
	const char *root;
	uint64_t expected_bytes; /* bytes of the sample, as in the catalogue */
	/* mtime that the catalogue has for the file; the task fails if the file has
	 * another mtime */
	int64_t expected_mtime_ns;
	struct tensor_shape expected_image; /* size of the image in the file */
	/* EXIF orientation, used only with exif = apply; 0 or 1: upright */
	unsigned orientation;
	uint64_t max_pixels; /* images with more pixels fail; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	/* the sample in the dataset's tier; tier.dataset is NULL if there is no tier */
	struct tier_sample tier;
	uint32_t tier_worth;
	void *owner; /* private to the caller */
	/* owner of the tensor's file in memory; NULL: the tensor gets no file */
	struct backings *backings;
	struct file_head head; /* head of the tensor's file */
	/* the pool must set `identity` to the hash of the file's bytes */
	bool by_content;
	/* The next task of a chain, or NULL. The tasks of a chain prepare the same file
	 * in several ways; the file is read and decoded once, as the first task says.
	 * The later tasks use only preparation, owner, backings and head. No
	 * preparation in a chain may be encoded or approximate, or have
	 * fills_truncated, exif = apply or channels = keep. */
	struct load_task *also;
	/* NULL, or the task of the second file of a pair, such as a mask: its pixels
	 * follow those of the first file. With preparation->frames: the task of the next
	 * frame of a video, whose own `second` is the frame after that. `second` uses
	 * only the fields about the file, the preparation and the tier. A task with
	 * `second` is in no chain. */
	struct load_task *second;
	struct load_read *read; /* set by the pool: what the reading stage has read */
	/* Set by the pool when the file was read; the caller may use it from then on. */
	struct load_identity identity;
	/* NULL, or a finished tensor of the same image, set by the callback next_decode.
	 * Then nothing is decoded. next_decode sets `same` in all tasks of a chain, or
	 * in none; each task has its own reference. */
	struct tensor *same;
	/* The pool sets the fields below. */
	int status;
	bool passing; /* the error is transient: another try may succeed */
	/* the error affects all samples of the source, and was already logged */
	bool told;
	/* delay before the next try, as demanded by a server; 0: none */
	uint64_t retry_ns;
	bool damaged;	       /* the file was read, but is not a valid image */
	struct tensor *tensor; /* NULL unless status is 0 */
	/* duration of the chain's decode; set in the first task only */
	uint64_t decode_ns;
	/* processor time of the chain's decode; in the first task only */
	uint64_t cpu_ns;
	char message[IMAGE_MESSAGE];
};

/* Buffers and state of the codecs, kept for the next image. Threads: one at a time. */
struct load_context;
must_check int load_context_new(struct load_context **ret);
void load_context_free(struct load_context **context);

/* Makes the context use only portable code, for benchmarks. After -ENOMEM the context
 * must be freed. */
must_check int load_context_use_plain(struct load_context *context);
/* The programs must live longer than the context. */
void load_context_use_programs(struct load_context *context, struct programs *programs);

/* Processor times of reading, decoding and resizing. peak_bytes: the largest number of
 * bytes, without tensors, that the context has held after an image. */
struct load_usage {
	uint64_t read_ns;
	uint64_t decode_ns;
	uint64_t resample_ns;
	size_t peak_bytes;
};

struct load_usage load_context_usage(const struct load_context *context);

/* Reads and prepares one sample in the calling thread, for all tasks of its chain.
 * The usual tensor is RGB of 8 bits as PIL's convert('RGB') gives it, resized as by
 * Pillow, and centre-cropped. With preparation->encoded the tensor is the file's bytes.
 *
 * Sets task->status. -EIO: the file is unreadable, truncated, corrupt, no image or not
 * supported; -ESTALE: the file has changed since the scan; -ENOENT; -ENOMEM. The
 * transient errors are in transient_error.c. Faults: load.read; load.remote (as
 * load.read, but of a file on another machine); load.decode; load.openat2. */
void load_prepare(struct load_context *context, struct load_task *task);

/* Reads the bytes of a file, or of a part of a container, in the calling thread, and
 * does not decode them. Sets status, message and tensor; the caller owns the tensor.
 * Returns the status. Errors: as load_prepare. */
must_check int load_bytes(struct load_task *task);

/* Work other than preparing a sample. `run` is called once, and may free the work. */
struct load_work {
	TAILQ_ENTRY(load_work) link;
	void (*run)(struct load_work *work);
	/* the work waits for a server, so a reader does the work, not a decoder */
	bool waits;
	bool queued; /* set by the pool: the work is in a queue */
	/* used only by the scheduler: when the work is due; 0: at once */
	uint64_t due_ns;
};

struct load_pool;

/* Each function next_... returns the next task of its stage; NULL: there is none. */
struct load_callbacks {
	struct load_task *(*next_read)(void *context);
	void (*read)(void *context, struct load_task *task);
	struct load_task *(*next_decode)(void *context);
	void (*done)(void *context, struct load_task *task);
	void *context;
	struct load_task *(*next_run)(void *context);
	/* a runner starts for each process of the programs; NULL: there are no
	 * programs */
	struct programs *programs;
};

enum load_stage { LOAD_READ, LOAD_DECODE, LOAD_RUN, LOAD_STAGES };

/* Starts the decoders, the runners and one reader at once, and further readers as
 * needed. */
must_check int load_pool_new(unsigned most_readers, unsigned n_decoders,
	const struct load_callbacks *callbacks, struct load_pool **ret);
/* Announces that the stage's callback next_read, next_decode or next_run may have a
 * task: wakes a sleeping thread, or starts a reader if none is free. One call wakes one
 * thread, so a callback that returns a task must call load_pool_kick if it has more
 * tasks. */
void load_pool_kick(struct load_pool *pool, enum load_stage stage);
/* Queues the work for a decoder, or for a reader if work->waits is set; the thread does
 * the work before its next task. Work without work->waits that a decoder or a runner
 * passes is not queued: the calling thread does it at once. */
void load_pool_run(struct load_pool *pool, struct load_work *work);
/* Takes work out of its queue. Returns false if a thread has begun the work. */
must_check bool load_pool_take_back(struct load_pool *pool, struct load_work *work);
/* Finishes the tasks that were begun and the queued work, and joins the threads. A read
 * that has not ended after two seconds fails with -EINTR. The thread of this read
 * remains, and no longer accesses the caller's data. */
void load_pool_free(struct load_pool **pool);

/* Reads the file of one task, then decodes one task, which may be another task, both in
 * the calling thread. Returns false if there was no task to decode. */
bool load_run_one(struct load_context *context, const struct load_callbacks *callbacks);
