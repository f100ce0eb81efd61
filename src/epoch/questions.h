// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"

/*
 * Questions about an engine's epochs, which change nothing.
 *
 *   Threads: the caller serialises the calls, as for epoch.h.
 */

struct epochs_status {
	bool started;	/* an epoch has begun */
	bool running;	/* the last epoch that has begun has not ended */
	bool idle;	/* the job is parked (epochs_time) */
	uint32_t epoch; /* the last epoch that has begun */
	uint32_t bound, consumed;
	uint32_t ahead; /* number of samples that are drawn and not bound */
};
void epochs_status(const struct epochs *epochs, struct epochs_status *ret);

/* UNKNOWN: the epoch has not begun. LIVE: its order is in memory. SAVED: its order is in a file.
 * OVER: it was skipped, or its order is not kept any more. */
enum epoch_state { EPOCH_UNKNOWN, EPOCH_LIVE, EPOCH_SAVED, EPOCH_OVER };
enum epoch_state epochs_state(const struct epochs *epochs, uint32_t epoch);

/* Returns the sample of a position, also before it is bound if positions decide their samples.
 * SAMPLE_NONE: the position is unbound, or the epoch is not in memory. EPOCH_CURRENT stands for the
 * result of epochs_current. */
sample_id epochs_bound(const struct epochs *epochs, uint32_t epoch, uint32_t position);
/* Returns the positions whose samples the epoch leaves out; NULL: none. Valid until the next
 * event. */
const roaring_bitmap_t *epochs_skipped(const struct epochs *epochs, uint32_t epoch);
/* Returns the epoch that a request for EPOCH_CURRENT would get. */
uint32_t epochs_choice(const struct epochs *epochs, const struct open_request *request);
/* Returns the epoch that EPOCH_CURRENT most likely means for an unknown script. It is the draining
 * epoch if the position is bound but unread there, and is not bound in the running epoch. It is the
 * next epoch if the position was read in the running epoch, and at least half of that epoch is
 * bound. Otherwise it is the running epoch. */
uint32_t epochs_current(const struct epochs *epochs, uint32_t position);

/* A point in the order of an epoch's reads: their number, and their hash (order_reads_hash). */
struct epochs_point {
	uint32_t epoch, consumed;
	uint64_t hash;
};

/* The progress of the job: the points in its running and draining epochs. */
struct epochs_place {
	bool started, drains;
	struct epochs_point running, draining;
};
void epochs_place(const struct epochs *epochs, struct epochs_place *ret);

/* A run of positions: all from `first` to `last`, including `last`. */
struct run {
	uint32_t first, last;
};

/* Returns the i-th of the samples that were drawn for an epoch in memory and are not bound;
 * SAMPLE_NONE: there are fewer. */
sample_id epochs_drawn_at(const struct epochs *epochs, uint32_t epoch, uint32_t i);

/* Returns the largest K such that the first K bindings of an epoch in memory are all consumed.
 * from: a lower bound of K, from which the search starts. */
uint32_t epochs_consumed_first(
	const struct epochs *epochs, uint32_t epoch, uint32_t from);

/* Finds up to n runs of positions that were read in an epoch in memory, and returns the number of
 * runs. *ret_all: false if there may be more runs. */
uint32_t epochs_read_runs(const struct epochs *epochs, uint32_t epoch, struct run *ret,
	uint32_t n, bool *ret_all);

/* Returns the order of an epoch in memory. It is valid until the next event. If the epoch has no
 * stream or has ended, it is valid until epochs_saved, even without the caller's lock. */
struct order epochs_order(const struct epochs *epochs, uint32_t epoch);

/* Finds an epoch for whose EFFECT_BEGIN epochs_begun has not been called yet. Returns false if
 * there is no such epoch. */
bool epochs_wants_stream(const struct epochs *epochs, uint32_t *ret_epoch);
/* Tells whether epochs_begun has still to be called for the epoch's EFFECT_BEGIN. */
bool epochs_wants_stream_of(const struct epochs *epochs, uint32_t epoch);
/* Finds an epoch for whose EFFECT_SAVE epochs_saved has not been called yet. Returns false if there
 * is no such epoch. */
bool epochs_wants_save(const struct epochs *epochs, uint32_t *ret_epoch);

/* Returns the first epoch whose records the journal must keep, because its order is in no file.
 * UINT32_MAX: none. */
uint32_t epochs_first_unsaved(const struct epochs *epochs);

/* Returns how many samples an epoch in memory has kept from the previous epoch; 0 if the epoch
 * began in an earlier process. */
uint32_t epochs_adopted(const struct epochs *epochs, uint32_t epoch);

/* Returns how many samples are drawn for the epoch's stream and not bound. */
uint32_t epochs_ahead(const struct epochs *epochs, uint32_t epoch);

/* The samples that a live epoch gets next. */
struct epochs_coming {
	uint32_t ahead; /* number of samples that are drawn and not bound */
	/* number of positions for which no sample is bound or drawn yet */
	uint32_t unbound;
	/* the first two of the samples that are drawn and not bound; SAMPLE_NONE: there are
	 * fewer */
	sample_id next[2];
};
struct epochs_coming epochs_coming(const struct epochs *epochs, uint32_t epoch);

/* Returns the number of pinned samples: those in queues, and those that are bound. */
uint32_t epochs_pins(const struct epochs *epochs);
/* Returns how many pins the sample has in epochs whose set has this owner. */
uint32_t epochs_pins_of(const struct epochs *epochs, const void *owner, sample_id sample);

/* Aborts if an invariant does not hold. Recounts needs, pins and all sums. */
void epochs_validate(const struct epochs *epochs);

/* Prints the state that a replay rebuilds, for tests. */
void epochs_print(const struct epochs *epochs, FILE *out);
