// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl top: asks the daemon for its counters again and again, and shows their
 * changes.
 *
 *     top.c  options, the terminal, keys --> top_sample.c  the daemon's answer
 *                                        --> top_screen.c  as a screen
 *                                        --> top_json.c    as JSON
 */

/* argv[0] is the command's name. Returns the exit status. */
int top(const char *socket_path, int argc, char **argv);
