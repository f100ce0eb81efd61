// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/* joaderctl add: reads the inis of jobs, and sends all of them in one request. */

/* argv[0] is the command's name. Returns the exit status. */
int add_jobs(const char *socket_path, int argc, char **argv);

/* Adds one job for joaderctl run. If the job's name is taken, the daemon chooses another
 * name. Prints the daemon's answer to `out`: name, tab, directory, newline. Returns the
 * exit status. */
int add_own(const char *socket_path, int argc, char **argv, FILE *out);
