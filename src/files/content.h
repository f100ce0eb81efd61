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
 *   Owns: the bytes that it has computed. The tensor belongs to the handle, a reader's open file,
 *         which must live longer than the content.
 *   Threads: any; immutable once made.
 *   Errors: -ENOMEM; -EIO, logged: the content is not as long as readers were told, because the
 *           source has changed.
 */

struct content_made {
	/* tensor with the file's pixels: the handle's, one of content.views, or `augmented`; NULL:
	 * format.encoded has the whole file */
	const struct tensor *tensor;
	struct tensor *augmented;
	struct formatted format;
};

#define CONTENT_HEADER 512 /* bytes of a tar header */

struct content {
	struct content_made first;
	/* second file of a pair, if the content has both files */
	struct content_made second;
	/* offset of the second file (in a tar: of this file's header); 0: no second file */
	uint64_t second_at;
	uint8_t header[CONTENT_HEADER];
	size_t header_bytes;
	struct tensor views[2]; /* the files of a pair, as views of the handle's tensor */
	uint64_t size;		/* size of the file, including the zeros at its end */
	struct sched *sched;
	uint64_t held; /* bytes that sched_hold_content has counted */
};

/* The file to make, and the sizes that readers were told. */
struct content_place {
	uint32_t epoch, position;
	enum sample_format format;
	uint64_t size;
	bool second; /* the file is the second file of a pair */
	/* The members from here on are for both files of a pair in a tar. */
	uint64_t first_size;   /* 0: not a pair in a tar */
	uint64_t second_at;    /* offset of the second file's header */
	uint64_t second_size;  /* size without the header */
	const uint8_t *header; /* header of the second file, CONTENT_HEADER bytes */
};

/* Makes the content of a file from the handle's tensor. The caller frees the content with
 * content_free. */
must_check int content_make(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret);
void content_free(struct content *content);

/* The result points into the content and its tensor. */
struct content_parts content_parts(const struct content *content);

/* Describes both arrays of a pair for the head of a record or a batch. */
void content_pair_fields(const struct job_config *config, struct tensor_shape first,
	struct tensor_shape second, struct file_head_field ret[static 2]);
