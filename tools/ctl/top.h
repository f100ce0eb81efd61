// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl top: asks the daemon for its counters again and again, and shows what they say
 * of the time between.
 *
 *     top.c  options, the terminal, keys --> top_sample.c  what the daemon says
 *                                        --> top_screen.c  as a screen
 *                                        --> top_json.c    as JSON
 *
 *   Threads: none.   Errors: printed.
 */

/* argv[0] is the name of the command of joaderctl. The exit status. */
int top(const char *socket_path, int argc, char **argv);
