// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "share/share.h"

#define SHARE_NS 1e9

/* ns of decode time that a round divides among all jobs: so few that jobs do not run in bursts */
#define SHARE_ROUND_NS 1000000

/* Gives a new job as much quantum per unit of weight as the other jobs have on average, then scales
 * all quanta, so that their sum is SHARE_ROUND_NS again. */
void share_make_place(struct share_job *newcomer);
