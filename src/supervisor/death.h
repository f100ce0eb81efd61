// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Each engine calls it at its beginning. If the engine before it has died, the reason goes to
 * the log, and to kept()->reason. */
void death_tell(bool has_died);
