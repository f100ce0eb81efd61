// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What the epoch engine decides, one record for each decision. The records of a job in
 * their order are its journal: replaying them rebuilds the engine (joaderfs-state(5)).
 *
 *   kind       fields                            meaning
 *   BEGUN      epoch, rolls                      the epoch runs from now on
 *   BOUND      epoch, position, sample, served   the position holds the sample, for ever
 *   OPENED     epoch, position, reader           through current/, which learns from it
 *   CONSUMED   epoch, position                   its first reader has released it
 *   ENDED      epoch                             nothing of it will be bound any more
 *   LET_GO     epoch                             current/ does not give it any more: it
 *                                                was the epoch before the running one
 */

enum record_kind {
	RECORD_BEGUN = 1,
	RECORD_BOUND,
	RECORD_OPENED,
	RECORD_CONSUMED,
	RECORD_ENDED,
	RECORD_LET_GO,
	RECORD_KINDS
};

/* How the bytes of a drawn sample came to be there. */
enum served { SERVED_DECODED, SERVED_HIT, SERVED_SHARED };

struct record {
	enum record_kind kind;
	uint32_t epoch;
	uint32_t position;
	sample_id sample;
	enum served served;
	bool rolls; /* current/ began it: the epoch before goes on for slow readers */
	uint64_t reader; /* a thread; 0: not known */
};
