// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl run: adds a job for as long as a command runs.
 *
 *     add --own-name -> command, with the view's path in place of {} -> rm
 *
 * Signals that ask a program to end, or that mean something to it, go to the command.
 *
 *   Threads: none.   Errors: printed.
 */

/* Runs the command. argv[0] is the name of the command of joaderctl. Returns the exit status
 * of the command that was run, or 128 and its signal if a signal has ended it; 126, 127: it
 * can't be started, as env(1) has them; otherwise 1 or EXIT_USAGE. */
int run_command(const char *socket_path, int argc, char **argv);
