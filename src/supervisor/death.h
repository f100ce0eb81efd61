// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* If the previous engine died, writes the cause to the log and to kept()->reason. Each engine calls
 * this function at its start. */
void death_tell(bool has_died);
