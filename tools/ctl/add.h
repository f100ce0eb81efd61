// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdio.h>

/* joaderctl add: reads the inis of jobs, and sends all of them in one request. */

/* argv[0] is the command's name. Prints the daemon's answer to `out`. Returns the exit status. own:
 * adds one job for joaderctl run; if the job's name is taken, the daemon chooses another name, and
 * the answer is: name, tab, directory, newline. */
int add_jobs(const char *socket_path, int argc, char **argv, bool own, FILE *out);
