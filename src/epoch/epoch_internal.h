// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"

/*
 * What the files of the engine share.
 *
 *   opens.c    the way of an open, from the request to its answer
 *   epochs.c   the other events of a job; questions.c
 *   epoch.c    one epoch: binding, consuming, pins, its end
 *   current.c  which epoch current/ means
 *   replay.c   from records to the same state; validate.c, print.c: for tests
 */

TAILQ_HEAD(requests, open_request);

enum stream_state { STREAM_ABSENT, STREAM_BEGINNING, STREAM_READY };

struct epoch {
	LIST_ENTRY(epoch) link; /* of those in memory */
	uint32_t number;
	uint32_t *samples; /* by position: sample + 1, 0 while unbound */
	uint32_t *log;	   /* by binding, room for log_room */
	uint32_t log_room;
	uint32_t bound;
	uint8_t *consumed_bits;
	uint32_t consumed;
	bool over;   /* nothing will be bound any more */
	bool saving; /* its order goes to a file */
	bool saved;  /* and is there */
	enum stream_state stream;
	struct drawn_queue queue;   /* drawn and not bound; no ring without a stream */
	struct pins pins;	    /* bound and not consumed, in the order of binding */
	struct pin *pin_table;	    /* the same, a hash by position */
	roaring_bitmap_t *replayed; /* samples bound so far, during a replay */
};
LIST_HEAD(epoch_list, epoch);

/* What a reader of current/ opened last. */
struct reader {
	uint64_t id;
	uint32_t unit; /* of positions, see current.c */
	uint32_t epoch;
	uint32_t opens;	   /* of that unit, one after the other */
	bool read_more;	   /* it has opened other units before: no person who looks */
	bool repeated;	   /* what it opened last had been read before */
	uint64_t consumed; /* by the job until then */
	uint64_t opened;   /* the same of what was opened */
	uint64_t since;	   /* and that when it opened its first */
};

struct binding_place {
	uint32_t epoch, position;
};

/* A script that was started again, through the same epoch. */
struct pass {
	uint32_t epoch;
	uint32_t repeats; /* positions that were read in an earlier pass */
	bool by_others;	  /* all its readers came after the earlier pass */
	uint64_t floor;	  /* it began here or later, in terms of `opened` */
	uint64_t since;	  /* what was opened since then belongs to it */
};

/* Who reads current/, and what was consumed lately. */
#define CURRENT_READERS 128

struct current {
	uint32_t window;	      /* a few dozen, at most a quarter of the epoch */
	struct binding_place *recent; /* ring of `window`: the last that were consumed */
	uint64_t consumed;	      /* since the job was added */
	uint32_t habit; /* most opens of a unit by a reader, one after the other */
	uint32_t n_readers;
	uint64_t reader_ids[CURRENT_READERS]; /* of `readers`, beside one another */
	struct reader readers[CURRENT_READERS];
	uint8_t latest[CURRENT_READERS]; /* places in `readers`, who opened last first */
	uint32_t begun; /* positions opened since the running epoch began, not by looks */
	struct pass pass;
	uint64_t opened;  /* units, if the script shuffles, not by looks */
	uint32_t *stamps; /* by position: the low bits of that when it was opened last */
};

struct epochs {
	struct epochs_config config;
	struct epoch_list live;
	struct epoch_list dead;	 /* to be reaped */
	roaring_bitmap_t *saved; /* numbers of the epochs whose order is in a file */
	struct epoch *running;	 /* the last that has begun */
	struct epoch *draining;	 /* the one before, which current/ may still give */
	struct current current;
	struct requests waiting;  /* for a stream */
	struct requests resuming; /* what they waited for is there, has failed or ended */
	struct open_request *drawing; /* the next drawn sample is for this one */
	uint32_t drawing_epoch;
	bool idle, left;
	uint64_t last_read_ns;
	uint64_t needed; /* samples that streams need: neither drawn nor bound */
	uint32_t pins;	 /* queued and bound ones that are pinned */
};

struct effect *effect_add(struct effects *effects, enum effect_kind kind);
void effect_record(struct effects *effects, struct record record);

/* --- epochs.c --- */

struct epoch *find_epoch(const struct epochs *epochs, uint32_t number);
/* Whether another epoch may begin now; rolls: by current/. */
bool may_begin(const struct epochs *epochs, bool rolls);
/* It runs from now on; the one before drains if current/ rolls, else it ends. -ENOMEM */
must_check int epochs_begin(struct epochs *epochs, uint32_t number, bool rolls,
	struct effects *effects, struct epoch **ret);
/* The epoch that drains, if there is one, ends. */
void let_go_of_draining(struct epochs *epochs, struct effects *effects);

/* --- opens.c --- */

/* Of a position that decides which sample it is. */
sample_id fixed_sample(const struct epochs *epochs, uint32_t position);
/* Requests that wait for the epoch's stream are taken up next, or fail with the status. */
void resume_waiting(struct epochs *epochs, uint32_t number, int status);

/* --- epoch.c --- */

must_check int epoch_new(struct epochs *epochs, uint32_t number, struct epoch **ret);
/* From the live ones to the dead ones. */
void epoch_kill(struct epochs *epochs, struct epoch *epoch);
bool epoch_has_bound(const struct epoch *epoch, uint32_t position);
bool epoch_has_consumed(const struct epoch *epoch, uint32_t position);
/* Room for one more binding. -ENOMEM */
must_check int epoch_reserve(struct epochs *epochs, struct epoch *epoch);
/* The position is unbound; there is room. */
void epoch_bind(
	struct epoch *epoch, uint32_t position, sample_id sample, enum served served);
void epoch_mark_consumed(struct epochs *epochs, struct epoch *epoch, uint32_t position);
/* It becomes the running one. The one before drains if current/ rolls, else it must have
 * ended. */
void epoch_run(struct epochs *epochs, struct epoch *epoch, bool rolls);

struct pin *epoch_pin(const struct epoch *epoch, uint32_t position); /* or NULL */
/* Of the position that was bound last; given back if there is no memory to keep it. */
void epoch_keep_pin(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	sample_id sample, struct effects *effects);
void epoch_drop_pin(struct epochs *epochs, struct epoch *epoch, struct pin *pin,
	struct effects *effects);
/* Those that are not open; all: these too. */
void epoch_drop_pins(
	struct epochs *epochs, struct epoch *epoch, bool all, struct effects *effects);
/* Those of positions that the job is far past: bound for their label only, perhaps. */
void epoch_drop_far_pins(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);

void epoch_push(struct epoch *epoch, const struct drawn *drawn);
struct drawn epoch_pop(struct epoch *epoch);

/* Asks for a stream, unless that is under way; it is there, or failed; gives it back. */
must_check int epoch_begin_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
void epoch_begun(struct epochs *epochs, struct epoch *epoch, int status);
void epoch_end_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Nothing will be bound any more. */
void epoch_end(struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Its order goes to a file, if nothing else will come. */
void epoch_save(struct epochs *epochs, struct epoch *epoch, struct effects *effects);

/* --- current.c --- */

must_check int current_init(struct epochs *epochs); /* -ENOMEM */
void current_destroy(struct epochs *epochs);
/* The number of the epoch that the position belongs to; it may have to begin. */
uint32_t current_epoch(const struct epochs *epochs, uint32_t position, uint64_t reader);
void current_note_opened(
	struct epochs *epochs, uint32_t epoch, uint32_t position, uint64_t reader);
void current_note_consumed(
	struct epochs *epochs, const struct epoch *epoch, uint32_t position);
