// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/buffer.h"
#include "load/load.h"

/* The result of the reading stage: the bytes of a file, or an error. Owns copies of all that it
 * needs, so that the task may be freed before the read ends. Threads: one at a time. */
struct load_read {
	TAILQ_ENTRY(load_read) link; /* in the pool's list of reads that can be reused */
	const char *path, *root;     /* path: the sample's file, or its container */
	bool in_container;
	struct source_part part; /* the sample's part of its container */
	size_t plain; /* offset of the part of a URL that still has to be %-escaped */
	uint64_t expected_bytes;
	int64_t expected_mtime_ns;
	bool encoded, by_content;
	struct load_identity identity;
	/* the sample in its tier; load_read_run drops the reference to tier.dataset */
	struct tier_sample tier;
	uint32_t tier_worth;
	struct buffer names; /* memory of `path` and `root` */
	struct buffer bytes;
	struct buffer stored; /* the part's compressed bytes, before they are unpacked */
	/* the read of task->second (a mask or the next frame); used only if has_second */
	struct load_read *second;
	bool has_second;
	char *second_name; /* name of the second file or the next frame, for messages */
	bool names_second; /* `message` already names the mask or frame that failed */
	struct tensor *tensor; /* if `encoded`: used instead of `bytes` */
	uint64_t cpu_ns;
	int status;
	bool passing;
	bool told;
	uint64_t retry_ns;
	char message[IMAGE_MESSAGE];
};

/* Returns NULL if there is no memory. */
struct load_read *load_read_new(void);
void load_read_free(struct load_read **read);
/* Frees each buffer of the read that is far larger than most samples need. */
void load_read_trim(struct load_read *read);

/* Makes the message of a sample that has failed because of its file `name`, a mask or a later
 * frame. message: the error of this file. */
void load_name_second(
	const char *name, const char *message, char ret[static IMAGE_MESSAGE]);

must_check int load_read_prepare(struct load_read *read, const struct load_task *task);
/* Reads the sample. Blocks until the storage answers, perhaps for ever. */
void load_read_run(struct load_read *read);

/* Decodes the bytes of task->read for the tasks of the chain. If task->read is NULL, the task fails
 * with task->status or, if this is 0, with -ENOMEM. */
void load_decode(struct load_context *context, struct load_task *task);
