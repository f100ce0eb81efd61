// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/*
 * joaderctl add: reads inis, and sends all of them in one request.
 *
 *   Threads: none.   Errors: printed.
 */

/* argv[0] is the command's name. The exit status. */
int add_jobs(const char *socket_path, int argc, char **argv);

/* The same of one job, which gets another name if there is one of its name. Prints the
 * daemon's answer to `out`: name, tab, directory, newline. */
int add_own(const char *socket_path, int argc, char **argv, FILE *out);
