// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/buffer.h"
#include "load/load.h"

/*
 * A file's bytes on their way from the reading stage to the decoding stage, or the error if
 * there are none.
 *
 *   Owns: copies of all that it needs, so that the task may go before the read ends.
 *   Threads: one at a time.
 */
struct load_read {
	TAILQ_ENTRY(load_read) link; /* in the list of spare reads */
	const char *path, *root; /* path: the file, which is a sample or contains it */
	bool in_container;
	struct source_part part; /* part of the container */
	size_t plain;		 /* offset of the name in a URL */
	uint64_t expected_bytes; /* bytes of the sample */
	int64_t expected_mtime_ns;
	bool encoded, by_content;
	struct load_identity identity;
	struct tier_sample
		tier; /* held from load_read_prepare to the end of load_read_run */
	uint32_t tier_worth;
	struct buffer names; /* holds path and root */
	struct buffer bytes;
	struct buffer stored; /* bytes of a part, as they are in the container */
	struct load_read *
		second; /* second file of a pair or group; kept for later tasks, or NULL */
	bool has_second;
	char *second_name;     /* name in messages */
	bool names_second;     /* the message names a file behind this one */
	struct tensor *tensor; /* has the bytes if `encoded`; then `bytes` is empty */
	uint64_t cpu_ns;
	int status;
	bool passing;
	bool told;
	uint64_t retry_ns;
	char message[IMAGE_MESSAGE];
};

struct load_read *load_read_new(void); /* returns NULL without memory */
void load_read_free(struct load_read **read);
/* Frees memory that an exceptionally large file needed. */
void load_read_trim(struct load_read *read);

/* Makes the message for a pair whose second file fails. */
void load_name_second(
	const char *name, const char *message, char ret[static IMAGE_MESSAGE]);

must_check int load_read_prepare(struct load_read *read, const struct load_task *task);
/* Reads the file. This may take long, or for ever. */
void load_read_run(struct load_read *read);
/* Gives the read, or NULL, to the task, which keeps it until it is decoded. */
void load_read_give(struct load_read *read, struct load_task *task);

/* Runs the second stage. task->read stays the caller's; it is NULL with status 0 if there was
 * no memory for it, and NULL with another status if the task failed already. */
void load_decode(struct load_context *context, struct load_task *task);
