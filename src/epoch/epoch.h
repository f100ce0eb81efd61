// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "epoch/order.h"
#include "epoch/record.h"

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

/* A failed insertion leaves hash.tbl NULL; nothing exits. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * The epochs of one job: which sample a position holds, what is bound, read and consumed,
 * which epoch a file of current/ belongs to, when an epoch begins, drains and ends, what
 * is pinned and what is given back. A pure engine: events in, effects out. No locks,
 * threads, clock or files, nothing calls back.
 *
 *   Flow: an event is one call. It enters once and leaves as a list of effects, which the
 *         caller executes before the next event. What an effect asks for comes back as an
 *         event of its own:
 *
 *             epochs_open ----> BEGIN ... epochs_begun ----> DRAW ... epochs_take_drawn
 *                  |                                                       |
 *                  +--> ANSWER (bound already)          RECORD, ANSWER <---+
 *             epochs_released ----> RECORD, END
 *
 *   Owns: its epochs and pins. Requests are the caller's, and stay until they are
 *         answered or cancelled. A pin in effects.unpinned belongs to the caller.
 *   Threads: the caller serialises.
 *   Errors: a request is answered with 0 or -errno; -ENOMEM from epochs_new.
 *   Life: its RECORD effects in their order are the journal; epochs_replay of them
 *         rebuilds the same state (but for streams, queues and pins, which end with the
 *         process).
 */

struct epochs;

/*
 * Instead of the number of an epoch: that of current/, for scripts that know one directory
 * and many epochs. current.c has the rules.
 */
#define EPOCH_CURRENT UINT32_MAX

enum epochs_kind {
	EPOCHS_DRAWN,	      /* a position holds the sample at the head of the queue */
	EPOCHS_DRAWN_AT_OPEN, /* the position decides within which label it is drawn */
	EPOCHS_FIXED,	      /* the position decides which sample it is */
	EPOCHS_MIRRORED, /* and is the same in every epoch: nothing is bound or consumed */
};

/* The samples of epochs: D_j, which may be another one for later epochs. What it points to is
 * the caller's, and constant. */
struct epoch_set {
	const roaring_bitmap_t *selection; /* D_j */
	const sample_id *fixed; /* by position; NULL: ascending in the selection */
	uint32_t positions;	/* of an epoch: |D_j| */
	/* Which names its positions have, if sets differ in that: a request has those by which
	 * its position was found. */
	uint32_t names;
	void *owner; /* the caller's */
	/* the engine's */
	TAILQ_ENTRY(epoch_set) link;
	uint32_t first; /* epoch that has it */
};

struct epochs_config {
	enum epochs_kind kind;
	struct epoch_set set; /* of all epochs, until there is another one */
	uint32_t limit;	      /* number of epochs that the job may have */
	uint32_t lookahead;   /* samples drawn and not bound; at least 1 */
	uint32_t most_ahead;  /* that the caller may draw; 0: lookahead */
	uint32_t file;	      /* positions of one file: of a batch, a shard, else 1 */
	bool replays;	      /* its epochs have orders before they begin */
	bool fed; /* DRAWN: what is drawn comes when it comes; DRAW never asks for it */
	bool refuses_second; /* script, too far from the first: -EBUSY */
	uint64_t idle_ns;    /* parked when nothing was read for so long */
};

must_check int epochs_new(const struct epochs_config *config, struct epochs **ret);
void epochs_free(struct epochs **epochs); /* nothing is pinned any more: epochs_leave */

/*
 * Epochs from the first one on have this set instead, which stays the caller's until it is
 * dropped; none of them has begun. epochs_first_new: the least such epoch that has no order
 * in a file either.
 */
void epochs_use_set(struct epochs *epochs, uint32_t first, struct epoch_set *set);
uint32_t epochs_first_new(const struct epochs *epochs);
/* A set that no epoch has any more which is in memory, is kept in a file, or may begin; it is
 * the caller's again. NULL: there is none. */
struct epoch_set *epochs_drop_set(struct epochs *epochs);
/* EPOCH_CURRENT: of the epoch that a script which begins now would read. */
const struct epoch_set *epochs_set(const struct epochs *epochs, uint32_t epoch);
/* A script has opened a file of current/ in the last minute, also one that has ended: another
 * one may know names from it. */
