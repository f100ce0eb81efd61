// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl trace: asks the daemon again and again what the readers of a job open and close,
 * until it is ended.
 *
 *   Threads: none.   Errors: printed.
 */

/* argv[0] is the name of the command of joaderctl. The exit status. */
int trace(const char *socket_path, int argc, char **argv);
