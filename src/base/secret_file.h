// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>

/* Reads a secret from a regular file that only its owner and group can use (for instance mode 0600
 * or 0640). A newline at the end of the file is left out. Errors: -errno, with a message that
 * contains no part of the secret. Any thread may call this. */

#define SECRET_FILE_MESSAGE 224

/* Reads at most `room` bytes. key: the option that names the file, for the message. */
must_check int secret_file_read(const char *key, const char *path, void *ret, size_t room,
	size_t *ret_n, char message[SECRET_FILE_MESSAGE]);
