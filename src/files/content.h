// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/content_parts.h"
#include "files/files.h"
#include "files/format.h"
#include "sched/sched.h"

/*
 * The content of a sample's file: the prepared tensor, augmented, in the job's format.
 *
 *   Owns: everything that it has computed. The tensor stays the handle's, and the handle
 *         has to live longer.
 *   Threads: any; immutable once made.
 *   Errors: -ENOMEM; -EIO, logged: it is not as long as readers were told, because the
 *         source was changed.
 */

struct content {
	const struct tensor *tensor; /* the handle's, or augmented */
	struct tensor *augmented;
	struct formatted format;
	uint64_t size; /* of the file, with the zeros at the end */
	struct sched *sched;
	uint64_t held; /* bytes of what was computed, as sched counts them */
};

/* The file that the content is for, with the size that readers were told. */
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
