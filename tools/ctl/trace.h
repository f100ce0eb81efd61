// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* Runs joaderctl trace, which asks the daemon again and again for the opens and closes of a job's
 * readers until a signal comes. argv[0] is the command's name. Returns the exit status. */
int trace(const char *socket_path, int argc, char **argv);
