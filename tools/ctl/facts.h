// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Parses lines "KIND key=value ..." that the daemon prints for programs. A value that an older
 * daemon does not print is 0 or empty. */

bool facts_begin(const char *line, const char *word);

double facts_number(const char *line, const char *key);
/* Copies the key's value to `ret`, which has `room` bytes. The value ends before the next space or,
 * if `whole` is true, at the end of the line. */
void facts_text(const char *line, const char *key, bool whole, char *ret, size_t room);
/* Returns the text after "key=", or NULL. */
const char *facts_value(const char *line, const char *key);
