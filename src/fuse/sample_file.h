// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/open_file_ops.h"

struct close_waiter;
struct sched_handle;
struct sched_job;

/*
 * Open samples. Each has a sched_handle, which keeps the tensor in the cache, and the content that
 * the job's format makes of the tensor.
 *
 *   opening_start -> (waits) -> sample_file_new -> reply -> reads -> open_file_close, after which
 *   the position is consumed
 *
 *   Threads: any.   Locks: none while replying or calling sched.
 */

/* Opens a sample. Takes over the handle, also on failure. -EIO: the content does not have the
 * length that readers were told, because the source was changed; -EAGAIN: another reader has
 * another epoch of the position open; -ENOMEM; -ENFILE. After -EAGAIN, *ret_epoch tells how to go
 * on. SCHED_CURRENT: the waiter's work runs when the other reader has closed the file, or has kept
 * it open for too long (await_close.h). Otherwise: open the position in *ret_epoch. */
must_check int sample_file_new(const struct request *request, struct sched_job *job,
	struct sched_handle *handle, struct close_waiter *waiter, struct open_file **ret,
	uint32_t *ret_epoch);
/* Answers a read of a sample that an earlier engine opened. Takes over the handle. */
void sample_file_read_again(const struct request *request, struct sched_job *job,
	struct sched_handle *handle);

/* The functions of open_file_ops.h for samples. */
void sample_file_read(const struct request *request, struct open_file *file);
void sample_file_consume(const struct request *request);
must_check int sample_file_outlives(
	const struct request *request, struct open_file **ret);
void sample_file_end(struct open_file *file);
