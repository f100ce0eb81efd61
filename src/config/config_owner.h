// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

#include <stdio.h>

/* Tells who owns a job, and what a user may do with it. Any thread may call these functions. */

#define CONFIG_NO_OWNER UINT32_MAX

/* Owner, group and mode of a job's directories and files. By default the daemon's user owns the
 * job, and every user may read it. */
struct job_owner {
	uid_t uid;
	gid_t gid;
	mode_t mode; /* mode of directories; files lack the search bits */
};
struct job_owner config_job_owner(const struct job_config *config);
/* Tells whether the user is root or the daemon's user, who may do everything. */
bool config_is_master(uid_t uid);

struct config_user {
	uid_t uid;
	gid_t gid;
	/* Tells whether the user is a member of `group`. Called only if `group` is not `gid`. */
	bool (*has_group)(void *context, gid_t group);
	void *context;
};
/* Tells whether the user has all rights in `wanted`, a sum of 4 (read) and 1 (search). */
bool config_job_allows(
	const struct job_config *config, const struct config_user *user, unsigned wanted);
/* Prints the user's name, or the number if there is no name. */
void config_print_user(FILE *out, uid_t uid);
