// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/format.h"
#include "files/content_parts.h"
#include "files/files.h"
#include "sched/sched.h"

/*
 * The bytes that a job's format makes of a prepared sample, after augmentation.
 *
 *   Owns: what it has computed; the tensor stays the handle's, which has to live longer.
 *   Threads: any; immutable once made.   Errors: -ENOMEM; -EIO (logged): not as long as
 *   its size said, the source was changed.
 */

struct content {
	const struct tensor *tensor; /* the handle's, or augmented */
	struct tensor *augmented;
	struct formatted format;
	uint64_t size; /* with the zeros at the end */
};

/* What readers were told before: a size, and as which file. */
struct content_place {
	uint32_t epoch, position;
	enum sample_format format;
	uint64_t size;
};

must_check int content_make(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret);
void content_free(struct content *content);

struct content_parts content_parts(const struct content *content);
