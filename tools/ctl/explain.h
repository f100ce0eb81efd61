// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl explain: why jobs are slow, and what would help. The daemon tells what it has
 * measured of the last epochs; what would be is simulated here (tools/sim/timed.h), and the
 * daemon notices nothing of it.
 */

/* The arguments behind the socket, with the command; an exit status. */
int explain(const char *socket_path, int argc, char **argv);
