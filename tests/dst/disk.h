// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * In place of what writes files: others run meanwhile, a write may be a short one, nothing
 * is brought to a real disk. When the machine is dead, nothing has an effect any more: as
 * if the process had been killed, but its memory is given back as ever.
 */

void disk_die(void);
void disk_die_in(unsigned calls); /* by the daemon */
void disk_live(void);
bool disk_is_dead(void);
