// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl dataset.
 *
 *   Threads: none.
 */

/* Runs the command. The arguments begin with its name. Returns the exit status. */
int dataset_command(const char *socket_path, int argc, char **argv);
