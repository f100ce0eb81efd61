// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"

/*
 * Questions about an engine's epochs, which change nothing.
 *
 *   Threads: caller serialises, as for epoch.h.
 */

struct epochs_status {
	bool started;	/* an epoch has begun */
	bool running;	/* the last epoch has not ended */
	bool idle;	/* the job is parked */
	uint32_t epoch; /* the running epoch, or the last */
	uint32_t bound, consumed;
	uint32_t ahead; /* number of samples that are drawn and not bound */
};
void epochs_status(const struct epochs *epochs, struct epochs_status *ret);

/* UNKNOWN: the epoch has not begun. LIVE: its order is in memory. SAVED: its order is in a file.
 * OVER: it was skipped, or its order is not kept any more. */
enum epoch_state { EPOCH_UNKNOWN, EPOCH_LIVE, EPOCH_SAVED, EPOCH_OVER };
enum epoch_state epochs_state(const struct epochs *epochs, uint32_t epoch);

/* Returns the sample that a position holds, or that it must hold. SAMPLE_NONE: unbound, or the
 * epoch is not live. EPOCH_CURRENT stands for the result of epochs_current. */
sample_id epochs_bound(const struct epochs *epochs, uint32_t epoch, uint32_t position);
/* Returns the positions whose samples the epoch leaves out; NULL: none. Valid until the next
 * event. */
const roaring_bitmap_t *epochs_skipped(const struct epochs *epochs, uint32_t epoch);
/* Returns the epoch that a request for EPOCH_CURRENT would get. */
uint32_t epochs_choice(const struct epochs *epochs, const struct open_request *request);
/* Returns the epoch that EPOCH_CURRENT most likely means for an unknown script: the draining epoch
 * if the sample is unread there, otherwise the running one; the next one if the position was read,
 * and half of the running epoch is bound. */
uint32_t epochs_current(const struct epochs *epochs, uint32_t position);

/* A point in the order of an epoch's reads: their number, and their hash (order_reads_hash). */
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

/* Positions from `first` to `last`, both included. */
struct run {
	uint32_t first, last;
};

/* Returns the i-th sample that was drawn for a live epoch and is not bound; SAMPLE_NONE: there
 * are fewer. */
sample_id epochs_drawn_at(const struct epochs *epochs, uint32_t epoch, uint32_t i);

/* Returns the number of first bindings of a live epoch that are consumed without a gap. from: a
 * number that the caller knows already. */
uint32_t epochs_consumed_first(
	const struct epochs *epochs, uint32_t epoch, uint32_t from);

/* Finds up to n runs of positions that were read in a live epoch, and returns their number.
 * *ret_all: false if there are, or may be, more runs. */
uint32_t epochs_read_runs(const struct epochs *epochs, uint32_t epoch, struct run *ret,
	uint32_t n, bool *ret_all);

/* Returns the order of a live epoch. It is valid until the next event. If the epoch has no stream
 * or has ended, it is valid until epochs_saved, even without the caller's lock. */
struct order epochs_order(const struct epochs *epochs, uint32_t epoch);

/* Finds an epoch whose EFFECT_BEGIN is not answered. false: none. */
bool epochs_wants_stream(const struct epochs *epochs, uint32_t *ret_epoch);
/* Tells whether the epoch's EFFECT_BEGIN is not answered. */
bool epochs_wants_stream_of(const struct epochs *epochs, uint32_t epoch);
/* Finds an epoch whose EFFECT_SAVE is not answered. false: none. */
bool epochs_wants_save(const struct epochs *epochs, uint32_t *ret_epoch);

/* Returns the first epoch whose records the journal must keep, because its order is in no file.
 * UINT32_MAX: none. */
uint32_t epochs_first_unsaved(const struct epochs *epochs);

/* Returns how many samples a live epoch has kept from the previous one, if it began in this
 * process. */
uint32_t epochs_adopted(const struct epochs *epochs, uint32_t epoch);

/* Returns how many samples are drawn for the epoch's stream and not bound. */
uint32_t epochs_ahead(const struct epochs *epochs, uint32_t epoch);

/* Returns the number of pins. */
uint32_t epochs_pins(const struct epochs *epochs);
/* Returns how many pins hold the sample in epochs whose set has this owner. */
uint32_t epochs_pins_of(const struct epochs *epochs, const void *owner, sample_id sample);

/* Aborts if an invariant does not hold. Recounts needs, pins and all sums. */
void epochs_validate(const struct epochs *epochs);

/* Prints the state that a replay rebuilds, for tests. */
void epochs_print(const struct epochs *epochs, FILE *out);
