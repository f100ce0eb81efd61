// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "share/share.h"

/* What queue.c and window.c share. */

#define SHARE_NS 1e9

/* Of decode time, for all lanes together. Short, so that lanes take turns sample by sample
 * rather than in bursts; a sample that costs more than a quantum is paid off in the rounds
 * after it. */
#define SHARE_ROUND_NS 1000000

/* As much for its weight as the others have on an average; all come to one round. */
void share_make_place(struct share_job *newcomer);
