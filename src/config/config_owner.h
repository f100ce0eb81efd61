// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

#include <stdio.h>

/*
 * Answers who owns a job, and what a user may do with the job.
 *
 *   Owns: nothing.   Threads: any.   Errors: none.
 */

#define CONFIG_NO_OWNER UINT32_MAX

/* The owner of a job. If the ini names none, the owner is the daemon's user, and every user may
 * read. */
struct job_owner {
	uid_t uid;
	gid_t gid;
	/* Mode of directories. Files have the same mode without the search bits. */
	mode_t mode;
};
struct job_owner config_job_owner(const struct job_config *config);
/* Tells whether the user is root or the daemon's user, who may do everything. */
bool config_is_master(uid_t uid);
/* Tells whether the user may change and remove the job. */
bool config_job_is_of(const struct job_config *config, uid_t uid);

struct config_user {
	uid_t uid;
	gid_t gid;
	/* Tells whether the user is a member of `group`. Called only for groups other than
	 * `gid`. */
	bool (*has_group)(void *context, gid_t group);
	void *context;
};
/* Tells whether the user has all rights in `wanted`: a sum of 4 (read) and 1 (search). */
bool config_job_allows(
	const struct job_config *config, const struct config_user *user, unsigned wanted);
/* Prints the user's name, or the number if there is no name. */
void config_print_user(FILE *out, uid_t uid);
