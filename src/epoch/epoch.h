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
 * The engine of one job's epochs. It decides which sample a position holds, which epoch a
 * file of current/ belongs to, when an epoch begins, drains and ends, and which samples are
 * pinned; it records what is bound, read and consumed. The engine is pure: events go in,
 * effects come out. It has no locks, threads, clock or files, and calls nothing back.
 *
 *   Flow: an event is one call. It returns a list of effects, which the caller executes
 *         before the next event. The result of an effect comes back as an event:
 *
 *             epochs_open ----> BEGIN ... epochs_begun ----> DRAW ... epochs_take_drawn
 *                  |                                                       |
 *                  +--> ANSWER (bound already)          RECORD, ANSWER <---+
 *             epochs_released ----> RECORD, END
 *
 *   Owns: its epochs and pins. Requests belong to the caller, and stay valid until they are
 *         answered or cancelled. Pins in effects.unpinned belong to the caller.
 *   Threads: the caller serialises.
 *   Errors: a request is answered with 0 or -errno; -ENOMEM from epochs_new.
 *   Life: the RECORD effects in their order are the journal; epochs_replay of them rebuilds
 *         the state, except streams, queues and pins, which end with the process.
 */

struct epochs;

/* Replaces the number of an epoch in requests for files of current/, because the engine chooses the
 * epoch; current.c has the rules. */
#define EPOCH_CURRENT UINT32_MAX

enum epochs_kind {
	EPOCHS_DRAWN,	      /* a position holds the sample at the head of the queue */
	EPOCHS_DRAWN_AT_OPEN, /* a sample of the position's label is drawn */
	EPOCHS_FIXED,	      /* the position decides the sample */
	EPOCHS_MIRRORED, /* FIXED, equal in all epochs: nothing is bound or consumed */
};

/* The set of samples D_j of some epochs. The caller owns the data behind the pointers, and does
 * not change them. */
struct epoch_set {
	const roaring_bitmap_t *selection; /* D_j */
	const sample_id *fixed; /* sample by position; NULL: ascending in the selection */
	uint32_t positions;	/* number of an epoch's positions: |D_j| */
	/* Identifies the names of the positions, if sets have different names. A request has the
	 * value with which its position was found. */
	uint32_t names;
	void *owner; /* belongs to the caller */
	/* private to the engine */
	TAILQ_ENTRY(epoch_set) link;
	uint32_t first; /* first epoch that has the set */
};

struct epochs_config {
	enum epochs_kind kind;
	/* The set of all epochs, until epochs_use_set sets another one for later epochs. */
	struct epoch_set set;
	uint32_t limit;	     /* number of epochs that the job may have */
	uint32_t lookahead;  /* samples to draw ahead of bindings; at least 1 */
	uint32_t most_ahead; /* positions per file of a batch or shard; otherwise 1 */
	uint32_t file;	     /* epochs have orders before they begin */
	bool replays;	     /* epochs have orders before they begin */
	bool fed; /* DRAWN only: samples arrive by themselves; EFFECT_DRAW is not used */
	bool refuses_second; /* a second script gets -EBUSY if it is too far from the first */
	uint64_t idle_ns; /* the job is parked if nothing was read for this time */
};

must_check int epochs_new(const struct epochs_config *config, struct epochs **ret);
/* Frees the engine, which has no pins any more (epochs_leave). */
void epochs_free(struct epochs **epochs);

/* Sets the set of the epochs from `first` on, none of which has begun. The caller keeps the set
 * valid until epochs_drop_set returns it. */
void epochs_use_set(struct epochs *epochs, uint32_t first, struct epoch_set *set);
/* Returns the least epoch such that neither it nor a later one has begun or has an order in a
 * file. */
uint32_t epochs_first_new(const struct epochs *epochs);
/* Removes a set that no epoch needs: none of its epochs is in memory, in a file, or may begin. The
 * caller owns it again. NULL: there is none. */
struct epoch_set *epochs_drop_set(struct epochs *epochs);
/* Returns the set of the epoch. For EPOCH_CURRENT, returns the set of the epoch that a new script
 * would read. */
const struct epoch_set *epochs_set(const struct epochs *epochs, uint32_t epoch);
/* Tells whether a script has opened a file of current/ in the last minute. Scripts that have ended
 * count, because another script may have names from them. */
