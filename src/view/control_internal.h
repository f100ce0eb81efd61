// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "view/control.h"

/*
 * Inside of the control socket: control.c moves bytes, control_commands.c knows what they
 * mean.
 */

#define CONTROL_REQUEST_MAX (1u << 20) /* bytes */

/*
 * Carries out one request of `bytes` > 0 bytes and writes the text of the answer. True
 * when it succeeded; false: the text says why not.
 */
bool control_execute(const struct view_context *context, struct view *view,
	const char *request, size_t bytes, FILE *out);
