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
 * The content of a sample's file: the prepared tensor, augmented, in the job's format.
 *
 *   Owns: everything that it has computed. The tensor stays the handle's, and the handle
 *         has to live longer.
 *   Threads: any; immutable once made.
 *   Errors: -ENOMEM; -EIO, logged: it is not as long as readers were told, because the
 *         source was changed.
 */

/* A file, or a part of one, that is made of one tensor. */
struct content_made {
	const struct tensor *tensor; /* the handle's, or augmented */
	struct tensor *augmented;
	struct formatted format;
};

#define CONTENT_HEADER 512 /* bytes of a header of tar */

struct content {
	struct content_made first;
	struct content_made second; /* a pair's second file, if the content has both */
	/* offset of `second`, or of its header if it has one; 0: not there */
	uint64_t second_at;
	uint8_t header[CONTENT_HEADER];
	size_t header_bytes;
	struct tensor views[2]; /* the files of a pair, in the handle's tensor */
	uint64_t size;		/* the file's, with the zeros at the end */
	struct sched *sched;
	uint64_t held; /* bytes of what was computed, as sched counts them */
};

/* The file that the content is for, with the size that readers were told. */
struct content_place {
	uint32_t epoch, position;
	enum sample_format format;
	uint64_t size;
	bool second; /* the second file of a pair alone */
	/* The files of a pair follow each other in a tar: */
	uint64_t first_size;   /* the first file's; 0: it is no pair in a tar */
	uint64_t second_at;    /* offset of the second file's header */
	uint64_t second_size;  /* the second file's, without its header */
	const uint8_t *header; /* CONTENT_HEADER bytes */
};

/* Makes the content of a file from the handle's tensor. */
must_check int content_make(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret);
void content_free(struct content *content);

/* Returns where the content's bytes lie, for as long as the content lives. */
struct content_parts content_parts(const struct content *content);

/* Describes the arrays of a pair in a record, or in an array of pairs. */
void content_pair_fields(const struct job_config *config, struct tensor_shape first,
	struct tensor_shape second, struct file_head_field ret[static 2]);
