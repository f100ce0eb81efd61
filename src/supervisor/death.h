// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Each engine calls this when it starts, also the first one. Saves in kept()->oom_kills, for the
 * next engine, how many processes the kernel has killed for lack of memory. has_died: the previous
 * engine died, and nobody had asked it to end; this function then writes to the log and to
 * kept()->reason why it died. */
void death_tell(bool has_died);
