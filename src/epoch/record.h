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

/* What an open of a file of current/ is for the script that opens it; current.c. */
enum opened_how {
	OPENED_GIVEN, /* a file that the pass has not had */
	OPENED_AGAIN, /* the file that the thread opened last */
	OPENED_TRIED, /* a file that was had before the pass, which goes through the same
			    epoch as a shorter one before */
	OPENED_LATE,  /* of the pass before: this worker is not done with it */
	OPENED_TAKEN, /* the same, but a worker of the next pass was mistaken for it */
	OPENED_REPEATED, /* a file that the pass has had */
	OPENED_ANEW,	 /* it begins a pass of the same epoch */
	OPENED_NEXT,	 /* it begins a pass of the next epoch */
	OPENED_BEHIND,	 /* it begins a pass of the running epoch: its own is over */
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
