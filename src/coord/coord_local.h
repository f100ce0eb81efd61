// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/*
 * The engine in this process, for a single node and for tests. It begins empty. So, as in any other
 * new life of an engine, the nodes first repair the log from their journals.
 *
 *   Owns: copies of all data that it is given.
 *   Clock: the caller's, for leases. It has no thread, and does nothing between calls.
 */

struct coord_local;

/* Creates an engine. alone: no other node ever uses the engine, so a repair waits for no other
 * node. */
must_check int coord_local_new(uint64_t (*now_ns)(void *context), void *context,
	bool alone, struct coord_local **ret);
void coord_local_free(struct coord_local **local);
/* Returns the engine's functions. They are valid until coord_local_free. */
const struct coord_engine *coord_local_engine(struct coord_local *local);

/* Begins a new life of the engine (coord_engine.h), as after a restart, but loses no data. */
void coord_local_restart(struct coord_local *local);
