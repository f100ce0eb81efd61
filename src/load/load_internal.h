// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/buffer.h"
#include "load/load.h"

/* The result of the reading stage for the decoding stage: the bytes of a file, or an
 * error. Owns copies of all that it needs, so that the task may be freed before the read
 * ends. Threads: one at a time. */
struct load_read {
	TAILQ_ENTRY(load_read) link; /* in the pool's list of reads that can be reused */
	const char *path, *root;     /* path: the sample's file, or its container */
	bool in_container;
	struct source_part part; /* the sample's part of its container */
	size_t plain;		 /* as load_task.plain */
	uint64_t expected_bytes;
	int64_t expected_mtime_ns;
	bool encoded, by_content;
	struct load_identity identity;
	/* the sample in its tier; load_read_run drops the reference to the dataset */
	struct tier_sample tier;
	uint32_t tier_worth;
	struct buffer names; /* memory of `path` and `root` */
	struct buffer bytes;
	/* compressed bytes of a part of a container, to be unpacked into `bytes` */
	struct buffer stored;
	/* read of task->second (a mask or the next frame), if has_second */
	struct load_read *second;
	bool has_second;
	char *second_name; /* name of the second file or the next frame, for messages */
	/* `message` is about a mask or a later frame */
	bool names_second;
	/* if `encoded`: the tensor into which the file is read, instead of `bytes` */
	struct tensor *tensor;
	uint64_t cpu_ns;
	int status;
	bool passing;
	bool told;
	uint64_t retry_ns;
	char message[IMAGE_MESSAGE];
};

struct load_read *load_read_new(void); /* NULL: no memory */
void load_read_free(struct load_read **read);
/* Frees buffers that are far larger than most samples need. */
void load_read_trim(struct load_read *read);

/* Makes the message of a sample whose mask or later frame, the file `name`, has failed
 * for the reason `message`. */
void load_name_second(
	const char *name, const char *message, char ret[static IMAGE_MESSAGE]);

must_check int load_read_prepare(struct load_read *read, const struct load_task *task);
/* May take long, or never end. */
void load_read_run(struct load_read *read);
/* Passes the result to the task. The caller must keep `read` until the task is decoded.
 * NULL: there was no memory for the read. */
void load_read_give(struct load_read *read, struct load_task *task);

/* Decodes task->read, which the caller keeps. If it is NULL, the task fails: with
 * task->status if this is an error, otherwise with -ENOMEM. */
void load_decode(struct load_context *context, struct load_task *task);
