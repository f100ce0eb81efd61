// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl add: reads inis, and sends all of them in one request.
 *
 *   Threads: none.   Errors: printed.
 */

/* argv[0] is the command's name. The exit status. */
int add_jobs(const char *socket_path, int argc, char **argv);
