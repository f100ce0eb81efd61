// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * Prints the list of jobs (joaderctl ls). A terminal gets it in the colours of joaderctl top,
 * unless the environment has NO_COLOR. Returns the exit status.
 */
int list_jobs(const char *socket_path);