bool epochs_current_is_read(const struct epochs *epochs, uint64_t now_ns);
/* Tells the engine that all processes of the script have ended, so that the script is in no pass. */
void epochs_script_ended(struct epochs *epochs, uint64_t id);
/* The script that opened a file of current/ last. */
struct epochs_script {
	uint64_t id; /* 0: no script, or an unknown one */
	bool ended;
	bool has_rank; /* the rank in question belongs to the script */
};
struct epochs_script epochs_last_script(const struct epochs *epochs, uint64_t rank);
/* Returns the set with the most positions among those that files of current/ may belong to. */
const struct epoch_set *epochs_widest_set(const struct epochs *epochs);

/* --- effects ------------------------------------------------------------------------- */

/* A sample that was drawn and is not bound. */
struct drawn {
	sample_id sample;
	enum served served;
	bool pinned; /* the caller has pinned the sample; false: it had no memory */
};

/* The pin of a sample that is bound and not consumed. */
struct pin {
	TAILQ_ENTRY(pin) link;
	uint32_t epoch;
	sample_id sample;
	/* private to the engine; the key is `position` */
	UT_hash_handle hash; /* the key is `position` */
	uint32_t position;
	uint32_t sequence; /* index of the binding in its epoch */
	uint32_t opens;	   /* requests that were answered and not released */
	bool given;	   /* a reader has got it */
};
TAILQ_HEAD(pins, pin);

struct open_request {
	/* input */
	uint32_t epoch; /* a number, or EPOCH_CURRENT */
	uint32_t position, names;
	struct reader reader; /* needed for EPOCH_CURRENT */
	/* An earlier daemon received the request, and may have chosen the epoch. */
	bool resent;
	bool images; /* the file has images, but the request wants only a label */
	bool done;   /* the thread has read its last opened file to the end */
	bool looks;  /* the opener is a process whose workers read */
	bool lost;   /* the request's LOOK_UP found no sample at the position */
	bool label;  /* only the label is wanted: nothing is pinned or released */
	/* output */
	/* 0, -ENOENT, -ESTALE (the epoch is over, or has other names), -EAGAIN, -EBUSY,
	 * -ENODEV, -ENOMEM, or a status of epochs_begun, epochs_starve or epochs_loaded */
	int status;
	uint32_t found_epoch; /* never EPOCH_CURRENT */
	sample_id sample;     /* SAMPLE_NONE: see EFFECT_LOOK_UP */
	/* private to the engine */
	TAILQ_ENTRY(open_request) link;
	bool waits;
	bool chosen;	  /* `awaited` is the epoch chosen for EPOCH_CURRENT */
	uint32_t era;	  /* value of epochs_era at the answer */
	uint32_t awaited; /* the epoch whose stream the request waits for */
};

/* Facts about a script that the user should know. */
enum notice {
	NOTICE_EARLY,	 /* a script opened an epoch by number before it may begin */
	NOTICE_LAST,	 /* a script reads the last epoch again */
	NOTICE_SCRIPTS,	 /* two scripts read current/, too far from each other */
	NOTICE_PARTS,	 /* a script divides positions as if they were samples */
	NOTICE_LABELS,	 /* a script keeps all positions' labels for the next epoch */
	NOTICE_HANDLES,	 /* a script keeps files open (the caller finds this) */
	NOTICE_READERS,	 /* the reading process is unknown (the caller finds this) */
	NOTICE_MACHINES, /* some ranks are on other machines (the caller finds this) */
	NOTICES
};

enum effect_kind {
	EFFECT_BEGIN, /* epoch: make a stream of D_j without bound samples -> epochs_begun */
	/* epoch: remove its stream, even one that is being made; queue: drawn samples that the
	 * caller unpins */
	EFFECT_END,
	/* Epoch, position: draw for a request that waits -> epochs_drawn, then
	 * epochs_take_drawn. sample: the one to draw, SAMPLE_NONE: any. */
	EFFECT_DRAW,
	EFFECT_UNPIN,	/* epoch, sample: unpin it */
	EFFECT_ANSWER,	/* request: answer it */
	EFFECT_LOOK_UP, /* request: answer it with a sample from the epoch's saved order */
	EFFECT_RECORD,	/* record: append it to the journal before any answer is given */
	EFFECT_NOTICE,	/* notice: a script probably does something unintended */
	EFFECT_SAVE,	/* epoch: has ended; write its order to a file -> epochs_saved */
	EFFECT_LOAD,	/* epoch: has begun again; load its order -> epochs_loaded */
	EFFECT_KINDS
};

