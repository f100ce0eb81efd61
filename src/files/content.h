// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/content_parts.h"
#include "files/files.h"
#include "files/format.h"

struct sched;
struct sched_handle;
struct sched_job;

/*
 * The content of a sample's file: the prepared tensor, after augmentation, in the job's format.
 *
 *   Owns: the bytes that it has computed. The tensor belongs to the handle, which must live longer
 *         than the content.
 *   Threads: any; immutable once made.
 *   Errors: -ENOMEM; -EIO, logged: the content is not as long as readers were told, because the
 *         source has changed.
 */

/* A file, or a part of a file, made from one tensor. */
struct content_made {
	/* tensor from which the file is made: that of the handle, or `augmented` */
	const struct tensor *tensor;
	struct tensor *augmented;
	struct formatted format;
};

#define CONTENT_HEADER 512 /* bytes of a tar header */

struct content {
	struct content_made first;
	/* second file of a pair, if the content has both files */
	struct content_made second;
	/* Offset of the second file. If the second file has a header, offset of this header. 0:
	 * there is no second file. */
	uint64_t second_at;
	uint8_t header[CONTENT_HEADER];
	size_t header_bytes;
	/* The two files of a pair, as views of the handle's tensor. */
	struct tensor views[2];
	uint64_t size; /* size of the file, including the zeros at its end */
	struct sched *sched;
	uint64_t held; /* number of computed bytes that the scheduler was told */
};

/* The file for which the content is made, and the sizes that readers were told. */
struct content_place {
	uint32_t epoch, position;
	enum sample_format format;
	uint64_t size;
	bool second; /* the content is only the second file of a pair */
	/* The members from here on describe both files of a pair in a tar, one after the other. */
	uint64_t first_size;   /* size of the first file; 0: not a pair in a tar */
	uint64_t second_at;    /* offset of the second file's header */
	uint64_t second_size;  /* size of the second file, without its header */
	const uint8_t *header; /* header of the second file, CONTENT_HEADER bytes */
};

/* Makes the content of a file from the handle's tensor. The caller frees it by content_free. */
must_check int content_make(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret);
void content_free(struct content *content);

/* Returns where the bytes of the content lie in memory. The result is valid while the content
 * lives. */
struct content_parts content_parts(const struct content *content);

/* Describes the two arrays of a pair for the head of a record or of a batch. */
void content_pair_fields(const struct job_config *config, struct tensor_shape first,
	struct tensor_shape second, struct file_head_field ret[static 2]);
