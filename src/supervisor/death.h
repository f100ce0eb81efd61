// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Writes to the log and to kept()->reason why the previous engine has died, if it has. Each
 * engine calls this at its beginning. */
void death_tell(bool has_died);
