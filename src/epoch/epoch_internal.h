// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "epoch/current.h"

/*
 *  opens.c       handles an open, from the request to its answer
 *  epochs.c      handles all other events of a job
 *  questions.c   answers questions about the epochs
 *  epoch.c       one epoch: binding, consuming, pins, its end
 *  sets.c        the sets of samples of epochs
 *  skip.c        samples that epochs leave out
 *  adopt.c       samples that an epoch keeps from the previous epoch
 *  current.h     the scripts that read current/: current.c chooses the epoch of an open,
 *                since.c finds the beginning of a pass; scripts.c and script_ranks.c
 *                note the opens of scripts; known.c answers questions about scripts;
 *                reading.c finds the scripts that still read; misuse.c makes notices;
 *                repeats.c finds repeated opens
 *  go_back.c     takes the job back to an earlier point; loads epochs that begin again
 *  replay.c      rebuilds the state from records
 *  validate.c, print.c   for tests
 */

TAILQ_HEAD(requests, open_request);

enum stream_state { STREAM_ABSENT, STREAM_BEGINNING, STREAM_READY };

/* WANTED: the order of an epoch that has begun again is to be loaded from a file. */
enum load_state { LOAD_DONE, LOAD_WANTED, LOAD_FAILED };

struct epoch {
	LIST_ENTRY(epoch) link; /* in `live` or `dead` of struct epochs */
	uint32_t number;
	const struct epoch_set *set;
	uint32_t *samples; /* 1 + the sample of each position; 0: unbound */
	uint32_t *log;	   /* an order_log_entry for each binding */
	uint32_t log_room;
	uint32_t bound;
	uint32_t bound_before; /* bindings of an earlier process */
	uint32_t adopted;      /* bindings kept from the previous epoch */
	uint8_t *consumed_bits;
	uint32_t *reads; /* the consumed positions, in the order of consuming */
	uint32_t consumed;
	uint64_t reads_hash;
	uint32_t first_unread; /* all positions before this one are consumed */
	/* All positions before this one are bound. Only epochs_had brings this number up to
	 * date. */
	uint32_t first_unbound;
	uint32_t read_end; /* no position from this one on is consumed */
	/* The value of epochs->running->bound when a file of this epoch was last opened. Used only
	 * while the epoch drains. */
	uint32_t read_at;
	bool over;
	bool saving; /* EFFECT_SAVE was demanded */
	bool saved;  /* the order is in a file */
	enum load_state load;
	enum stream_state stream;
	/* samples that are drawn, but not bound yet; queue.ring is NULL while the epoch
	 * has no stream */
	struct drawn_queue queue;
	/* pins of samples that are bound and not consumed, in the order of binding */
	struct pins pins;
	uint32_t n_pins;
	/* hash table of the pins by position: 2^chain_bits lists */
	LIST_HEAD(pin_chain, pin) * chains;
	unsigned chain_bits;
	/* the samples bound so far, by which a replay finds samples that are bound twice; NULL: no
	 * replay */
	roaring_bitmap_t *replayed;
	/* a bit for each file, set if all its positions were consumed; made by epochs_prepare */
	uint8_t *files_read;
	uint32_t n_files_read;
};
LIST_HEAD(epoch_list, epoch);

/* An epoch that has just begun, and keeps samples of the previous epoch, `from`. When all these
 * samples are kept, the engine records `opened`, the open that began the epoch. */
struct adopting {
	bool active;
	/* index in current.scripts of the script that has begun the epoch */
	uint32_t script;
	uint32_t from;
	/* files: the numbers of the n_files files whose samples are kept. The engine frees the
	 * array.
	 * next: how many positions of these files adopt_some has already dealt with. */
	uint32_t *files, n_files, next;
	uint32_t beyond; /* index in script.beyond of the next entry to record */
	struct record opened;
};

/* Positions that an epoch leaves out. The entry stays in memory when the epoch's order
 * is in a file. */
struct skipped {
	LIST_ENTRY(skipped) link;
	uint32_t epoch;
	roaring_bitmap_t *positions;
};

