// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "share/share.h"

#define SHARE_NS 1e9

/* Decode time of one round, for all lanes together. It is short, so that lanes take turns sample by
 * sample rather than in bursts. A sample that costs more than a quantum is paid off in the
 * following rounds. */
#define SHARE_ROUND_NS 1000000

/* Gives a new job the average quantum of the other jobs, adjusted to its weight, and scales all
 * quanta to one round. */
void share_make_place(struct share_job *newcomer);
