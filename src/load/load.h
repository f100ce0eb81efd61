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
 * its own thread. Decoders also do other long work for callers (load_pool_run).
 *
 *     next_read --> a reader --> read ... next_decode --> a decoder --> done
 *
 *   Flow: the caller calls load_pool_kick when there may be a task. A reader gets a task from
 *         `next_read`, reads the file without a lock, and passes the task back to the caller by
 *         `read`. A decoder gets from `next_decode` a task whose file was read, decodes the image,
 *         and passes the task to `done`. If a program prepares the sample (prepare.h), a third kind
 *         of thread, a runner, replaces the decoder, and gets the task from `next_run`. A sample
 *         with a tier is read from the tier. A sample that the tier lacks is read from its source,
 *         and offered to the tier.
 *   Owns: no part of a task; the call of `done` passes the tensor to the caller.
 *   Threads: callbacks run on readers, decoders and runners. Decoders and runners run at batch
 *         priority (SCHED_BATCH).
 *   Errors: a task's status is 0 or -errno, with a message that names the cause. The caller logs
 *         the message, once, with the path.
 */

struct load_read;

/* Equal identities mean equal images: the same part of the same version of a file, or bytes with
 * the same SHA-256. If all words are 0, the identity is not known. */
struct load_identity {
	uint64_t words[5];
};

struct load_task {
	/* The caller sets the fields from here to `second`. */
	const char *path;
	/* path of the container that has the sample as `part`; NULL: the sample is the file
	 * `path` */
	const char *container;
	struct source_part part;
	size_t plain; /* in a URL: offset of the text that still has to be %-escaped */
	const char *name; /* name of the sample, for programs that prepare samples */
	/* directory that symbolic links must not leave; NULL: no limit */
	const char *root;
	uint64_t expected_bytes;   /* bytes of the sample, as in the catalogue */
	int64_t expected_mtime_ns; /* the task fails if the file has another mtime */
	struct tensor_shape expected_image; /* size of the image in the file */
	/* EXIF orientation, used only with exif = apply; 0 or 1: upright */
	unsigned orientation;
	uint64_t max_pixels; /* images with more pixels fail; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	/* the sample in its tier; tier.dataset is NULL if there is no tier */
	struct tier_sample tier;
	uint32_t tier_worth;
	void *owner; /* private to the caller */
	/* store in which the finished tensor becomes a file in memory (base/backing.h); NULL: the
	 * tensor gets no file */
	struct backings *backings;
	struct file_head head; /* bytes before the tensor in this file */
	bool by_content; /* the pool sets `identity` to a hash of the sample's bytes */
	/* The next task of a chain, or NULL. The tasks of a chain prepare the same file in several
	 * ways. The file is read and decoded once, as the first task says. Later tasks use only
	 * preparation, owner, backings and head. A task is alone in its chain if its preparation is
	 * encoded or approximate, or has an array of a program, fills_truncated, exif = apply or
	 * channels = keep. */
	struct load_task *also;
	/* The task of a further file of the same sample, or NULL. Without preparation->frames this
	 * is the second file of a pair, whose pixels follow those of the first file. With
	 * preparation->frames this is the next frame of a video, and its own `second` is the frame
	 * after that. `second` uses only the fields about the file, the preparation and the tier. A
	 * task with `second` is in no chain. */
	struct load_task *second;
	struct load_read *read; /* set by the pool: what the reading stage has read */
	/* The pool sets `identity` before it calls load_callbacks.read. */
	struct load_identity identity;
	/* A finished tensor of the same image. If next_decode sets `same`, the pool decodes
	 * nothing. NULL: none. In a chain either all tasks have `same`, each with its own
	 * reference, or none has. */
	struct tensor *same;
	/* The pool sets the fields below. */
	int status;
	bool passing; /* the error is transient: another try may succeed */
	bool told;    /* the error affects all samples of the source, and was logged */
	uint64_t retry_ns;     /* a server's delay before the next try; 0: none */
	bool damaged;	       /* the file was read, but is not a valid image */
	struct tensor *tensor; /* NULL unless status is 0 */
	uint64_t decode_ns; /* duration of the chain's decode; in the first task only */
	uint64_t cpu_ns;    /* processor time of the decode; in the first task only */
	char message[IMAGE_MESSAGE];
};

/* Buffers and state of the codecs, kept for the next image. Threads: one at a time. */
struct load_context;
must_check int load_context_new(struct load_context **ret);
void load_context_free(struct load_context **context);

/* Makes the context use only portable code, for benchmarks. -ENOMEM: the context must be freed. */
must_check int load_context_use_plain(struct load_context *context);
/* The programs must live longer than the context. */
void load_context_use_programs(struct load_context *context, struct programs *programs);

/* Processor times. peak_bytes: the most memory that the context had after an image, without
 * tensors. */
struct load_usage {
	uint64_t read_ns;
	uint64_t decode_ns;
	uint64_t resample_ns;
	size_t peak_bytes;
};

struct load_usage load_context_usage(const struct load_context *context);

/*
 * Reads and prepares one sample in the calling thread, for all tasks of its chain. The usual tensor
 * is RGB of 8 bits as PIL's convert('RGB') gives it, resized as by Pillow, and centre-cropped. With
 * preparation->encoded the tensor is the file's bytes. Sets task->status. -EIO: the file is
 * unreadable, truncated, corrupt, no image or not supported; -ESTALE: the file has changed since
 * the scan; -ENOENT; -ENOMEM. The transient errors are in transient_error.c. Faults: load.read;
 * load.remote (as load.read, but of a file on another machine); load.decode; load.openat2; load.run
 * (of a program); load.image.NAME (before the file NAME is prepared).
 */
void load_prepare(struct load_context *context, struct load_task *task);

/* Reads the bytes of a file, or of a part of a container, in the calling thread. Sets status,
 * message and tensor, which the caller owns; returns the status. Errors: as load_prepare. */
must_check int load_bytes(struct load_task *task);

/* Work other than preparing a sample. `run` is called once, and may free the work. */
struct load_work {
	TAILQ_ENTRY(load_work) link;
	void (*run)(struct load_work *work);
	bool waits;	 /* the work waits for a server, so a reader must do the work */
	bool queued;	 /* set by the pool: the work is in a queue */
	uint64_t due_ns; /* the scheduler's: when the work is due; 0: at once */
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
	struct programs *programs; /* a runner starts for each process; NULL: none */
};

enum load_stage { LOAD_READ, LOAD_DECODE, LOAD_RUN, LOAD_STAGES };

/* Starts the decoders, the runners and one reader at once, and further readers as needed. */
must_check int load_pool_new(unsigned most_readers, unsigned n_decoders,
	const struct load_callbacks *callbacks, struct load_pool **ret);
/* Announces that the stage's next_read, next_decode or next_run may have a task: wakes a sleeping
 * thread, or starts a reader. One call wakes one thread. So a callback that returns a task must
 * call load_pool_kick if there are more tasks. */
void load_pool_kick(struct load_pool *pool, enum load_stage stage);
/* Queues the work. If work->waits is set, a reader does the work before its next task; otherwise a
 * decoder does it. If a decoder or runner calls this for work without work->waits, the work is done
 * before the call returns. */
void load_pool_run(struct load_pool *pool, struct load_work *work);
/* Takes work out of its queue. Returns false if a thread has begun the work. */
must_check bool load_pool_take_back(struct load_pool *pool, struct load_work *work);
/* Finishes the begun tasks and the queued work, and joins the threads. A read that has not ended
 * after two seconds fails with -EINTR; its thread remains, and leaves the caller's data alone. */
void load_pool_free(struct load_pool **pool);
