// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

#include <sys/stat.h>
#include <sys/types.h>

/* The command of a [preparation NAME]; constant after command_new. Errors: -errno and a message. */

#define COMMAND_MESSAGE 256
#define COMMAND_MOST_WORDS 32

struct command {
	char *text;
	char *words[COMMAND_MOST_WORDS + 1]; /* pointers into `text`, then NULL */
	unsigned n;
	/* words that are paths: result of stat() when the file was hashed; other words: zeros */
	struct stat files[COMMAND_MOST_WORDS];
	char *environment[10];
	bool changes_user;
	uid_t user;
	gid_t group;
	uint64_t memory;
	char identity[65]; /* hash that identifies the arrays that the command makes */
};

must_check int command_new(const struct preparation_config *config, struct command *ret,
	char message[static COMMAND_MESSAGE]);
void command_free(struct command *command);

/* Tells whether a file of the command has changed since command_new; `message` then names it. */
bool command_has_changed(
	const struct command *command, char message[static COMMAND_MESSAGE]);
