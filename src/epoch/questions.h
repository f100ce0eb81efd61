// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"

/* Questions about an engine's epochs; they change nothing. The caller serialises the calls. */

struct epochs_status {
	bool started;
	bool running; /* the last epoch that has begun has not ended */
	bool idle;
	uint32_t epoch; /* the last epoch that has begun */
	uint32_t bound, consumed;
	uint32_t ahead; /* number of samples that are drawn and not bound */
};
void epochs_status(const struct epochs *epochs, struct epochs_status *ret);

/* UNKNOWN: the epoch has not begun. LIVE: its order is in memory. SAVED: its order is in a file.
 * OVER: the epoch was left out, or its order is not kept any more. */
enum epoch_state { EPOCH_UNKNOWN, EPOCH_LIVE, EPOCH_SAVED, EPOCH_OVER };
enum epoch_state epochs_state(const struct epochs *epochs, uint32_t epoch);

/* Returns the sample of a position. If positions decide their samples, the position need not be
 * bound; in other jobs, returns SAMPLE_NONE if the position is unbound, or the epoch is not in
 * memory. EPOCH_CURRENT stands for the epoch that epochs_current returns. */
sample_id epochs_bound(const struct epochs *epochs, uint32_t epoch, uint32_t position);
/* Returns the positions that the epoch leaves out, valid until the next event; NULL: none. */
const roaring_bitmap_t *epochs_skipped(const struct epochs *epochs, uint32_t epoch);
/* Returns the epoch that a request for EPOCH_CURRENT would get. */
uint32_t epochs_choice(const struct epochs *epochs, const struct open_request *request);
/* Returns the epoch that EPOCH_CURRENT probably means if the script is not known: the draining
 * epoch, if the position is bound but unread there, and unbound in the running epoch; the next
 * epoch, if the position was read in the running epoch, and at least half of the running epoch is
 * bound; otherwise the running epoch. */
uint32_t epochs_current(const struct epochs *epochs, uint32_t position);

/* The point after the first `consumed` reads of an epoch. hash: order_reads_hash of these reads. */
struct epochs_point {
	uint32_t epoch, consumed;
	uint64_t hash;
};

/* The progress of the job. */
struct epochs_place {
	bool started, drains;
	struct epochs_point running, draining;
};
void epochs_place(const struct epochs *epochs, struct epochs_place *ret);

/* The positions from `first` to `last`, including `last`. */
struct run {
	uint32_t first, last;
};

/* Returns the sample at index i of a live epoch's queue; SAMPLE_NONE: the queue is shorter. */
sample_id epochs_drawn_at(const struct epochs *epochs, uint32_t epoch, uint32_t i);

/* Returns the largest number K such that a live epoch's first K bindings are all consumed. Bindings
 * of an earlier process count as consumed, because their readers may never come back. from: a
 * number of first bindings that the caller knows to be consumed; 0 is always allowed. */
uint32_t epochs_consumed_first(
	const struct epochs *epochs, uint32_t epoch, uint32_t from);

/* Finds up to n runs of positions that were read in a live epoch, and returns their number.
 * *ret_all: these are all runs; false: the search ended earlier. */
uint32_t epochs_read_runs(const struct epochs *epochs, uint32_t epoch, struct run *ret,
	uint32_t n, bool *ret_all);

/* Returns the order of a live epoch, valid until the next event; if the epoch has ended or has no
 * stream, valid until epochs_saved, even without the caller's lock. */
struct order epochs_order(const struct epochs *epochs, uint32_t epoch);

/* Finds an epoch for which an effect was demanded, but its result was not reported yet: for
 * EFFECT_BEGIN by epochs_begun, for EFFECT_SAVE by epochs_saved, for EFFECT_LOAD by epochs_loaded.
 * Returns false if there is none. */
bool epochs_wants(
	const struct epochs *epochs, enum effect_kind kind, uint32_t *ret_epoch);
/* Tells whether this epoch's EFFECT_BEGIN waits for epochs_begun. */
bool epochs_wants_stream_of(const struct epochs *epochs, uint32_t epoch);
/* Returns the number of bindings in the order of a known epoch; 0: the epoch is not known. */
uint32_t epochs_known_bound(const struct epochs *epochs, uint32_t epoch);

/* Returns the first live epoch whose order is not in a file yet; UINT32_MAX: there is none. */
uint32_t epochs_first_unsaved(const struct epochs *epochs);

/* Returns how many samples the epoch has kept from the previous one; 0 after a restart. */
uint32_t epochs_adopted(const struct epochs *epochs, uint32_t epoch);

uint32_t epochs_ahead(const struct epochs *epochs, uint32_t epoch);

struct epochs_coming {
	uint32_t ahead;	   /* number of samples that are drawn and not bound */
	uint32_t unbound;  /* unbound positions for which no sample is drawn */
	sample_id next[2]; /* the first two samples ahead, or SAMPLE_NONE */
};
struct epochs_coming epochs_coming(const struct epochs *epochs, uint32_t epoch);

/* Returns the number of pinned samples, queued or bound. */
uint32_t epochs_pins(const struct epochs *epochs);
/* Returns the number of the sample's pins in all epochs whose set has this owner. */
uint32_t epochs_pins_of(const struct epochs *epochs, const void *owner, sample_id sample);

/* Aborts if an invariant does not hold. Recounts needs, pins and all sums. */
void epochs_validate(const struct epochs *epochs);

/* Prints the state that a replay rebuilds, for tests. */
void epochs_print(const struct epochs *epochs, FILE *out);
