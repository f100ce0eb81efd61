// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/buffer.h"
#include "load/load.h"

/*
 * The bytes of a file on their way from the reading stage to the decoding stage, or the error.
 *
 *   Owns: copies of all data that it needs, so that the task may be freed before the read ends.
 *   Threads: one at a time.
 */
struct load_read {
	TAILQ_ENTRY(load_read) link; /* links the spare reads */
	const char *path, *root;     /* path: the sample's file, or its container */
	bool in_container;
	struct source_part part; /* part of the container */
	size_t plain;		 /* offset in a URL where the unescaped name begins */
	uint64_t expected_bytes; /* bytes of the sample */
	int64_t expected_mtime_ns;
	bool encoded, by_content;
	struct load_identity identity;
	struct tier_sample
		tier; /* held from load_read_prepare until load_read_run returns */
	uint32_t tier_worth;
	struct buffer names; /* memory for path and root */
	struct buffer bytes;
	struct buffer stored; /* bytes of a part as stored in the container */
	/* the second file of a pair, or the next of a group; reused for later tasks; or NULL */
	struct load_read *second;
	bool has_second;
	char *second_name;     /* the file's name in messages */
	bool names_second;     /* the message is about a file after this one */
	struct tensor *tensor; /* for `encoded`: has the bytes, and `bytes` is empty */
	uint64_t cpu_ns;
	int status;
	bool passing;
	bool told;
	uint64_t retry_ns;
	char message[IMAGE_MESSAGE];
};

struct load_read *load_read_new(void); /* returns NULL if there is no memory */
void load_read_free(struct load_read **read);
/* Frees memory that only an exceptionally large file needs. */
void load_read_trim(struct load_read *read);

/* Makes the message for a failed second file of a pair. */
void load_name_second(
	const char *name, const char *message, char ret[static IMAGE_MESSAGE]);

must_check int load_read_prepare(struct load_read *read, const struct load_task *task);
/* Reads the file. This may take long, or for ever. */
void load_read_run(struct load_read *read);
/* Passes the read, or NULL, to the task. The task keeps it until it is decoded. */
void load_read_give(struct load_read *read, struct load_task *task);

/* Runs the second stage. The caller keeps task->read. If task->read is NULL, either there was no
 * memory for it (status 0), or the task has already failed (another status). */
void load_decode(struct load_context *context, struct load_task *task);
