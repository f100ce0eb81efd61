// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Replaces the calls that write files: other coroutines run during a call, a write may be short,
 * and nothing is synced to a real disk. After the machine's death calls have no effect, as if the
 * process had been killed; the caller still frees its memory.
 */

void disk_die(void);
void disk_die_in(unsigned calls); /* the machine dies in this call, counted from now */
void disk_live(void);
bool disk_is_dead(void);
