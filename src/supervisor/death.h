// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Writes the cause of the previous engine's death, if it has died, to the log and to
 * kept()->reason. Each engine calls this function when it begins. */
void death_tell(bool has_died);
