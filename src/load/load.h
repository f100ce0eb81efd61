// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "image/head.h"
#include "image/image.h"

#include <stddef.h>

/*
 * Preparing samples: source -> codec -> transform, by a pool of worker threads.
 *
 *   Flow: sched hands in two callbacks. A worker asks `next` for a task, prepares it
 * holding no lock, and gives it to `done`. load_pool_kick tells the pool that `next` may
 *         have something.
 *   Owns: nothing of a task; the tensor it made belongs to whoever gets `done`.
 *   Threads: callbacks run on workers. Workers run at batch priority (SCHED_BATCH).
 *   Errors: a task's status is 0 or -errno, with a message that names the cause (the path
 *         is logged by the caller, once).
 */

struct load_task {
	/* in */
	const char *path;
	uint64_t expected_bytes;   /* of the file, by the catalogue */
	int64_t expected_mtime_ns; /* a file that changed since the scan is refused */
	struct tensor_shape expected_image; /* as in the file */
	unsigned orientation; /* EXIF's; 0 or 1: as it is. For preparations with exif. */
	uint64_t max_pixels;  /* larger ones are refused; 0: IMAGE_MAX_PIXELS */
	const struct preparation *preparation;
	void *owner; /* the caller's */
	struct backings
		*backings;   /* NULL, or: the tensor is to be in a file, if it can */
	enum head_kind head; /* of that file */
	/* The same file prepared in another way as well, from one read and one decode: of
	 * it only preparation, owner, backings and head are looked at. Of several none
	 * may be encoded, approximate or exif. */
	struct load_task *also;
	/* out */
	int status;
	struct tensor *tensor; /* NULL unless status is 0 */
	char message[IMAGE_MESSAGE];
};

/* Buffers and codec state that a worker keeps between images. Threads: one at a time. */
struct load_context;
must_check int load_context_new(struct load_context **ret);
void load_context_free(struct load_context **context);

/* From now on without code for this processor alone, to compare with. 0 or -ENOMEM; then
 * the context can only be freed. */
must_check int load_context_use_plain(struct load_context *context);

/* Where the processor time of a context went, and the most bytes that it held at the end
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
 * load.decode. -EIO: unreadable, truncated, corrupt, not an image, unsupported; -ESTALE:
 * changed since the scan; -ENOENT: gone; -ENOMEM.
 */
void load_prepare(struct load_context *context, struct load_task *task);

struct load_pool;

struct load_callbacks {
	struct load_task *(*next)(void *context); /* NULL: nothing to do now */
	void (*done)(void *context, struct load_task *task);
	void *context;
};

must_check int load_pool_new(unsigned n_workers, const struct load_callbacks *callbacks,
	struct load_pool **ret);
void load_pool_kick(struct load_pool *pool);
/* Finishes what workers are doing, takes nothing new, joins them. */
void load_pool_free(struct load_pool **pool);

/* The pool's one-thread twin: does one task in the calling thread; false: nothing to do.
 */
bool load_run_one(struct load_context *context, const struct load_callbacks *callbacks);
