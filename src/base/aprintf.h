// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Returns text that the caller frees. NULL, and errno ENOMEM: no memory. */
must_check char *aprintf(const char *format, ...) printf_like(1, 2);

/* Closes a stream of open_memstream. Returns its text, which the caller frees; NULL: no memory. */
must_check char *close_text(FILE *out, char **text);
