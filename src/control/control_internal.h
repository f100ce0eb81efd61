// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "control/control.h"

/*
 * Inside of the control socket: control.c moves bytes, control_commands.c knows what they
 * mean.
 */

#define CONTROL_REQUEST_MAX (1u << 20) /* bytes */

struct control_message {
	const char *text;
	size_t bytes;	/* > 0 */
	int descriptor; /* that came with it, or -1 */
	pid_t sender;
};

/*
 * Carries out one request and writes the text of the answer. True when it succeeded;
 * false: the text says why not. A descriptor that it makes use of is -1 afterwards.
 */
bool control_execute(const struct files_context *context, struct session *session,
	struct control_message *message, FILE *out);
