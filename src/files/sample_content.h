// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/format.h"
#include "files/slice.h"
#include "files/files.h"
#include "sched/sched.h"

/*
 * The bytes that a job's format makes of a prepared sample, after augmentation.
 *
 *   Owns: what it has computed; the tensor stays the handle's, which has to live longer.
 *   Threads: any; immutable once made.   Errors: -ENOMEM; -EIO (logged): not as long as
 *   its size said, the source was changed.
 */

struct sample_content {
	const struct tensor *tensor; /* the handle's, or augmented */
	struct tensor *augmented;
	struct format_file format;
	uint64_t size; /* with the zeros at the end */
};

/* What readers were told before: a size, and as which file. */
struct sample_place {
	uint32_t epoch, position;
	enum sample_format format;
	uint64_t size;
};

must_check int sample_content_make(const struct view_context *context,
	struct sched_job *job, const struct sample_place *place,
	const struct sched_handle *handle, struct sample_content *ret);
void sample_content_free(struct sample_content *content);

struct slice_source sample_content_source(const struct sample_content *content);
