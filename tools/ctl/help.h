// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

#define EXIT_USAGE 2

/* Returns the exit status: 0, or 1 if the help can't be written. */
int help_all(FILE *out);
/* Returns the exit status; EXIT_USAGE: there is no such command. */
int help_of(const char *command, FILE *out);
