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
 *   BEGUN      epoch, rolls, bound               the epoch runs from now on
 *   BOUND      epoch, position, sample, served   the position holds the sample, for ever
 *   OPENED     epoch, position, reader, how,     through current/, which learns from it;
 *              label                             it may be bound later, or not at all
 *   CONSUMED   epoch, position                   its first reader has released it
 *   ENDED      epoch                             nothing of it will be bound any more
 *   LET_GO     epoch                             current/ does not give it any more: it
 *                                                was the epoch before the running one
 *   RESTORED   epoch, bound, consumed, drains    the job is where it was before: what the
 *                                                records so far told is over, the epoch
 *                                                runs, or drains beside that which runs
 */

enum record_kind {
	RECORD_BEGUN = 1,
	RECORD_BOUND,
	RECORD_OPENED,
	RECORD_CONSUMED,
	RECORD_ENDED,
	RECORD_LET_GO,
	RECORD_RESTORED,
	RECORD_KINDS
};

/* How the bytes of a drawn sample came to be there. SKIPPED: not at all, the epoch leaves it
 * out, and its position is consumed from then on. */
enum served { SERVED_DECODED, SERVED_HIT, SERVED_SHARED, SERVED_SKIPPED };

/* Who opens a file; 0: not known. The caller's numbers, of which none is used twice. */
struct reader {
	uint64_t thread;
	uint64_t rank;	 /* the process that the thread works for */
	uint64_t script; /* what this process, or its ancestors, were started as */
};

/* What an open of a file of current/ is for the script that opens it; current.c. Journals of
 * earlier versions have others, which are replayed as GIVEN. */
enum opened_how {
	OPENED_GIVEN = 0, /* it holds what the script's epoch has */
	OPENED_AGAIN = 1, /* the file that the thread opened last */
	OPENED_LATE = 3,  /* of the epoch before: this worker, or rank, has not left it */
	OPENED_ANEW = 6,  /* it begins a pass of the same epoch */
	OPENED_NEXT = 7,  /* it begins a pass of the next epoch */
	OPENED_BEHIND = 8, /* it begins a pass of the running epoch: its own is over */
	OPENED_KEEPS =
		9, /* it turns to the next epoch, which keeps the files of the run */
	OPENED_JOINS = 10, /* it begins a pass of an epoch that keeps nothing of it */
	OPENED_HOWS,
	OPENED_LOOKED = OPENED_HOWS, /* by a process whose workers read: not recorded */
};

struct record {
	enum record_kind kind;
	uint32_t epoch;
	uint32_t position;
	sample_id sample;
	enum served served;
	bool rolls; /* current/ began it: the epoch before goes on for slow readers */
	struct reader reader;
	enum opened_how how;
	bool label; /* the label of the position was opened */
	/* So much of the order that a file holds is the epoch's: bindings, reads. */
	uint32_t bound, consumed;
	bool drains;
	uint32_t segment; /* of the journal; RESTORED, in a replay */
};