bool epochs_current_is_read(const struct epochs *epochs, uint64_t now_ns);
/* All processes of the script have ended: it is in the middle of nothing. */
void epochs_script_ended(struct epochs *epochs, uint64_t id);
/* The script that has opened a file of current/ last. */
struct epochs_script {
	uint64_t id; /* 0: there is none, or it is not known */
	bool ended;
	bool has_rank; /* `rank` is one of its */
};
struct epochs_script epochs_last_script(const struct epochs *epochs, uint64_t rank);
/* Of those that a file of current/ may be of, the one with most positions. */
const struct epoch_set *epochs_widest_set(const struct epochs *epochs);

/* --- effects ------------------------------------------------------------------------- */

/* A sample that was drawn and is not bound. */
struct drawn {
	sample_id sample;
	enum served served;
	bool pinned; /* by the caller; without memory for that it is not */
};

/* The pin of one that is bound and not consumed. */
struct pin {
	TAILQ_ENTRY(pin) link;
	uint32_t epoch;
	sample_id sample;
	/* the engine's */
	UT_hash_handle hash; /* by position, once it is bound */
	uint32_t position;
	uint32_t sequence; /* the how-manieth binding of the epoch */
	uint32_t opens;	   /* requests that were answered and are not released */
	bool given;	   /* a reader got it */
};
TAILQ_HEAD(pins, pin);

struct open_request {
	/* in */
	uint32_t epoch; /* or EPOCH_CURRENT */
	uint32_t position, names;
	struct reader reader; /* for EPOCH_CURRENT */
	bool resent; /* the process ended before it was answered, perhaps after its epoch was
			chosen */
	bool images; /* the file has images, although only a label is wanted of it */
	bool done;   /* its thread has read to the end what it opened last */
	bool looks;  /* by the process itself whose workers read */
	bool lost;   /* the order in which it was looked up has no sample there */
	bool label;  /* only the label is wanted: nothing is held, nothing released */
	/* out */
	/* 0, -ENOENT, -ESTALE (the epoch is over, or has other names), -EAGAIN, -EBUSY, -ENODEV, -ENOMEM or that of begun */
	int status;
	uint32_t found_epoch; /* never EPOCH_CURRENT */
	sample_id sample;     /* SAMPLE_NONE: see EFFECT_LOOK_UP */
	/* the engine's */
	TAILQ_ENTRY(open_request) link;
	bool waits;
	bool chosen;	  /* what EPOCH_CURRENT means is: awaited */
	uint32_t era;	  /* epochs_era when it was answered */
	uint32_t awaited; /* the epoch whose stream it waits for */
};

/* What a user should know of a script. */
enum notice {
	NOTICE_EARLY,	/* an epoch was opened by its number before the next may begin */
	NOTICE_LAST,	/* the last epoch is read again */
	NOTICE_SCRIPTS, /* two scripts read current/, too far from each other */
	NOTICE_PARTS,	/* positions are divided, as if they were samples */
	NOTICE_LABELS,	/* labels of all positions are kept for the next epoch */
	NOTICE_HANDLES, /* files are kept open (the caller sees that) */
	NOTICE_READERS, /* nobody knows which process reads (likewise) */
	NOTICE_MACHINES, /* a rank of several, of which some are on other machines (likewise) */
	NOTICES
};

enum effect_kind {
	EFFECT_BEGIN, /* epoch: make a stream of D_j minus what is bound -> epochs_begun */
	EFFECT_END,   /* epoch: its stream, also one that is just being made, leaves;
			 queue: what it had drawn is the caller's, to be unpinned */
	EFFECT_DRAW,  /* epoch, position: a request waits for a sample: epochs_drawn, then
			 epochs_take_drawn. sample: the one that it must be, else SAMPLE_NONE */
	EFFECT_UNPIN,	/* epoch, sample */
	EFFECT_ANSWER,	/* request */
	EFFECT_LOOK_UP, /* request: as ANSWER; its sample is in the epoch's saved order */
	EFFECT_RECORD,	/* record: to the journal, before any answer is told */
	EFFECT_NOTICE,	/* notice: a script does not get what it probably means */
	EFFECT_SAVE,	/* epoch: has ended, its order goes to a file -> epochs_saved */
	EFFECT_LOAD,	/* epoch: goes on with the order in its file -> epochs_loaded */
	EFFECT_KINDS
};

