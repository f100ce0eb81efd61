// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/*
 * The engine in the process, for a single node and for tests. Its content is lost when it is freed,
 * so its first life begins with a repair, as in any other engine.
 *
 *   Owns: copies of all data that it is given.
 *   Clock: the caller's, for leases. It has no thread, and does nothing between calls.
 */

struct coord_local;

/* Creates an engine. alone: no other node will ever reach it, so a repair waits for no other
 * node. */
must_check int coord_local_new(uint64_t (*now_ns)(void *context), void *context,
	bool alone, struct coord_local **ret);
void coord_local_free(struct coord_local **local);
/* Returns the engine's functions. They are valid until coord_local_free. */
const struct coord_engine *coord_local_engine(struct coord_local *local);

/* Begins another life, as a restart without loss does. */
void coord_local_restart(struct coord_local *local);
