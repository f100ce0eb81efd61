// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "share/share.h"

#define SHARE_NS 1e9

/* Decode time of one round, for all lanes together. A round is short, so that lanes take turns
 * sample by sample rather than in bursts. After a sample that costs more than the lane's quantum,
 * the lane waits for some rounds. */
#define SHARE_ROUND_NS 1000000

/* Gives a new job the average quantum of the other jobs, in proportion to its weight. Then scales
 * all quanta, so that their sum is one round again. */
void share_make_place(struct share_job *newcomer);
