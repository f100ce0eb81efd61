// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "epoch/current.h"

/*
 * Declarations that the files of the engine share.
 *
 *   opens.c       handles an open, from the request to its answer
 *   epochs.c      handles all other events of a job
 *   questions.c   answers questions about the epochs
 *   epoch.c       one epoch: binding, consuming, pins, its end
 *   sets.c        the sets of samples of epochs
 *   skip.c        samples that epochs leave out
 *   adopt.c       samples that an epoch keeps from the previous epoch
 *   current.h     the scripts that read current/: current.c chooses the epoch of an open, since.c
 *                 finds the beginning of a pass; scripts.c and ranks.c collect facts about
 *                 scripts; readers.c and misuse.c make notices; repeats.c finds repeated opens
 *   restore.c     goes back to an earlier place; epochs that begin again
 *   replay.c      rebuilds the state from records
 *   validate.c, print.c   for tests
 */

TAILQ_HEAD(requests, open_request);

enum stream_state { STREAM_ABSENT, STREAM_BEGINNING, STREAM_READY };

/* The order of an epoch that has begun again is loaded from a file. */
enum load_state { LOAD_DONE, LOAD_WANTED, LOAD_FAILED };

struct epoch {
	LIST_ENTRY(epoch) link; /* links the epochs in memory */
	uint32_t number;
	const struct epoch_set *set;
	uint32_t *samples; /* sample + 1 by position, 0 while unbound */
	uint32_t *log;	   /* order_log_entry by binding, room for log_room */
	uint32_t log_room;
	uint32_t bound;
	uint32_t adopted; /* bindings that were kept from the previous epoch */
	uint8_t *consumed_bits;
	uint32_t *reads; /* positions, in the order in which they were consumed */
	uint32_t consumed;
	uint64_t reads_hash;
	uint32_t first_unread; /* a position */
	/* All positions before it are bound; kept by epochs_had. */
	uint32_t first_unbound;
	uint32_t read_end; /* all positions from here on are unread */
	/* for a draining epoch: `bound` of the running epoch at the last open in this epoch */
	uint32_t read_at;
	bool over;   /* nothing more is bound in it */
	bool saving; /* the order is being saved */
	bool saved;  /* the order is in a file */
	enum load_state load;
	enum stream_state stream;
	/* Samples that are drawn and not bound; no ring without a stream. */
	struct drawn_queue queue;
	struct pins pins; /* bound and not consumed, in the order of binding */
	/* The pins, hashed by position. An empty table would be freed: `none` is always in it. */
	struct pin *pin_table;
	struct pin none;
	/* The pins, hashed by position. An empty table would be freed, so `none` is always in it. */
	roaring_bitmap_t *replayed;
	/* Set by epochs_prepare: bits of the files whose positions were all consumed. */
	uint8_t *files_read;
	uint32_t n_files_read;
};
LIST_HEAD(epoch_list, epoch);

/* An epoch that has just begun keeps samples of the previous epoch (`from`): those of the files
 * that the script opened after `since`. Then the open that began the epoch is recorded. */
struct adopting {
	bool active;
	uint32_t script; /* index in current.scripts */
	uint32_t since, from;
	uint32_t position; /* the next position to look at */
	uint32_t beyond;   /* index of the next entry of the script's list to record */
	struct record opened;
};

/* The positions that an epoch leaves out. They are kept after its order is in a file. */
struct skipped {
	LIST_ENTRY(skipped) link;
	uint32_t epoch;
	roaring_bitmap_t *positions;
};

