// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/*
 * What joaderctl --help and joaderctl COMMAND --help print.
 */

#define EXIT_USAGE 2

/* The exit status: 0, or 1 if it can't be written. */
int help_all(FILE *out);
/* The same of one command; EXIT_USAGE: there is no such command. */
int help_of(const char *command, FILE *out);