/* A ring buffer of drawn samples. */
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
	bool resumes; /* the caller has to call epochs_resume before the next event */
	struct effect list[EFFECTS_MAX];
	struct pins unpinned; /* the caller unpins and frees these */
};

static inline void effects_init(struct effects *effects)
{
	effects->n = 0;
	effects->resumes = false;
	TAILQ_INIT(&effects->unpinned);
}

/* --- events -------------------------------------------------------------------------- */

/* Opens a position. The request is answered at once, or when the epoch has begun, or when a sample
 * was drawn for it. Waiting requests keep their order. */
void epochs_open(struct epochs *epochs, struct open_request *request, uint64_t now_ns,
	struct effects *effects);

/* Cancels a request whose reader gave up: it is not answered, and nothing is bound for it.
 * Returns false if the request does not wait any more. */
bool epochs_cancel(struct epochs *epochs, struct open_request *request);

/* Tells the engine that the epoch's stream was made (0), or could not be made (-errno). Does
 * nothing if EFFECT_END came meanwhile. */
void epochs_begun(struct epochs *epochs, uint32_t epoch, int status, uint64_t now_ns);
/* Handles one request whose stream was made, has failed or has ended, or lets a new epoch keep
 * more samples of the previous one. The caller executes the effects of an event, and then calls
 * this function until it returns false. */
must_check bool epochs_resume(
	struct epochs *epochs, uint64_t now_ns, struct effects *effects);

/* Adds a drawn sample to the epoch's queue, which has room for config.most_ahead samples. If the
 * job is fed, epochs_resume handles the requests that waited. */
void epochs_drawn(struct epochs *epochs, uint32_t epoch, const struct drawn *drawn);

/* Sets the status of a fed job's requests that find no sample; epochs_resume answers those that
 * wait. 0: they wait again. */
void epochs_starve(struct epochs *epochs, int status);
/* Lends a fed job to another process, which binds positions. Meanwhile this engine binds none, and
 * only answers for positions that it has bound. The caller reports the other process's bindings by
 * epochs_had, and then calls this function with false. */
void epochs_lend(struct epochs *epochs, bool lent);
/* Tells a fed job whether other processes wait until it has left its draining epoch. Then it leaves
 * the epoch as soon as no script reads it (epochs_time). */
void epochs_hurry(struct epochs *epochs, bool hurries);
/* Gives the head of the queue to the request of EFFECT_DRAW. */
void epochs_take_drawn(struct epochs *epochs, struct effects *effects);

/* Tells a fed job that another process reads the epoch, or that epochs before get no more samples.
 * The epochs before it are over. If the epoch has not begun, it runs from now on. -ENOMEM */
must_check int epochs_go_on(
	struct epochs *epochs, uint32_t epoch, struct effects *effects);
/* Tells a fed job that another process consumed the next sample of the epoch. The first unbound
 * position gets the head of the queue, or `next` if the queue is empty. -ENOMEM */
must_check int epochs_had(
	struct epochs *epochs, uint32_t epoch, sample_id next, struct effects *effects);

/* Makes an epoch leave out a sample: the position holds the sample and counts as read. The epoch
 * has just begun, has no stream, and is not a mirror's. -ENOMEM; -EEXIST: the epoch has kept the
 * sample or the position from the previous epoch, and does not leave it out. */
must_check int epochs_skip(struct epochs *epochs, uint32_t epoch, uint32_t position,
	sample_id sample, struct effects *effects);
/* Notes a left-out position that is in an epoch's saved order. Without memory it is not noted. */
void epochs_was_skipped(struct epochs *epochs, uint32_t epoch, uint32_t position);

/* Notes that a reader has got the bytes of the position. Returns true the first time, and always
 * for a mirror. */
bool epochs_given(struct epochs *epochs, uint32_t epoch, uint32_t position);

/* Ends a request that was answered with 0 and is not only for a label. read: the reader has read
 * the position, or its sample can't be prepared; false: it can be opened as before. */
void epochs_released(struct epochs *epochs, uint32_t epoch, uint32_t position, bool read,
	uint64_t now_ns, struct effects *effects);

/* Ends a request that was answered before a restart. Does nothing if the position is unbound or
 * already consumed. */
