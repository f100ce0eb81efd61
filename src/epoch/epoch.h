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

/*
 * The engine of one job's epochs. It decides which sample a position holds, which epoch a
 * file of current/ belongs to, when an epoch begins, drains and ends, and which samples are
 * pinned; it records what is bound, read and consumed. The engine is pure: events go in,
 * effects come out. It has no locks, threads, clock or files, and calls nothing back.
 *
 *   binding    a position gets its sample for ever, when a reader opens it for the first time
 *   consumed   a position that a reader has opened, read and released
 *   running    the last epoch that has begun
 *   draining   the epoch before the running one, while slow readers still read it
 *   over       an epoch in which nothing more is bound
 *   live       an epoch whose order is in memory
 *   known      an epoch that has not begun (again), but has an order in a file (go_back.c)
 *   parked     a job without reads for config.idle_ns: it has neither streams nor unused pins
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
 *         answered or cancelled.
 *   Threads: the caller serialises the calls.
 *   Errors: a request is answered with 0 or -errno; -ENOMEM from epochs_new.
 *   Life: the RECORD effects in their order are the journal; epochs_replay of them rebuilds
 *         the state, except streams, queues and pins, which end with the process.
 */

struct epochs;

/* The epoch in a request for a file of current/. The engine chooses an epoch instead
 * (current.c). */
#define EPOCH_CURRENT UINT32_MAX

enum epochs_kind {
	/* samples are drawn ahead and queued; an open binds the first sample in the queue */
	EPOCHS_DRAWN,
	/* nothing is drawn ahead; an open draws a sample that has the position's label */
	EPOCHS_DRAWN_AT_OPEN,
	EPOCHS_FIXED, /* the position decides the sample */
	/* the position decides the sample, and all epochs are equal, so nothing is bound or
	 * consumed */
	EPOCHS_MIRRORED,
};

/* The set D_j of samples that some successive epochs have. The caller owns the data behind the
 * pointers, and does not change the data. */
struct epoch_set {
	const roaring_bitmap_t *selection; /* ids of the samples */
	/* the sample of each position; NULL: positions have the samples of `selection` in ascending
	 * order */
	const sample_id *fixed;
	uint32_t positions; /* number of positions of an epoch: |D_j| */
	/* Sets have the same number if their files have the same names. A request has the number of
	 * the set in which its file name was looked up. */
	uint32_t names;
	void *owner; /* a pointer of the caller, which the engine only returns */
	/* private to the engine */
	TAILQ_ENTRY(epoch_set) link;
	uint32_t first; /* the first epoch with this set */
};

struct epochs_config {
	enum epochs_kind kind;
	/* The set of all epochs, until epochs_use_set gives later epochs another set. */
	struct epoch_set set;
	uint32_t limit; /* number of epochs that the job may have */
	/* number of samples that are drawn and not bound yet; at least 1 */
	uint32_t lookahead;
	/* the most samples that the queue of an epoch has room for; 0: as many as `lookahead` */
	uint32_t most_ahead;
	/* number of positions of a file: above 1 for batches and shards */
	uint32_t file;
	/* the job repeats saved orders: its epochs have orders before they begin */
	bool replays;
	/* Other processes decide the samples (a rank gets those of its group), so the caller passes
	 * samples to the engine without an EFFECT_DRAW. `kind` must be EPOCHS_DRAWN. */
	bool fed;
	/* if a second script reads current/ too far from where the first one reads, its opens fail
	 * with -EBUSY */
	bool refuses_second;
	/* time without reads after which the job is parked: it gives up streams and unused pins */
	uint64_t idle_ns;
};

must_check int epochs_new(const struct epochs_config *config, struct epochs **ret);
/* Frees the engine. The caller has called epochs_leave before, so that the engine has no pins. */
void epochs_free(struct epochs **epochs);

/* Gives the epochs from `first` on another set of samples. None of these epochs has begun. The
 * caller keeps the set valid until epochs_drop_set returns it. */
