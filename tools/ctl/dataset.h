// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl dataset: adds, lists and removes datasets, and scans them again.
 *
 *   Threads: none.
 */

/* Runs the command. The arguments begin with its name. Returns the exit status. */
int dataset_command(const char *socket_path, int argc, char **argv);
