// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Each engine (the process that serves the mount) calls this function when it starts.
 * Writes to the log and to kept()->reason why the previous engine died (has_died). */
void death_tell(bool has_died);