/* A ring. */
struct drawn_queue {
	struct drawn *ring; /* room for `size` */
	uint32_t size, head, length;
};

struct effect {
	enum effect_kind kind;
	uint32_t epoch;
	uint32_t position;
	sample_id sample;
	struct open_request *request;
	enum notice notice;
	struct drawn_queue queue; /* the ring is freed by the caller */
	struct record record;
};

#define EFFECTS_MAX 16

struct effects {
	unsigned n;
	bool resumes; /* epochs_resume has something to do, before the next event */
	struct effect list[EFFECTS_MAX];
	struct pins unpinned; /* to be unpinned and freed */
};

static inline void effects_init(struct effects *effects)
{
	effects->n = 0;
	effects->resumes = false;
	TAILQ_INIT(&effects->unpinned);
}

/* --- events -------------------------------------------------------------------------- */

/*
 * A position is opened. It is answered at once, or when the epoch has begun, or when a
 * sample was drawn for it; of requests that wait none overtakes another.
 */
void epochs_open(struct epochs *epochs, struct open_request *request, uint64_t now_ns,
	struct effects *effects);

/* The reader gave up: a request that waits is not answered, and nothing is bound for it.
 * false: it does not wait any more. */
bool epochs_cancel(struct epochs *epochs, struct open_request *request);

/*
 * The stream of the epoch is there (0), or could not be made (-errno); if EFFECT_END came
 * meanwhile, neither. Requests that waited for a stream that is there, has failed or has
 * ended are taken up one by one by epochs_resume. It is called after each event, when its
 * effects are executed, until it is false.
 */
void epochs_begun(struct epochs *epochs, uint32_t epoch, int status, uint64_t now_ns);
must_check bool epochs_resume(
	struct epochs *epochs, uint64_t now_ns, struct effects *effects);

/* The sampler gave the epoch's stream a sample, which queues until a position is bound to
 * it; there is room for config.most_ahead of them. Of what is fed, requests that waited for
 * it are taken up by epochs_resume. */
void epochs_drawn(struct epochs *epochs, uint32_t epoch, const struct drawn *drawn);

/* Of a job that is fed: requests that find nothing are answered with the status, those that
 * wait by epochs_resume; 0: they wait again. */
void epochs_starve(struct epochs *epochs, int status);
/* The same: elsewhere positions are bound. What was bound here is answered, no more is; until
 * epochs_had has said what was bound elsewhere, and this is called with false. */
void epochs_lend(struct epochs *epochs, bool lent);
/* What EFFECT_DRAW has asked for is drawn: the request gets the head of the queue. */
void epochs_take_drawn(struct epochs *epochs, struct effects *effects);

/*
 * Of what is fed: another process has read so far. The epoch runs, unless it did before; the
 * one that ran is over. Each of its next samples was consumed there, and is bound to the
 * first position that is not: one that was drawn, or else `next`. -ENOMEM
 */
must_check int epochs_go_on(
	struct epochs *epochs, uint32_t epoch, struct effects *effects);
must_check int epochs_had(
	struct epochs *epochs, uint32_t epoch, sample_id next, struct effects *effects);

/*
 * An epoch that has just begun, and has no stream yet, leaves a sample out: the position
 * holds it and counts as read. Not of a mirror. -ENOMEM, or -EEXIST if the epoch has kept the
 * sample or the position from the one before: it is not left out.
 */
must_check int epochs_skip(struct epochs *epochs, uint32_t epoch, uint32_t position,
	sample_id sample, struct effects *effects);
/* The same, as the order of an epoch tells that is in a file. Without memory it is not
 * known. */
void epochs_was_skipped(struct epochs *epochs, uint32_t epoch, uint32_t position);

/* A reader got the bytes of the position. true: for the first time. */
bool epochs_given(struct epochs *epochs, uint32_t epoch, uint32_t position);

/* A request that was answered with 0, not of a label, is over. read: its reader has read
 * the position, or it can't be prepared (it was had); else it can be opened as before. */
void epochs_released(struct epochs *epochs, uint32_t epoch, uint32_t position, bool read,
	uint64_t now_ns, struct effects *effects);

