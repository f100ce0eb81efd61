// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl dataset.
 *
 *   Threads: none.
 */

/* The arguments begin with the command. The exit status. */
int dataset_command(const char *socket_path, int argc, char **argv);
