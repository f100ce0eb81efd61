// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/buffer.h"
#include "load/load.h"

/*
 * A file's bytes on their way from the reading stage to the decoding stage, or why there
 * are none.
 *
 *   Owns: copies of all that it needs, so that whoever asked for it may go.
 *   Threads: one at a time.
 */
struct load_read {
	TAILQ_ENTRY(load_read) link; /* of those that wait to be used again */
	const char *path, *root;     /* of the file, which is a sample or has it */
	bool in_container;
	struct source_part part; /* of the container */
	size_t plain;		 /* of a URL */
	uint64_t expected_bytes; /* of the sample */
	int64_t expected_mtime_ns;
	bool encoded, by_content;
	struct load_identity identity;
	struct tier_sample tier; /* held from its preparation until it has run */
	uint32_t tier_worth;
	struct buffer names; /* path and root */
	struct buffer bytes;
	struct buffer stored; /* a part, as it is in its container */
	struct load_read
		*second; /* of a pair or group; kept from one task to the next, or NULL */
	bool has_second;
	char *second_name;     /* for messages */
	bool names_second;     /* the message names a file behind this one */
	struct tensor *tensor; /* instead of bytes, if encoded */
	uint64_t cpu_ns;
	int status;
	bool passing;
	bool told;
	uint64_t retry_ns;
	char message[IMAGE_MESSAGE];
};

struct load_read *load_read_new(void); /* NULL: no memory */
void load_read_free(struct load_read **read);
/* Gives memory back that an exceptionally large file needed. */
void load_read_trim(struct load_read *read);

/* The message for a pair whose second file is what fails. */
void load_name_second(
	const char *name, const char *message, char ret[static IMAGE_MESSAGE]);

must_check int load_read_prepare(struct load_read *read, const struct load_task *task);
/* This may take long, or for ever. */
void load_read_run(struct load_read *read);
/* read: or NULL. The task has it until it is decoded. */
void load_read_give(struct load_read *read, struct load_task *task);

/* The second stage. task->read stays the caller's. NULL, with the status 0: there was no
 * memory for it; with another status: it failed already. */
void load_decode(struct load_context *context, struct load_task *task);