void epochs_use_set(struct epochs *epochs, uint32_t first, struct epoch_set *set);
/* Returns the first epoch after all epochs that have begun or have an order in a file. */
uint32_t epochs_first_new(const struct epochs *epochs);
/* Removes and returns a set that no epoch needs any more. A set is needed as long as an epoch that
 * has this set is in memory, has its order in a file, or may still begin. The caller owns the
 * returned set again. NULL: all sets are needed. */
struct epoch_set *epochs_drop_set(struct epochs *epochs);
/* Returns the set of the epoch. For EPOCH_CURRENT, returns the set of the epoch that a new script
 * would read. */
const struct epoch_set *epochs_set(const struct epochs *epochs, uint32_t epoch);
/* Tells whether a script has opened a file of current/ in the last minute. The script may have
 * ended: another script may still open files whose names the ended script has listed. */
bool epochs_current_is_read(const struct epochs *epochs, uint64_t now_ns);
/* Tells the engine that all processes of the script have ended, so that the script opens no more
 * files. */
void epochs_script_ended(struct epochs *epochs, uint64_t id);
/* The script that opened a file of current/ last. */
struct epochs_script {
	/* number of the script; 0: there is no script, or its number is not known */
	uint64_t id;
	bool ended;
	bool has_rank; /* the rank passed to epochs_last_script is one of the script's */
};
struct epochs_script epochs_last_script(const struct epochs *epochs, uint64_t rank);
/* Returns the set of samples with the most positions, among the sets of those epochs that current/
 * may show now. */
const struct epoch_set *epochs_widest_set(const struct epochs *epochs);

/* --- effects ------------------------------------------------------------------------- */

/* A sample that was drawn and is not bound yet. */
struct drawn {
	sample_id sample;
	enum served served;
	bool pinned; /* false: the caller had no memory to pin the sample */
};

/* The pin of a sample that is bound and not consumed. */
struct pin {
	TAILQ_ENTRY(pin) link;
	uint32_t epoch;
	sample_id sample;
	/* private to the engine */
	LIST_ENTRY(pin) chain;
	uint32_t position;
	uint32_t sequence; /* number of bindings that the epoch had before this one */
	uint32_t opens;	   /* number of readers that have the position's file open */
	bool given;	   /* a reader has got the sample's bytes */
};
TAILQ_HEAD(pins, pin);

struct open_request {
	/* set by the caller */
	uint32_t epoch; /* number of the epoch, or EPOCH_CURRENT */
	uint32_t position, names;
	struct reader reader; /* the thread that opens; needed for EPOCH_CURRENT */
	/* The kernel has sent the request again after a restart. So the engine before the restart
	 * may already have chosen the epoch. */
	bool resent;
	/* the file contains images, so its open counts as one of an image even if `label` is set */
	bool images;
	bool done;  /* the thread has read its previous file to the end */
	bool looks; /* worker processes of the opening process read files for it */
	/* the caller has already tried an EFFECT_LOOK_UP of this request, and has found no
	 * sample */
	bool lost;
	/* only the label is wanted; the caller does not call epochs_released */
	bool label;
	/* set by the engine */
	/* The result: 0 or -errno. -ESTALE: the epoch is over, or its files have other names by
	 * now; -EAGAIN: the epoch may not begin yet; -EBUSY: the job allows no second script in
	 * current/; -ENODEV: the job was removed. The status of epochs_begun, epochs_starve or
	 * epochs_loaded is passed on. */
	int status;
	uint32_t found_epoch; /* the epoch to which `sample` belongs */
	/* SAMPLE_NONE: the effect is EFFECT_LOOK_UP, so the caller must look the sample up */
	sample_id sample;
	/* private to the engine */
	TAILQ_ENTRY(open_request) link;
	bool waits;
	/* the request is for EPOCH_CURRENT, and `awaited` is the epoch that the engine has
	 * chosen */
	bool chosen;
	/* how often the job had gone back (epochs_era) when the engine handled the request */
	uint32_t era;
	uint32_t awaited; /* the epoch whose stream or order the request waits for */
};

