// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Each engine calls this when it starts, also the first one. Notes kept()->oom_kills for the next
 * engine. If has_died is true, the previous engine did not end as it was asked: writes to the log
 * and to kept()->reason why it died. */
void death_tell(bool has_died);
