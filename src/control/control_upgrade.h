// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

struct session;

/*
 * `joaderctl upgrade`: this engine process ends, and the supervisor starts the next one, possibly
 * from another program. The next engine takes over as after a crash (supervisor.h), so readers
 * notice nothing.
 *
 *   Flow: control_upgrade asks the program whether it can take over. Then the client gets its
 *         answer, and control_hand_over ends the process.
 */

/* Tells whether the program can take over. If not, `out` gets the reason. session: NULL
 * if nothing is mounted; program: NULL for the program that runs now. */
bool control_upgrade(
	const char *state, const struct session *session, const char *program, FILE *out);

_Noreturn void control_hand_over(void);
