// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "share/share.h"

#define SHARE_NS 1e9

/* Decode time that one round of the round robin divides among all jobs. A round is short, so that
 * jobs take turns sample by sample rather than in bursts. After a sample that costs more than the
 * job's part of a round, the job waits for some rounds. */
#define SHARE_ROUND_NS 1000000

/* Gives a new job a quantum (decode time in a round): per unit of weight, as much as the other jobs
 * have on average. Then scales all quanta, so that their sum is one round again. */
void share_make_place(struct share_job *newcomer);
