// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

#include <sys/stat.h>
#include <sys/types.h>

/*
 * What a [preparation NAME] runs: words, the user, the environment, and by which identity its
 * arrays are known.
 *
 *   Threads: any, once it is made: nothing changes.
 *   Errors: -errno, with a message.
 */

#define COMMAND_MESSAGE 256
#define COMMAND_MOST_WORDS 32

struct command {
	char *text;
	char *words[COMMAND_MOST_WORDS + 1]; /* in text; ends with NULL */
	unsigned n;
	struct stat files[COMMAND_MOST_WORDS]; /* of words that are files, as hashed */
	char *environment[10];
	bool changes_user;
	uid_t user;
	gid_t group;
	uint64_t memory;
	char identity[65];
};

must_check int command_new(const struct preparation_config *config, struct command *ret,
	char message[static COMMAND_MESSAGE]);
void command_free(struct command *command);

/* Tells whether a file differs from the one that the identity was made of; the message names
 * this file. */
bool command_has_changed(
	const struct command *command, char message[static COMMAND_MESSAGE]);
