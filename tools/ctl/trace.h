// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* joaderctl trace: repeatedly asks the daemon which files the readers of a job open and
 * close, until a signal ends the command. */

/* argv[0] is the command's name. Returns the exit status. */
int trace(const char *socket_path, int argc, char **argv);
