// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The decisions of the epoch engine, one record for each. The records of a job in their
 * order are its journal: replaying them rebuilds the engine (joaderfs-state(5)).
 *
 *   kind       fields                            meaning
 *   BEGUN      epoch, rolls, bound               the epoch runs from now on
 *   BOUND      epoch, position, sample, served   the position holds the sample, for ever
 *   OPENED     epoch, position, reader, how,     a file was opened through current/, which
 *              label                             learns from it; it may be bound later, or
 *                                                not at all
 *   CONSUMED   epoch, position                   the position's first reader released it
 *   ENDED      epoch                             the epoch binds nothing any more
 *   LET_GO     epoch                             current/ does not give the epoch any more:
 *                                                it was the one before the running one
 *   RESTORED   epoch, bound, consumed, drains    the job is where it was before: the records
 *                                                so far are over, and the epoch runs, or
 *                                                drains beside the running one
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

/* The source of a drawn sample's bytes. SKIPPED: there are none; the epoch leaves the sample
 * out, and its position is consumed from then on. */
enum served { SERVED_DECODED, SERVED_HIT, SERVED_SHARED, SERVED_SKIPPED };

/* The thread that opens a file. The numbers are the caller's, and none is used twice; 0: not
 * known. */
struct reader {
	uint64_t thread;
	uint64_t rank; /* the process that the thread works for */
	/* The program as which this process or its ancestors were started. */
	uint64_t script;
};

/* The meaning of an open of a file of current/ for its script; current.c. Journals of earlier
 * versions have other values, which are replayed as GIVEN. */
enum opened_how {
	OPENED_GIVEN = 0, /* the file holds the sample of the script's epoch */
	OPENED_AGAIN = 1, /* the thread opens its last file again */
	/* The file is of the epoch before, which this worker or rank has not left. */
	OPENED_LATE = 3,
	OPENED_ANEW = 6, /* the open begins a pass of the same epoch */
	OPENED_NEXT = 7, /* the open begins a pass of the next epoch */
	/* The open begins a pass of the running epoch: the script's is over. */
	OPENED_BEHIND = 8,
	/* The script turns to the next epoch, which keeps the files of the run. */
	OPENED_KEEPS = 9,
	/* The open begins a pass of an epoch that keeps nothing of it. */
	OPENED_JOINS = 10,
	/* A rank had opened the file before the turn that follows, beyond its part: the file is of
	 * the epoch's pass. */
	OPENED_BEYOND = 11,
	/* A process whose workers read looks at a file that they have not opened yet. If it opens
	 * another such file in this epoch, both are of the pass. */
	OPENED_LOOKED = 12,
	OPENED_HOWS,
};

struct record {
	enum record_kind kind;
	uint32_t epoch;
	uint32_t position;
	sample_id sample;
	enum served served;
	/* current/ began the epoch: the one before goes on for slow readers */
	bool rolls;
	struct reader reader;
	enum opened_how how;
	bool label; /* the label of the position was opened */
	/* The epoch has so many bindings and reads of the order in a file. */
	uint32_t bound, consumed;
	bool drains;
	uint32_t segment; /* the journal's segment; set for RESTORED, in a replay */
};
