// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* joaderctl run: adds a job for as long as a command runs. {} in the command stands for the path of
 * current/. Signals such as SIGINT, SIGTERM, SIGUSR1 and SIGWINCH are passed to the command. */

/* argv[0] is the name of the joaderctl command. Returns the exit status of the command that was
 * run; 128 plus the number of the signal that ended it; 126 or 127 as in env(1) if it can't be
 * started; otherwise 1 or EXIT_USAGE. */
int run_command(const char *socket_path, int argc, char **argv);
