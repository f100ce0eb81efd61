// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * joaderctl explain: tells why jobs are slow, and which changes would help. The daemon tells what
 * it has measured of the last epochs; the changes are simulated here (tools/sim/timed.h), and the
 * daemon notices nothing of it.
 */

/* Runs the command. argv: the arguments behind the socket, with the command. Returns the exit
 * status. */
int explain(const char *socket_path, int argc, char **argv);