/* The same of one that was answered before a restart. One that is not bound, or consumed, is
 * passed over. */
void epochs_released_before(struct epochs *epochs, uint32_t epoch, uint32_t position,
	uint64_t now_ns, struct effects *effects);

/* The order of an ended epoch is in a file: its memory is given back by epochs_reap. */
void epochs_saved(struct epochs *epochs, uint32_t epoch);

/* Hands over the memory of one epoch, which may be megabytes, to be freed without the
 * caller's lock; NULL: there is none. */
struct epoch *epochs_reap(struct epochs *epochs);
void epoch_reaped_free(struct epoch *epoch); /* may be NULL */

/* The orders of epochs before this one are gone: these epochs stay over. */
void epochs_forget_before(struct epochs *epochs, uint32_t epoch);

/* Time passes: a job that nobody reads holds nothing any more. */
void epochs_time(struct epochs *epochs, uint64_t now_ns, struct effects *effects);

/* The job is removed: requests that wait are answered with -ENODEV by epochs_resume, all
 * that is pinned is given back, whoever has it open. */
void epochs_leave(struct epochs *epochs, struct effects *effects);

/* --- after a restart ----------------------------------------------------------------- */

/* Records of the journal in their order. -EINVAL: impossible, *ret_reason says why;
 * -ENOMEM. */
must_check int epochs_replay(
	struct epochs *epochs, const struct record *record, const char **ret_reason);

/* One that goes on with an order of a file: BEGUN with `bound`, RESTORED. loaded: it, by
 * epochs_prepare; taken, also upon failure. */
must_check int epochs_replay_loaded(struct epochs *epochs, const struct record *record,
	struct epoch *loaded, const char **ret_reason);

/* An order in a file, and how many bindings it has. */
struct epochs_order_file {
	uint32_t epoch, bound;
};

/* After them: all orders that files hold; taken. Those after the running epoch are the
 * orders of epochs that have not begun yet, and will have these. Where none runs, as the
 * journal is lost, they have ended; those of a job that replays have not begun. */
void epochs_has_orders(struct epochs *epochs, struct epochs_order_file *orders, size_t n);

/* That was all: what an end of the process has cut off is made up for. Call it
 * again until there is no effect. */
void epochs_replayed(struct epochs *epochs, struct effects *effects);

/* --- going back ---------------------------------------------------------------------- */

/*
 * A job goes back to where it was, without forgetting what any position holds:
 *
 *     epochs_hold -> the orders of live epochs are saved -> epochs_prepare of those that
 *     are to run and to drain -> epochs_restored, epochs_has_orders, epochs_resume
 *
 * From epochs_hold on nothing is bound, and opens wait. What was open before is not
 * consumed when it is released after: its epochs_era is another one.
 */
void epochs_hold(struct epochs *epochs, struct effects *effects);
void epochs_unhold(struct epochs *epochs); /* nothing has changed */

/* The least number of a live epoch after this one; UINT32_MAX: none. */
uint32_t epochs_next_live(const struct epochs *epochs, uint32_t after);

/*
 * An epoch with the first `bound` bindings and `consumed` reads of an order, which is
 * taken. set: the epoch's. No event: reads only the engine's configuration. -EINVAL:
 * impossible; -ENOMEM.
 */
must_check int epochs_prepare(const struct epochs *epochs, const struct epoch_set *set,
	uint32_t number, struct order_data *data, uint32_t bound, uint32_t consumed,
	const char **ret_reason, struct epoch **ret);

/* Both are taken; draining may be NULL. */
void epochs_restored(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects);

/* What EFFECT_LOAD has asked for: prepared, without reads; taken. Or NULL and -errno. */
void epochs_loaded(
	struct epochs *epochs, uint32_t epoch, struct epoch *loaded, int status);
/* Which it still asks for; *ret_bound: of its bindings. false: none. */
bool epochs_wants_load(
	const struct epochs *epochs, uint32_t *ret_epoch, uint32_t *ret_bound);

uint32_t epochs_era(const struct epochs *epochs);

/* --- questions ----------------------------------------------------------------------- */