struct epochs {
	struct epochs_config config;
	TAILQ_HEAD(epoch_sets, epoch_set) sets; /* ordered by their first epochs */
	struct epoch_list live;
	struct epoch_list dead;	 /* epochs_reap takes these */
	roaring_bitmap_t *saved; /* numbers of the epochs whose order is in a file */
	LIST_HEAD(, skipped) skipped;
	struct epoch *running;	/* the last epoch that has begun */
	struct epoch *draining; /* the previous epoch, which current/ may still give */
	bool drains_on; /* at the last open a script was still in the draining epoch */
	/* 1 + the number of consumed positions of a fed job's draining epoch, and the time since
	 * which it has not changed. */
	uint32_t drained;
	uint64_t drained_ns;
	struct current current;
	struct adopting adopting;
	struct requests waiting; /* requests that wait for a stream */
	/* Requests whose stream is made, has failed or has ended. */
	struct requests resuming;
	struct open_request *drawing; /* the request that gets the next drawn sample */
	uint32_t drawing_epoch;
	/* Epochs that have not begun (again), but have orders in files. */
	struct epochs_order_file *known;
	size_t n_known;
	bool held;    /* opens wait until the job has gone back */
	uint32_t era; /* how many times the job has gone back */
	bool idle, left;
	/* status of requests for which a fed job has no sample; 0: they wait */
	int starved;
	/* Another process binds positions; samples that are fed are not bound. */
	bool lent;
	bool hurries; /* other processes wait until the job has left its draining epoch */
	uint64_t last_read_ns;
	uint64_t needed; /* samples that streams still need: neither drawn nor bound */
	uint32_t pins;	 /* pinned samples, queued or bound */
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

/* These two are written in place, since each hit has one of each. */
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

/* Returns the live epoch of the number, or NULL. */
static inline struct epoch *find_epoch(const struct epochs *epochs, uint32_t number)
{
	struct epoch *epoch;
	LIST_FOREACH (epoch, &epochs->live, link)
		if (epoch->number == number)
			return epoch;
	return NULL;
}

/* Makes the epoch run. drains: the epoch that ran before drains; otherwise it must be over.
 * -ENOMEM */
must_check int epochs_begin(struct epochs *epochs, uint32_t number, bool drains,
	struct effects *effects, struct epoch **ret);
/* Moves the epoch to the dead ones if its order is saved and it has no pins. */
void kill_if_saved(struct epochs *epochs, struct epoch *epoch);
/* Ends the draining epoch, if there is one. */
void let_go_of_draining(struct epochs *epochs, struct effects *effects);

/* --- restore.c --- */

/* Returns the number of bindings in the epoch's known order; 0: there is none. */
uint32_t known_bound(const struct epochs *epochs, uint32_t number);
/* Removes the epoch's known order, if there is one. */
void known_remove(struct epochs *epochs, uint32_t number);
/* Moves all live epochs to the dead ones and forgets all scripts. Then these epochs run and drain. */
void restore_live(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects);

/* --- sets.c --- */

/* Returns the set of the epoch. epoch: a number, not EPOCH_CURRENT. */
const struct epoch_set *set_of(const struct epochs *epochs, uint32_t number);
bool has_position(const struct epoch *epoch, uint32_t position);
/* Tells whether the epoch has the request's file. */
bool has_file(const struct epoch *epoch, const struct open_request *request);

/* --- skip.c --- */

/* Notes the left-out positions among the epoch's bindings. begins: the epoch begins again, so
 * these positions become consumed. */
void skip_take(struct epochs *epochs, struct epoch *epoch, bool begins);
/* Forgets the left-out positions of epochs before this one. */
void skip_forget(struct epochs *epochs, uint32_t before);

/* --- opens.c --- */

/* Returns the sample of a position that decides its sample. */
sample_id fixed_sample(const struct epoch_set *set, uint32_t position);
/* Makes epochs_resume handle the requests that wait for the epoch's stream, or fail them with the
 * status. */
void resume_waiting(struct epochs *epochs, uint32_t number, int status);

/* --- epoch.c --- */

must_check int epoch_alloc(
	const struct epoch_set *set, uint32_t number, struct epoch **ret);
/* Makes an epoch and adds it to the live ones. -ENOMEM */
must_check int epoch_new(struct epochs *epochs, uint32_t number, struct epoch **ret);
/* Moves the epoch from the live ones to the dead ones. */
void epoch_kill(struct epochs *epochs, struct epoch *epoch);
static inline bool epoch_has_bound(const struct epoch *epoch, uint32_t position)
{
	return epoch->samples[position] != 0;
}
static inline bool epoch_has_consumed(const struct epoch *epoch, uint32_t position)
{
	return epoch->consumed_bits[position / 8] >> (position % 8) & 1;
}
/* Makes room for one more binding. -ENOMEM */
must_check int epoch_reserve(struct epoch *epoch);
/* Binds a position that is unbound; epoch_reserve has made room. */
void epoch_bind(
	struct epoch *epoch, uint32_t position, sample_id sample, enum served served);
void epoch_mark_consumed(struct epoch *epoch, uint32_t position);
/* Requests the order of an epoch that has begun again. */
void epoch_load(struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Makes the epoch the running one. drains: the previous one drains; otherwise it must have ended. */
void epoch_run(struct epochs *epochs, struct epoch *epoch, bool drains);

/* Returns NULL if there is none. */
struct pin *epoch_pin(const struct epoch *epoch, uint32_t position);
/* Keeps the pin of the position that was bound last. Without memory, unpins the sample. */
void epoch_keep_pin(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	sample_id sample, struct effects *effects);
void epoch_drop_pin(struct epochs *epochs, struct epoch *epoch, struct pin *pin,
	struct effects *effects);
/* Drops the pins of samples that are not open. all: of open samples, too. */
void epoch_drop_pins(
	struct epochs *epochs, struct epoch *epoch, bool all, struct effects *effects);
/* Drops the pins of closed positions far behind the job, of which perhaps only the labels were
 * read. */
void epoch_drop_far_pins(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);

void epoch_push(struct epoch *epoch, const struct drawn *drawn);
struct drawn epoch_pop(struct epoch *epoch);

/* Requests the epoch's stream, unless it exists or was requested. -ENOMEM */
must_check int epoch_begin_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Notes that the stream was made (0), or that this has failed. */
void epoch_begun(struct epochs *epochs, struct epoch *epoch, int status);
/* Ends the stream, and gives the queue to the caller (EFFECT_END). */
void epoch_end_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Ends the epoch: nothing more is bound in it. */
void epoch_end(struct epochs *epochs, struct epoch *epoch, struct effects *effects);
/* Requests that the order is saved, if the epoch is over and neither runs nor drains. */
void epoch_save(struct epochs *epochs, struct epoch *epoch, struct effects *effects);

/* --- adopt.c--- */

/* Returns the number of opens of the script after which the files are kept by the epoch that
 * begins with `opened`; UINT32_MAX: it keeps none. */
uint32_t adopt_since(const struct epochs *epochs, const struct record *opened);
/* Tells whether the epoch that began with `opened` keeps samples. If so, epochs_resume calls
 * adopt_some until all are kept and the open is recorded. */
bool adopt_begin(
	struct epochs *epochs, const struct record *opened, struct effects *effects);
/* Keeps as many more samples as there is room for effects. After the last one, records the open. */
void adopt_some(struct epochs *epochs, struct effects *effects);