void epochs_released_before(struct epochs *epochs, uint32_t epoch, uint32_t position,
	uint64_t now_ns, struct effects *effects);

/* Tells the engine that the order of an ended epoch is in a file. epochs_reap returns its
 * memory. */
void epochs_saved(struct epochs *epochs, uint32_t epoch);

/* Returns an epoch that is not needed any more. The caller frees it without its lock, because it
 * may have megabytes. NULL: there is none. */
struct epoch *epochs_reap(struct epochs *epochs);
void epoch_reaped_free(struct epoch *epoch); /* NULL: does nothing */

/* Tells the engine that the orders of epochs before this one were removed; these epochs stay over. */
void epochs_forget_before(struct epochs *epochs, uint32_t epoch);

/* Tells the engine the time. If the job has no readers, it is parked: its streams end, and it
 * drops the pins of samples that are not open. */
void epochs_time(struct epochs *epochs, uint64_t now_ns, struct effects *effects);

/* Removes the job. epochs_resume answers waiting requests with -ENODEV. All pins are dropped, even
 * those of open samples. */
void epochs_leave(struct epochs *epochs, struct effects *effects);

/* --- after a restart ----------------------------------------------------------------- */

/* Replays one record. The caller passes the records of the journal in their order. -EINVAL: the
 * record is impossible, for *ret_reason; -ENOMEM. */
must_check int epochs_replay(
	struct epochs *epochs, const struct record *record, const char **ret_reason);

/* Replays a record that continues an order in a file: a BEGUN with `bound`, or a RESTORED. loaded:
 * the order, made by epochs_prepare; taken over, also on failure. */
must_check int epochs_replay_loaded(struct epochs *epochs, const struct record *record,
	struct epoch *loaded, const char **ret_reason);

/* An order in a file, and how many bindings it has. */
struct epochs_order_file {
	uint32_t epoch, bound;
};

/* Tells the engine, after the records, which orders are in files. Takes over `orders`. Epochs
 * after the running one have not begun, and will have these orders. If no epoch runs, because the
 * journal is lost, the epochs count as ended, or as not begun if the job replays orders. */
void epochs_has_orders(struct epochs *epochs, struct epochs_order_file *orders, size_t n);

/* Ends the replay, and adds records that are missing because the process ended. The caller calls
 * it until it adds no effect. */
void epochs_replayed(struct epochs *epochs, struct effects *effects);

/* --- going back ---------------------------------------------------------------------- */

/*
 * A job goes back to an earlier place; positions keep their samples:
 *
 *     epochs_hold -> the orders of live epochs are saved -> epochs_prepare of the epochs
 *     that will run and drain -> epochs_restored, epochs_has_orders, epochs_resume
 *
 * After epochs_hold nothing is bound, and opens wait. A sample that was open before is not
 * consumed when it is released: its request has an older epochs_era.
 */
void epochs_hold(struct epochs *epochs, struct effects *effects);
/* Ends epochs_hold; the job does not go back. */
void epochs_unhold(struct epochs *epochs);

/* Returns the least live epoch after this one (UINT32_MAX: of all); UINT32_MAX: none. */
uint32_t epochs_next_live(const struct epochs *epochs, uint32_t after);

/* Makes an epoch from the first `bound` bindings and `consumed` reads of an order. Takes over
 * `data`. set: the epoch's. This is no event: it only reads the engine's configuration. -EINVAL:
 * the order is impossible, for *ret_reason; -ENOMEM. */
must_check int epochs_prepare(const struct epochs *epochs, const struct epoch_set *set,
	uint32_t number, struct order_data *data, uint32_t bound, uint32_t consumed,
	const char **ret_reason, struct epoch **ret);

/* Makes the job go back: these epochs run and drain. Takes over both; draining may be NULL. */
void epochs_restored(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects);

/* Answers EFFECT_LOAD with an epoch that epochs_prepare made without reads, and that is taken
 * over; or with NULL and -errno. */
void epochs_loaded(
	struct epochs *epochs, uint32_t epoch, struct epoch *loaded, int status);
/* Finds an epoch whose EFFECT_LOAD is not answered. *ret_bound: the number of its bindings. false:
 * there is none. */
bool epochs_wants_load(
	const struct epochs *epochs, uint32_t *ret_epoch, uint32_t *ret_bound);

/* Returns how many times the job has gone back. */
uint32_t epochs_era(const struct epochs *epochs);