/* Facts about a script that the user should know. */
enum notice {
	NOTICE_EARLY, /* a script opened an epoch by number before it may begin */
	NOTICE_LAST,  /* a script reads the last epoch again */
	/* two scripts read current/, and are too far apart to read the same epochs */
	NOTICE_SCRIPTS,
	/* a script divides the files into parts, such as one for training and one for validation,
	 * as if each file held the same sample in all epochs */
	NOTICE_PARTS,
	/* a script has read the labels in the previous epoch, and uses them for this epoch's
	 * images */
	NOTICE_LABELS,
	NOTICE_HANDLES, /* a script keeps many files open; the caller finds this out */
	/* the reading process is not known; the caller finds this out */
	NOTICE_READERS,
	/* some ranks are on other machines; the caller finds this out */
	NOTICE_MACHINES,
	NOTICES
};

/* The task of the caller. */
enum effect_kind {
	/* Make a stream of the samples of `epoch` that are not bound, and call epochs_begun. */
	EFFECT_BEGIN,
	/* Remove the stream of `epoch`, even if it is still being made, and unpin the samples in
	 * `queue`. */
	EFFECT_END,
	/* Draw a sample for the request that waits at `epoch` and `position`: `sample`, or any
	 * sample if this is SAMPLE_NONE. Then call epochs_drawn and epochs_take_drawn. */
	EFFECT_DRAW,
	EFFECT_UNPIN,  /* Unpin `sample`, which was pinned for `epoch`. */
	EFFECT_ANSWER, /* Answer `request`. */
	/* Answer `request` with the sample that the saved order of its epoch has at its
	 * position. */
	EFFECT_LOOK_UP,
	EFFECT_RECORD, /* Append `record` to the journal before any answer is given. */
	/* Tell the user that a script probably does something unintended: `notice`. */
	EFFECT_NOTICE,
	/* Write the order of `epoch`, which has ended, to a file, and call epochs_saved. */
	EFFECT_SAVE,
	/* Load the order of `epoch`, which has begun again, from its file, and call
	 * epochs_loaded. */
	EFFECT_LOAD,
	EFFECT_KINDS
};

/* A ring buffer of drawn samples. */
struct drawn_queue {
	struct drawn *ring; /* room for `size` samples */
	uint32_t size, head, length;
};

struct effect {
	enum effect_kind kind;
	uint32_t epoch;
	uint32_t position;
	sample_id sample;
	union {
		struct record record;
		struct open_request *request;
		enum notice notice;
		struct drawn_queue queue; /* the ring is freed by the caller */
	};
};

#define EFFECTS_MAX 16

struct effects {
	unsigned n;
	bool resumes; /* the caller has to call epochs_resume before the next event */
	struct effect list[EFFECTS_MAX];
	struct pins
		unpinned; /* the caller unpins these, and then calls epochs_unpinned */
};

static inline void effects_init(struct effects *effects)
{
	effects->n = 0;
	effects->resumes = false;
	TAILQ_INIT(&effects->unpinned);
}

/* --- events -------------------------------------------------------------------------- */

/* Opens a position. The request is answered at once, or when the epoch has begun, or when a sample
 * was drawn for the request. Waiting requests keep their order. */
void epochs_open(struct epochs *epochs, struct open_request *request, uint64_t now_ns,
	struct effects *effects);

/* Cancels a request whose reader gave up: it is not answered, and nothing is bound for it.
 * Returns false if the request does not wait any more. */
bool epochs_cancel(struct epochs *epochs, struct open_request *request);

/* Tells the engine that the epoch's stream was made (status 0), or could not be made (-errno). Does
 * nothing if the engine has demanded by EFFECT_END that the stream be removed. */
void epochs_begun(struct epochs *epochs, uint32_t epoch, int status, uint64_t now_ns);
/* Handles one request whose stream was made, has failed or has ended; or continues to copy samples
 * of the previous epoch to a new epoch (adopt.c). After each event and its effects, the caller
 * calls this function, and executes the effects that it adds, until it returns false. */
must_check bool epochs_resume(
	struct epochs *epochs, uint64_t now_ns, struct effects *effects);

/* Adds a drawn sample to the epoch's queue, which must have room. If the job is fed, epochs_resume
 * then handles the requests that waited for a sample. */
void epochs_drawn(struct epochs *epochs, uint32_t epoch, const struct drawn *drawn);

