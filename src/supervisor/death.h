// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Writes to the log and to kept()->reason why the previous engine died (has_died). Each engine
 * calls this when it starts. */
void death_tell(bool has_died);
