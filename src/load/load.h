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
 * for callers: load_pool_run.
 *
 *     next_read --> a reader --> read ... next_decode --> a decoder --> done
 *
 *   Flow: the caller calls load_pool_kick when there may be a task. A reader gets a task
 *         from `next_read`, reads its file without a lock, and passes it to `read`; the
 *         caller keeps it. A decoder gets a task that was read from `next_decode`,
 *         decodes the image, and passes it to `done`. If a program prepares the sample
 *         (prepare.h), a runner does this instead, and gets the task from `next_run`. A
 *         sample that its tier lacks is read from the source, and offered to the tier.
 *   Owns: no part of a task; the call of `done` passes the tensor to the caller.
 *   Threads: callbacks run on readers, decoders and runners. Decoders and runners run at
 *         batch priority (SCHED_BATCH).
 *   Errors: a task's status is 0 or -errno, with a message that names the cause. The
 *         caller logs the message, once, with the path.
 */

struct load_read;

/* Equal identities mean equal images: the same part of the same version of a file, or
 * bytes with the same SHA-256. All words 0: not known. */
struct load_identity {
	uint64_t words[5];
};

struct load_task {
	/* The members from here on are set by the caller. */
	const char *path;
	/* container with the sample as its part `part`; NULL: `path` is the sample */
	const char *container;
	struct source_part part;
	/* if `path` is a URL: offset from which on it is not %-escaped yet */
	size_t plain;
	const char *name; /* name of the sample, for programs that prepare samples */
	/* directory that symbolic links must not leave; NULL: no limit */
	const char *root;
	uint64_t expected_bytes; /* size of the sample in the catalogue */
	/* in the catalogue; the task fails if the file's mtime differs */
	int64_t expected_mtime_ns;
	struct tensor_shape expected_image; /* size of the image in the file */
	/* EXIF orientation, used only with exif = apply; 0 or 1: upright */
	unsigned orientation;
	uint64_t max_pixels; /* images with more pixels fail; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	/* the sample in its tier; tier.dataset is NULL if there is no tier */
	struct tier_sample tier;
	uint32_t tier_worth;
	void *owner; /* private to the caller */
	/* owner of the tensor's file in memory; NULL: the tensor gets no file */
	struct backings *backings;
	struct file_head head; /* head of the tensor's file */
	/* the pool sets `identity` to the hash of the file's bytes */
	bool by_content;
	/* The next task of the chain, which prepares one file in several ways: it is
	 * read and decoded once. All tasks but the first use only preparation, owner,
	 * backings and head. Their preparations must be plain: not encoded or
	 * approximate, no exif = apply, no channels = keep. */
	struct load_task *also;
	/* The second file of a pair, such as a mask, whose pixels follow those of the
	 * first; or, with preparation->frames, the next frame of a video. It uses only
	 * the members about the file, the preparation and the tier. Such a task is in no
	 * chain. */
	struct load_task *second;
	struct load_read *read; /* set by the pool: what the reading stage has read */
	/* set by the pool when the file was read; the caller may read it */
	struct load_identity identity;
	/* A finished tensor of the same image, or NULL. next_decode may set it in all
	 * tasks of the chain, each with a reference; then nothing is decoded. */
	struct tensor *same;
	/* The members from here on are set by the pool. */
	int status;
	bool passing; /* the error is transient: another try may succeed */
	/* the error affects all samples of the source, and was already logged */
	bool told;
	uint64_t retry_ns;     /* delay before a retry that a server requested; 0: none */
	bool damaged;	       /* the file was read, but is not a valid image */
	struct tensor *tensor; /* NULL unless status is 0 */
	/* duration of the decode, one for all tasks of the chain */
	uint64_t decode_ns;
	uint64_t cpu_ns; /* processor time of the chain's decode */
	char message[IMAGE_MESSAGE];
};

/* Buffers and state of the codecs, kept for the next image. Threads: one at a time. */
struct load_context;
must_check int load_context_new(struct load_context **ret);
void load_context_free(struct load_context **context);

/* Uses only portable code, for benchmarks. After -ENOMEM the context must be freed. */
must_check int load_context_use_plain(struct load_context *context);
/* The programs must live longer than the context. */
void load_context_use_programs(struct load_context *context, struct programs *programs);

/* Processor times, and the most bytes held after an image, without tensors. */
struct load_usage {
	uint64_t read_ns;
	uint64_t decode_ns;
	uint64_t resample_ns;
	size_t peak_bytes;
};

struct load_usage load_context_usage(const struct load_context *context);

/* Reads and prepares one sample in the calling thread, for all tasks of its chain.
 * Usually the output is RGB of 8 bits as PIL's convert('RGB') gives it, resized as by
 * Pillow, and centre-cropped; preparation->encoded: the file's bytes.
 * 
 * Faults: load.read, load.remote (like load.read, on another machine), load.decode,
 * load.openat2. -EIO: unreadable, truncated, corrupt, no image, not supported; -ESTALE:
 * changed since the scan; -ENOENT; -ENOMEM. Transient errors: transient_error.c. */
void load_prepare(struct load_context *context, struct load_task *task);

/* Reads the unchanged bytes of a file, or of its part, in the calling thread. Sets
 * status, message and tensor, which the caller owns. Returns the status. Errors: as
 * load_prepare. */
must_check int load_bytes(struct load_task *task);

/* Work other than preparing a sample. `run` is called once, and may free the work. */
struct load_work {
	TAILQ_ENTRY(load_work) link;
	void (*run)(struct load_work *work);
	bool waits;  /* for a server, so a reader does the work, not a decoder */
	bool queued; /* used by the pool */
	/* used by the scheduler: when the work is due; 0: at once */
	uint64_t due_ns;
};

struct load_pool;

/* next_read, next_decode and next_run return the stage's next task; NULL: none now. */
struct load_callbacks {
	struct load_task *(*next_read)(void *context);
	void (*read)(void *context, struct load_task *task);
	struct load_task *(*next_decode)(void *context);
	void (*done)(void *context, struct load_task *task);
	void *context;
	struct load_task *(*next_run)(void *context);
	/* one runner starts for each of their processes; NULL: no programs */
	struct programs *programs;
};

enum load_stage { LOAD_READ, LOAD_DECODE, LOAD_RUN, LOAD_STAGES };

/* Starts the decoders at once, and readers as needed. */
must_check int load_pool_new(unsigned most_readers, unsigned n_decoders,
	const struct load_callbacks *callbacks, struct load_pool **ret);
/* Announces that the callback of the stage may have a task: wakes a sleeping thread, or
 * starts a reader if none is free. One call wakes one thread: a callback that returns a
 * task must call this again if it has more tasks. */
void load_pool_kick(struct load_pool *pool, enum load_stage stage);
/* Queues the work for a decoder, before its next task. A decoder or runner that calls
 * this does the work at once. Work that waits is always queued, for a reader, before its
 * next read. */
void load_pool_run(struct load_pool *pool, struct load_work *work);
/* false: a thread has begun the work, so it is not queued any more. */
must_check bool load_pool_take_back(struct load_pool *pool, struct load_work *work);
/* Finishes the tasks that were begun and the queued work, and joins the threads. A read
 * that has not ended after two seconds fails with -EINTR; its thread remains, and no
 * longer accesses the caller's data. */
void load_pool_free(struct load_pool **pool);

/* Reads a task and decodes a task in the calling thread. false: none to decode. */
bool load_run_one(struct load_context *context, const struct load_callbacks *callbacks);
