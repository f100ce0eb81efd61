// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* Prints the list of jobs (joaderctl ls). On a terminal it has the colours of joaderctl top, unless
 * NO_COLOR is set in the environment. Returns the exit status. */
int list_jobs(const char *socket_path);
