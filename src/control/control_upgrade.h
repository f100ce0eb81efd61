// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

struct session;

/*
 * `joaderctl upgrade`: this engine ends, and the supervisor starts another one, perhaps of
 * another program. Readers notice nothing: it is as after a death (supervisor.h).
 *
 *   Flow: control_upgrade asks the program whether it can follow. Then the client gets its
 *         answer, and control_hand_over ends the process.
 */

/* Asks whether the program can follow this engine. session: NULL if nothing is mounted;
 * program: NULL for the same one. false: it can't, and out says why. */
bool control_upgrade(
	const char *state, const struct session *session, const char *program, FILE *out);

/* Ends this engine for the other one. */
_Noreturn void control_hand_over(void);