struct epochs_status {
	bool started;	/* an epoch has begun */
	bool running;	/* and not ended */
	bool idle;	/* parked */
	uint32_t epoch; /* the running one, or the last */
	uint32_t bound, consumed;
	uint32_t ahead; /* drawn and not bound */
};
void epochs_status(const struct epochs *epochs, struct epochs_status *ret);

/* UNKNOWN: it has not begun. OVER: it was left out, or its order is not kept any more. */
enum epoch_state { EPOCH_UNKNOWN, EPOCH_LIVE, EPOCH_SAVED, EPOCH_OVER };
/* Whether the epoch has begun, and where its order is: in memory, in a file, nowhere. */
enum epoch_state epochs_state(const struct epochs *epochs, uint32_t epoch);

/* The sample of a position, also one that can be no other; SAMPLE_NONE: unbound, or the
 * epoch is not live. The epoch may be EPOCH_CURRENT, by a reader that is not known. */
sample_id epochs_bound(const struct epochs *epochs, uint32_t epoch, uint32_t position);
/* The positions whose samples the epoch leaves out; NULL: none. Valid until the next event. */
const roaring_bitmap_t *epochs_skipped(const struct epochs *epochs, uint32_t epoch);
/* The epoch that a request for EPOCH_CURRENT would get. */
uint32_t epochs_choice(const struct epochs *epochs, const struct open_request *request);
/* The number that EPOCH_CURRENT stands for there, as far as that can be said of no script:
 * the next one when the position was read, and half of the others, too. */
uint32_t epochs_current(const struct epochs *epochs, uint32_t position);

/* How far an epoch was read: its first reads, and their order_reads_hash. */
struct epochs_point {
	uint32_t epoch, consumed;
	uint64_t hash;
};

/* Where the job is. */
struct epochs_place {
	bool started, drains;
	struct epochs_point running, draining;
};
void epochs_place(const struct epochs *epochs, struct epochs_place *ret);

/* Positions from first to last. */
struct run {
	uint32_t first, last;
};

/* The i-th of those that were drawn for a live epoch and are not bound; SAMPLE_NONE: there
 * are not so many. */
sample_id epochs_drawn_at(const struct epochs *epochs, uint32_t epoch, uint32_t i);

/* How many of the first bindings of a live epoch were consumed, all of them; `from`: so many
 * are known to be. */
uint32_t epochs_consumed_first(
	const struct epochs *epochs, uint32_t epoch, uint32_t from);

/* What was read of a live epoch, in up to n runs. How many; *ret_all: that was all, else
 * there are more, or perhaps more. */
uint32_t epochs_read_runs(const struct epochs *epochs, uint32_t epoch, struct run *ret,
	uint32_t n, bool *ret_all);

/* Of a live epoch. Valid until the next event; and longer, without the caller's lock, of
 * one that has no stream or has ended, until epochs_saved. */
struct order epochs_order(const struct epochs *epochs, uint32_t epoch);

/* What EFFECT_BEGIN and EFFECT_SAVE have asked for and is still asked for: any epoch that
 * wants a stream; any whose order is to be saved. false: none. */
bool epochs_wants_stream(const struct epochs *epochs, uint32_t *ret_epoch);
bool epochs_wants_stream_of(const struct epochs *epochs, uint32_t epoch);
bool epochs_wants_save(const struct epochs *epochs, uint32_t *ret_epoch);

/* The first epoch that the journal has to tell of: its order is in no file. UINT32_MAX:
 * none. */
uint32_t epochs_first_unsaved(const struct epochs *epochs);

/* Samples that a live epoch has kept from the one before, when it began in this process. */
uint32_t epochs_adopted(const struct epochs *epochs, uint32_t epoch);

/* Samples drawn for the epoch's stream and not bound. */
uint32_t epochs_ahead(const struct epochs *epochs, uint32_t epoch);

/* Sum of pins; how many of them are of the sample, in epochs whose set has the owner. */
uint32_t epochs_pins(const struct epochs *epochs);
uint32_t epochs_pins_of(const struct epochs *epochs, const void *owner, sample_id sample);

/* Aborts when an invariant does not hold: need, pins and all sums are counted anew. */
void epochs_validate(const struct epochs *epochs);

/* All that a replay rebuilds, as text. For tests. */
void epochs_print(const struct epochs *epochs, FILE *out);
