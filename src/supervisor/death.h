// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Must be called by each engine when it starts. If the previous engine died, writes the cause to
 * the log and to kept()->reason. */
void death_tell(bool has_died);
