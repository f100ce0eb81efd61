// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/*
 * The engine in this process, for a single node and for tests. The engine begins empty, so the
 * nodes first repair the log from their journals, as in any new life of an engine.
 *
 *   Owns: copies of all data that it is given.
 *   Clock: the caller's, for leases.   Threads: one at a time.
 */

struct coord_local;

/* alone: no other node ever uses the engine, so a repair waits for no other node. */
must_check int coord_local_new(uint64_t (*now_ns)(void *context), void *context,
	bool alone, struct coord_local **ret);
void coord_local_free(struct coord_local **local);
/* The functions are valid until coord_local_free. */
const struct coord_engine *coord_local_engine(struct coord_local *local);

/* Begins a new life of the engine (coord_engine.h), but loses no data. */
void coord_local_restart(struct coord_local *local);
