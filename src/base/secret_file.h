// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>

/*
 * Reads a secret from a regular file that only its owner and its group can use (mode 0600 or
 * 0640, for instance). A newline at the end is no part of the secret.
 *
 *   Threads: any.
 *   Errors: -errno, with a message that has nothing of the content.
 */

#define SECRET_FILE_MESSAGE 224

/* Reads at most `room` bytes; a longer file fills the room. `key` is the option that names the
 * file, for the message. */
must_check int secret_file_read(const char *key, const char *path, void *ret, size_t room,
	size_t *ret_n, char message[SECRET_FILE_MESSAGE]);
