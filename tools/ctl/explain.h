// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* joaderctl explain: tells why jobs are slow, and which changes would help. The daemon reports
 * measurements of the last epochs; this process simulates the changes (tools/sim/timed.h). */

/* argv[0] is the command's name. Returns the exit status. */
int explain(const char *socket_path, int argc, char **argv);