/* Sets the status of requests for which a fed job has no sample in its queue. 0: such requests
 * wait. -errno: epochs_resume answers waiting requests with this error, and later requests get it
 * at once. */
void epochs_starve(struct epochs *epochs, int status);
/* Tells a fed job whether another process binds its positions. While lent is true, this engine
 * answers only opens of bound positions, and the caller reports the bindings of the other process
 * by epochs_had. */
void epochs_lend(struct epochs *epochs, bool lent);
/* Tells a fed job whether other ranks wait until it has left its draining epoch. If they wait,
 * epochs_time ends the draining epoch as soon as no script reads it. */
void epochs_hurry(struct epochs *epochs, bool hurries);
/* Binds the first sample of the queue to the position of the request of EFFECT_DRAW, and answers
 * the request. */
void epochs_take_drawn(struct epochs *epochs, struct effects *effects);

/* Makes a fed job continue with the epoch, because another process reads it, or because earlier
 * epochs get no more samples. Earlier epochs end. If the epoch has not begun, it begins. -ENOMEM */
must_check int epochs_go_on(
	struct epochs *epochs, uint32_t epoch, struct effects *effects);
/* Tells a fed job that a reader of another process has consumed the next sample of the epoch. Binds
 * this sample to the first unbound position, which counts as consumed. The sample is the first one
 * in the queue, or `next` if the queue is empty. -ENOMEM */
must_check int epochs_had(
	struct epochs *epochs, uint32_t epoch, sample_id next, struct effects *effects);

/* Makes an epoch leave out a sample: binds the sample to the position, which counts as consumed.
 * The epoch must have just begun and have no stream. epochs_config.kind must not be
 * EPOCHS_MIRRORED. -ENOMEM; -EEXIST: the epoch has kept the sample or the position from the
 * previous epoch, so that it can't leave out the sample. */
must_check int epochs_skip(struct epochs *epochs, uint32_t epoch, uint32_t position,
	sample_id sample, struct effects *effects);
/* Notes a position that an epoch leaves out, according to its saved order. If there is no memory,
 * the position is not noted. */
void epochs_was_skipped(struct epochs *epochs, uint32_t epoch, uint32_t position);

/* Notes that a reader has got the bytes of the position. Returns true if the position's sample is
 * pinned and no other reader has got its bytes before. If epochs_config.kind is
 * EPOCHS_MIRRORED, always returns true. */
bool epochs_given(struct epochs *epochs, uint32_t epoch, uint32_t position);

/* Ends a request that was answered with status 0, and is not for a label. read = true: the reader
 * has read the position, or its sample can't be prepared; the position is consumed. read = false:
 * the position is not consumed, and can be opened again. */
void epochs_released(struct epochs *epochs, uint32_t epoch, uint32_t position, bool read,
	uint64_t now_ns, struct effects *effects);

/* Consumes a position that was opened before a restart, and whose file the reader has closed now.
 * Does nothing if the position is not bound, or is already consumed. */
void epochs_released_before(struct epochs *epochs, uint32_t epoch, uint32_t position,
	uint64_t now_ns, struct effects *effects);

/* Tells the engine that the pins in effects->unpinned are given back. The engine keeps the memory
 * of these pins for later bindings, because an allocation would take longer than the rest of a
 * binding. */
void epochs_unpinned(struct epochs *epochs, struct effects *effects);

/* Tells the engine that the order of an ended epoch is in a file. epochs_reap then returns the
 * epoch. */
void epochs_saved(struct epochs *epochs, uint32_t epoch);

/* Returns an epoch that the engine needs no more, or NULL. The caller frees it by
 * epoch_reaped_free, without holding its lock, because the epoch may have megabytes. */
struct epoch *epochs_reap(struct epochs *epochs);
void epoch_reaped_free(struct epoch *epoch); /* does nothing for NULL */

/* Tells the engine that the orders of epochs before this one were removed. Opens of these epochs
 * fail with -ESTALE from now on. */
void epochs_forget_before(struct epochs *epochs, uint32_t epoch);

