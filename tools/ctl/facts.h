// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * What the daemon tells programs: lines "KIND key=value ...". What an older daemon does not
 * tell is 0, or empty.
 *
 *   Threads: none.
 */

/* Asks the daemon by a command; the caller frees *ret. false: told. */
bool facts_ask(const char *socket_path, const char *command, char **ret);

double facts_number(const char *line, const char *key);
/* whole: to the end of the line. */
void facts_text(const char *line, const char *key, bool whole, char *ret, size_t room);
/* The text behind "key=", or NULL. */
const char *facts_value(const char *line, const char *key);
