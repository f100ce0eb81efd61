// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The decisions of the epoch engine, one record for each. The records of a job in their order are
 * its journal: replaying them rebuilds the engine (joaderfs-state(5)).
 *
 *  kind       fields                            meaning
 *  BEGUN      epoch, rolls, bound               the epoch runs from now on
 *  BOUND      epoch, position, sample, served   the position holds the sample for ever
 *  OPENED     epoch, position, reader, how,     a script opened a file of current/; the position
 *             label                             may be bound later, or never
 *  CONSUMED   epoch, position                   the position's first reader released it
 *  ENDED      epoch                             no more positions of the epoch are bound
 *  LET_GO     epoch                             no file of current/ belongs to the epoch any more
 *  RESTORED   epoch, bound, consumed, drains    the job has gone back: earlier records are void;
 *                                               the epoch runs, or drains
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

/* The state of a sample's tensor when the sample was drawn. HIT: in the cache. SHARED: on its way
 * there. DECODED: neither, so it had to be prepared. SKIPPED: the epoch leaves the sample out. */
enum served { SERVED_DECODED, SERVED_HIT, SERVED_SHARED, SERVED_SKIPPED };

/* The thread that opens a file. The caller uses no number twice; 0: not known. */
struct reader {
	uint64_t thread;
	uint64_t rank;	 /* the process that the thread works for */
	uint64_t script; /* the program that started the process or its ancestors */
};

/* The meaning of an open of a file of current/ for its script (current.c). Other values, from
 * earlier versions, are replayed as GIVEN. */
enum opened_how {
	OPENED_GIVEN = 0, /* the file holds the sample of the script's epoch */
	/* The thread opens its last file again, or a file whose other half (image or label) another
	 * thread of the rank has opened. */
	OPENED_AGAIN = 1,
	/* the file belongs to the previous epoch, which this worker or rank still reads */
	OPENED_LATE = 3,
	OPENED_ANEW = 6, /* the open begins a new pass over the same epoch */
	OPENED_NEXT = 7, /* the open begins a pass over the next epoch */
	/* The script's epoch is over, because another script has begun later epochs. The open
	 * begins a pass over the job's running epoch. */
	OPENED_BEHIND = 8,
	/* the script turns in the middle of a pass: the next epoch keeps the run's samples */
	OPENED_KEEPS = 9,
	/* The open begins a pass over an epoch that had already begun, or can't keep samples of the
	 * script's previous epoch. So all files get new samples. */
	OPENED_JOINS = 10,
	/* This record repeats an open from before the script turned: a rank opened the file after
	 * all files of its part. So the file belongs to the rank's pass over this epoch. */
	OPENED_BEYOND = 11,
	/* A process whose workers read files opens a file that the workers have not opened yet. A
	 * second such open, of another file, right after the first makes both files part of the
	 * process's pass. */
	OPENED_LOOKED = 12,
	OPENED_HOWS,
};

struct record {
	enum record_kind kind;
	uint32_t epoch;
	uint32_t position;
	sample_id sample;
	enum served served;
	enum opened_how how;
	/* numbers of bindings and reads in the order file with which the epoch continues */
	uint32_t bound, consumed;
	uint32_t segment; /* number of the segment; only for a RESTORED in a replay */
	bool rolls;	  /* the previous epoch drains from now on */
	bool label;	  /* the label of the position was opened */
	bool drains;
	struct reader reader;
};
