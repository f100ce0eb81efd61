// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/*
 * Prints the texts of joaderctl --help and joaderctl COMMAND --help.
 */

#define EXIT_USAGE 2

/* Prints the help of all commands. Returns the exit status: 0, or 1 if it can't be written. */
int help_all(FILE *out);
/* Prints the help of one command. Returns the exit status; EXIT_USAGE: there is no such
 * command. */
int help_of(const char *command, FILE *out);