/* Tells the engine the time. A job that has read nothing for config.idle_ns is parked: its streams
 * end, and the pins of samples that are not open are dropped. */
void epochs_time(struct epochs *epochs, uint64_t now_ns, struct effects *effects);

/* Removes the job. epochs_resume answers waiting requests with -ENODEV. All pins are dropped, even
 * those of open samples. */
void epochs_leave(struct epochs *epochs, struct effects *effects);

/* --- after a restart ----------------------------------------------------------------- */

/* Replays one record. The caller passes the records of the journal in their order. -EINVAL: the
 * record is impossible, and *ret_reason says why; -ENOMEM. */
must_check int epochs_replay(
	struct epochs *epochs, const struct record *record, const char **ret_reason);

/* Replays a BEGUN with `bound` > 0, or a RESTORED. The first bindings of such an epoch are in an
 * order file. loaded: the epoch that epochs_prepare has made from this file. The engine owns this
 * epoch from now on, even if the replay fails. */
must_check int epochs_replay_loaded(struct epochs *epochs, const struct record *record,
	struct epoch *loaded, const char **ret_reason);

/* The epoch of an order that is in a file, and the number of bindings in this order. */
struct epochs_order_file {
	uint32_t epoch, bound;
};

/* Tells the engine which epochs have orders in files. The caller calls this after the replay of all
 * records. The engine takes over `orders`. Epochs after the running one have not begun, and will
 * have these orders when they begin. If no epoch runs, because the journal is lost, all epochs with
 * orders count as ended. But if the job repeats saved orders (config.replays), they count as not
 * begun. */
void epochs_has_orders(struct epochs *epochs, struct epochs_order_file *orders, size_t n);

/* Ends the replay, and adds records that are missing because the process ended. The caller calls
 * this function until it adds no effect. */
void epochs_replayed(struct epochs *epochs, struct effects *effects);

/* --- going back ---------------------------------------------------------------------- */

/*
 * A job goes back to an earlier point of its progress; positions keep their samples:
 *
 *     epochs_hold -> the orders of live epochs are saved -> epochs_prepare of the epochs
 *     that will run and drain -> epochs_restored, epochs_has_orders, epochs_resume
 *
 * After epochs_hold nothing is bound, and opens wait. The caller must not call epochs_released for
 * a request from before epochs_restored; the `era` of such a request differs from epochs_era.
 */
void epochs_hold(struct epochs *epochs, struct effects *effects);
/* Ends epochs_hold, if the job does not go back after all. */
void epochs_unhold(struct epochs *epochs);

/* Returns the first epoch in memory after the epoch `after`. after = UINT32_MAX: returns the first
 * of all epochs in memory. Returns UINT32_MAX if there is no such epoch. */
uint32_t epochs_next_live(const struct epochs *epochs, uint32_t after);

/* Makes an epoch from the first `bound` bindings and `consumed` reads of an order. Takes over
 * `data`. set: the set of the epoch. The function only reads the engine's configuration, and is no
 * event. -EINVAL: the order is impossible, and *ret_reason says why; -ENOMEM. */
must_check int epochs_prepare(const struct epochs *epochs, const struct epoch_set *set,
	uint32_t number, struct order_data *data, uint32_t bound, uint32_t consumed,
	const char **ret_reason, struct epoch **ret);

/* Makes the job go back: from now on `running` runs, and `draining` drains beside it. Takes over
 * both; draining may be NULL. */
void epochs_restored(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects);

/* Reports the result of EFFECT_LOAD. loaded: an epoch that epochs_prepare has made with 0 reads,
 * and that the engine takes over; or NULL, with status = -errno. */
void epochs_loaded(
	struct epochs *epochs, uint32_t epoch, struct epoch *loaded, int status);
/* Finds an epoch for whose EFFECT_LOAD epochs_loaded has not been called yet. *ret_bound: the
 * number of bindings in the epoch's order. Returns false if there is no such epoch. */
bool epochs_wants_load(
	const struct epochs *epochs, uint32_t *ret_epoch, uint32_t *ret_bound);

/* Returns how many times the job has gone back to an earlier point. */
uint32_t epochs_era(const struct epochs *epochs);
