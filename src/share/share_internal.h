// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "share/share.h"

#define SHARE_NS 1e9

/* Decode time in ns that one round of the round robin divides among all jobs. Rounds
 * are short, so that jobs take turns sample by sample rather than in bursts. */
#define SHARE_ROUND_NS 1000000

/* Gives a new job a quantum: as much per unit of weight as the other jobs have on
 * average. Then scales the quanta of all jobs, so that their sum is SHARE_ROUND_NS
 * again. */
void share_make_place(struct share_job *newcomer);