struct epochs {
	struct epochs_config config;
	TAILQ_HEAD(epoch_sets, epoch_set) sets; /* ordered by their first epochs */
	struct epoch_list live;
	struct epoch_list dead;	 /* epochs_reap returns these */
	roaring_bitmap_t *saved; /* numbers of ended epochs whose order is in a file */
	LIST_HEAD(, skipped) skipped;
	struct epoch *running;
	struct epoch *draining; /* the previous epoch, which current/ may still give */
	/* a script still read the draining epoch when a file was last opened */
	bool drains_on;
	/* Two fields for fed jobs, used while an epoch drains.
	 * drained: 1 + the number of the draining epoch's consumed positions when is_stranded last
	 * looked; 0: it has not looked yet.
	 * drained_ns: the time since which `drained` has not changed. */
	uint32_t drained;
	uint64_t drained_ns;
	struct current current;
	struct adopting adopting;
	/* requests that wait, such as for a stream, an order or a fed sample */
	struct requests waiting;
	/* requests that epochs_resume handles next, because they need not wait any more */
	struct requests resuming;
	struct open_request *drawing; /* the request that gets the next drawn sample */
	uint32_t drawing_epoch;
	/* epochs that have an order in a file, and have not begun, or have not begun again since
	 * the job went back */
	struct epochs_order_file *known;
	size_t n_known;
	bool held; /* opens wait until the job has gone back */
	uint32_t era;
	bool idle, left;
	/* -errno for requests for which a fed job has no sample; 0: they wait */
	int starved;
	/* another process binds the positions of this fed job (epochs_lend) */
	bool lent;
	/* other processes wait until the job has left its draining epoch */
	bool hurries;
	uint64_t last_read_ns;
	uint64_t needed;   /* samples that streams have yet to draw */
	uint32_t pins;	   /* pinned samples, queued or bound */
	struct pins spare; /* unused pins: memory for the pins of later bindings */
};

static inline struct effect *effect_add(struct effects *effects, enum effect_kind kind)
{
	ensure(effects->n < EFFECTS_MAX);
	struct effect *effect = &effects->list[effects->n++];
	*effect = (struct effect){.kind = kind, .sample = SAMPLE_NONE};
	return effect;
}

static inline void effect_record(struct effects *effects, struct record record)
{
	effect_add(effects, EFFECT_RECORD)->record = record;
}

/* Writes the record in place, because copying it would take long compared with a binding. */
static inline void effect_record_bound(struct effects *effects, uint32_t epoch,
	uint32_t position, sample_id sample, enum served served)
{
	struct record *record = &effect_add(effects, EFFECT_RECORD)->record;
	record->kind = RECORD_BOUND;
	record->epoch = epoch;
	record->position = position;
	record->sample = sample;
	record->served = served;
}

static inline void effect_record_consumed(
	struct effects *effects, uint32_t epoch, uint32_t position)
{
	struct record *record = &effect_add(effects, EFFECT_RECORD)->record;
	record->kind = RECORD_CONSUMED;
	record->epoch = epoch;
	record->position = position;
}

void effect_unpin(struct effects *effects, uint32_t epoch, sample_id sample);
void effect_notice(struct effects *effects, enum notice notice, uint32_t epoch);

/* --- epochs.c --- */

/* Returns NULL if the epoch is not in memory. */
static inline struct epoch *find_epoch(const struct epochs *epochs, uint32_t number)
{
	struct epoch *epoch;
	LIST_FOREACH (epoch, &epochs->live, link)
		if (epoch->number == number)
			return epoch;
	return NULL;
}

/* Begins an epoch. drains: the previous epoch drains from now on; false: the previous epoch must be
 * over. -ENOMEM */
must_check int epochs_begin(struct epochs *epochs, uint32_t number, bool drains,
	struct effects *effects, struct epoch **ret);
void let_go_of_draining(struct epochs *epochs, struct effects *effects);

/* --- replay.c --- */

/* Returns -EINVAL, and sets *ret_reason. */
int replay_refuse(const char *reason, const char **ret_reason);

/* Consumes a position that must be bound, and not consumed. */
must_check int replay_consumed(
	struct epoch *epoch, uint32_t position, const char **ret_reason);
void known_remove(struct epochs *epochs, uint32_t number);
/* Moves all live epochs to `dead`, and forgets all scripts. Then makes `running` run,
 * and `draining`, which may be NULL, drain. */
void restore_live(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects);

/* --- sets.c --- */

/* Returns the set of an epoch. number: must not be EPOCH_CURRENT */
const struct epoch_set *set_of(const struct epochs *epochs, uint32_t number);
bool has_position(const struct epoch *epoch, uint32_t position);
/* Tells whether the epoch has the request's position, and its files have the names that the request
 * knows. */
