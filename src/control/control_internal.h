// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "control/control.h"

/*
 * Inside of the control socket: control.c receives and sends, control_commands.c carries
 * out the commands.
 */

#define CONTROL_REQUEST_MAX (1u << 20) /* bytes */

struct control_message {
	const char *text;
	size_t bytes;	/* > 0 */
	int descriptor; /* the one that came with it, or -1 */
	pid_t sender;
};

/*
 * Carries out one request and writes the text of the answer. false: it failed, and the
 * text says why. If it uses the descriptor, that is -1 afterwards.
 */
bool control_execute(const struct files_context *context, struct session *session,
	struct control_message *message, FILE *out);
