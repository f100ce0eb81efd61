// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/coord_engine.h"

/*
 * The engine in the process: for a single node, and for tests. It forgets all when it is
 * freed, so its first life begins with a repair, as that of any other engine.
 *
 *   Owns: all that it was told.
 *   Clock: the caller's, for leases; on its own it does nothing.
 */

struct coord_local;

/* `alone`: no other node will ever reach it, so that a repair need not wait for any. */
must_check int coord_local_new(uint64_t (*now_ns)(void *context), void *context,
	bool alone, struct coord_local **ret);
void coord_local_free(struct coord_local **local);
const struct coord_engine *coord_local_engine(struct coord_local *local);

/* Another life begins, as after a restart that lost nothing. */
void coord_local_restart(struct coord_local *local);