bool has_file(const struct epoch *epoch, const struct open_request *request);

/* --- skip.c --- */

/* Notes the positions that the epoch leaves out, whose bindings are SERVED_SKIPPED. begins: the
 * epoch begins with bindings that were just loaded. Then these positions also become consumed. */
void skip_take(struct epochs *epochs, struct epoch *epoch, bool begins);
/* Forgets the left-out positions of epochs before `before`. */
void skip_forget(struct epochs *epochs, uint32_t before);

/* --- opens.c --- */

/* Returns the sample of a position in a job of kind EPOCHS_FIXED or EPOCHS_MIRRORED. */
sample_id fixed_sample(const struct epoch_set *set, uint32_t position);
/* Moves the requests that wait for the epoch from `waiting` to `resuming`. epochs_resume then
 * handles them again (status 0), or answers them with an error (status -errno). */
void resume_waiting(struct epochs *epochs, uint32_t number, int status);

/* --- epoch.c --- */

must_check int epoch_alloc(
	const struct epoch_set *set, uint32_t number, struct epoch **ret);
/* Makes an epoch in `live`. -ENOMEM */
must_check int epoch_new(struct epochs *epochs, uint32_t number, struct epoch **ret);
void epoch_kill(struct epochs *epochs, struct epoch *epoch);
static inline bool epoch_has_bound(const struct epoch *epoch, uint32_t position)
{
	return epoch->samples[position] != 0;
}
static inline bool epoch_has_consumed(const struct epoch *epoch, uint32_t position)
{
	return epoch->consumed_bits[position / 8] >> (position % 8) & 1;
}
/* Makes room for one more binding, which epoch_bind needs. -ENOMEM */
must_check int epoch_reserve(struct epoch *epoch);
void epoch_bind(
	struct epoch *epoch, uint32_t position, sample_id sample, enum served served);
void epoch_mark_consumed(struct epoch *epoch, uint32_t position);
/* Requests the order of an epoch that has begun again (EFFECT_LOAD). */
void epoch_load(struct epoch *epoch, struct effects *effects);
/* Makes the epoch the running one. drains: the previous epoch drains from now on; false: the
 * previous epoch must be over. */
void epoch_run(struct epochs *epochs, struct epoch *epoch, bool drains);

/* Removes a pin from epochs->spare, and returns it, so that its memory is used again. NULL: there
 * is none. */
struct pin *epoch_take_spare(struct epochs *epochs);
/* Returns NULL if the position has no pin. */
struct pin *epoch_pin(const struct epoch *epoch, uint32_t position);
/* Adds a pin for the position that was bound last, whose sample the engine's caller has pinned. If
 * there is no memory for the pin, unpins the sample (EFFECT_UNPIN). */
void epoch_keep_pin(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	sample_id sample, struct effects *effects);
void epoch_drop_pin(struct epochs *epochs, struct epoch *epoch, struct pin *pin,
	struct effects *effects);
/* Drops the pins of all bindings but the last `far` ones. all: also drops pins of open samples;
 * false: keeps these. */
void epoch_drop_pins(struct epochs *epochs, struct epoch *epoch, uint32_t far, bool all,
	struct effects *effects);

struct drawn epoch_pop(struct epoch *epoch);

/* Requests a stream (EFFECT_BEGIN) for an epoch that has none. -ENOMEM */
must_check int epoch_begin_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Ends the stream, if there is one, and gives the queue to the caller (EFFECT_END). */
void epoch_end_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
void epoch_end(struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Adds EFFECT_SAVE to the effects if the epoch is over, and neither runs nor drains. */
void epoch_save(struct epochs *epochs, struct epoch *epoch, struct effects *effects);

/* --- adopt.c--- */

/* Returns N: the epoch that begins with `opened` keeps the files which the script has
 * opened after its first N counted opens. UINT32_MAX: it keeps none. */
uint32_t adopt_since(const struct epochs *epochs, const struct record *opened);
/* Returns true if the epoch that begins with `opened` keeps samples of the previous epoch. Then
 * epochs_resume calls adopt_some until all samples are kept, and the open is recorded. If there is
 * no memory, returns false and sets opened->how to OPENED_JOINS, so that no sample is kept. */
bool adopt_begin(struct epochs *epochs, struct record *opened, struct effects *effects);
/* Keeps as many samples as `effects` has room for; the last call records the open. */
void adopt_some(struct epochs *epochs, struct effects *effects);
