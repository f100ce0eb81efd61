// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/cleanup.h"
#include "epoch/order.h"
#include "epoch/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

/*
 * The engine of one job's epochs. It decides which sample a position holds, which epoch a file of
 * current/ belongs to, when an epoch begins, drains and ends, and which samples are pinned. It is
 * pure: events go in, effects come out. It has no locks, threads, clock or files.
 *
 *  over       an epoch in which nothing more is bound
 *  live       an epoch whose order is in memory
 *  known      an epoch that has an order in a file, and has not begun, or has not begun again since
 *             the job went back (go_back.c)
 *  parked     a job that has read nothing for config.idle_ns: it has no streams, and only the pins
 *             of open files
 *
 *  Flow: an event is one call. It returns a list of effects, which the caller executes before the
 *        next event. The result of an effect comes back as an event:
 *
 *            epochs_open ----> BEGIN ... epochs_begun ----> DRAW ... epochs_take_drawn
 *                 |                                                       |
 *                 +--> ANSWER (bound already)          RECORD, ANSWER <---+
 *            epochs_released ----> RECORD, END
 *
 *  Owns: the epochs and pins. Requests belong to the caller, which must keep them until they are
 *        answered or cancelled.
 *  Threads: the caller serialises the calls.
 *  Errors: a request is answered with 0 or -errno; -ENOMEM from epochs_new.
 *  Life: the RECORD effects, in their order, are the journal. epochs_replay, called for each of
 *        these records, rebuilds the state, except streams, queues and pins, which end with the
 *        process.
 */

struct epochs;

/* Stands for the epoch to which a file of current/ belongs. The engine chooses this epoch
 * (current.c). */
#define EPOCH_CURRENT UINT32_MAX

enum epochs_kind {
	EPOCHS_DRAWN,	      /* an open binds the first sample that was drawn ahead */
	EPOCHS_DRAWN_AT_OPEN, /* an open draws a sample with the position's label */
	EPOCHS_FIXED,	      /* the position decides the sample */
	/* the position decides the sample, equally in all epochs: nothing is bound or consumed */
	EPOCHS_MIRRORED,
};

/* The samples of some successive epochs. The caller owns the set, and never changes it. */
struct epoch_set {
	const roaring_bitmap_t *selection;
	/* the sample of each position; NULL: the samples of `selection`, in ascending order */
	const sample_id *fixed;
	uint32_t positions; /* number of positions of an epoch */
	/* A number for the names of the set's files: it is equal in sets whose files have the same
	 * names. 0: no scan has changed the names. A request has the number of the set in which the
	 * name of its file was looked up. */
	uint32_t names;
	void *owner; /* the caller's pointer; epochs_pins_of compares it */
	/* private to the engine */
	TAILQ_ENTRY(epoch_set) link;
	uint32_t first; /* the first epoch with this set */
};

struct epochs_config {
	enum epochs_kind kind;
	struct epoch_set set; /* the first set; epochs_use_set adds later ones */
	uint32_t limit;	      /* number of epochs that the job may have */
	/* the least look-ahead that the caller uses, in samples; at least 1 */
	uint32_t lookahead;
	/* the largest look-ahead, and the size of an epoch's queue; 0: `lookahead` */
	uint32_t most_ahead;
	uint32_t file; /* number of positions of a file; above 1 for batches and shards */
	/* the job repeats saved orders: its epochs have orders before they begin */
	bool replays;
	/* Other processes decide the samples, as for a rank of a group: the caller passes samples
	 * without an EFFECT_DRAW. `kind` must be EPOCHS_DRAWN. */
	bool fed;
	/* a second script that reads current/ too far from the first one for the same epochs
	 * (NOTICE_SCRIPTS) gets -EBUSY */
	bool refuses_second;
	uint64_t idle_ns; /* the job is parked after this time without reads */
};

must_check int epochs_new(const struct epochs_config *config, struct epochs **ret);
/* The caller has called epochs_leave before, so that the engine has no pins. */
void epochs_free(struct epochs **epochs);

/* Gives another set of samples to the epochs from `first` on, none of which has begun. The caller
 * must not free the set before epochs_drop_set returns it. */
void epochs_use_set(struct epochs *epochs, uint32_t first, struct epoch_set *set);
/* Returns the first epoch after all that have begun or have an order in a file. */
uint32_t epochs_first_new(const struct epochs *epochs);
/* Removes a set that no epoch needs, and returns it to the caller. NULL: all sets are needed. A set
 * is needed by an epoch that is in memory, has an order in a file, or has yet to begin. */
struct epoch_set *epochs_drop_set(struct epochs *epochs);
/* Returns the set of an epoch; EPOCH_CURRENT: of the epoch that a new script would read. */
const struct epoch_set *epochs_set(const struct epochs *epochs, uint32_t epoch);
/* Tells whether a script has opened a file of current/ in the last minute. A script that has ended
 * counts, too: another script may still open files by the names that the ended script has
 * listed. */
bool epochs_current_is_read(const struct epochs *epochs, uint64_t now_ns);
/* Tells the engine that all processes of the script with this number have ended. */
void epochs_script_ended(struct epochs *epochs, uint64_t id);
/* The script that opened a file of current/ last. */
struct epochs_script {
	uint64_t id; /* 0: there is no script, or its number is not known */
	bool ended;
	bool has_rank; /* the rank passed to epochs_last_script is one of the script's */
};
struct epochs_script epochs_last_script(const struct epochs *epochs, uint64_t rank);
/* Returns the set with the most positions, among the sets that current/ may show now. */
const struct epoch_set *epochs_widest_set(const struct epochs *epochs);

/* --- effects ------------------------------------------------------------------------- */

struct drawn {
	sample_id sample;
	enum served served;
	bool pinned; /* the caller has pinned the sample; false: it had no memory for this */
};

/* The pin of a sample that is bound and not consumed. */
struct pin {
	TAILQ_ENTRY(pin) link;
	uint32_t epoch;
	sample_id sample;
	/* private to the engine */
	LIST_ENTRY(pin) chain;
	uint32_t position;
	uint32_t sequence; /* number of earlier bindings of the epoch */
	uint32_t opens;	   /* number of readers that have the file open */
	bool given;
};
TAILQ_HEAD(pins, pin);

struct open_request {
	/* set by the caller */
	uint32_t epoch; /* number of the epoch, or EPOCH_CURRENT */
	uint32_t position, names;
	struct reader reader; /* the thread that opens; needed for EPOCH_CURRENT */
	/* sent again by the kernel after a restart: the earlier engine may have chosen the epoch */
	bool resent;
	/* the file contains images: its open counts as that of an image, even if `label` is set */
	bool images;
	bool done; /* the thread has read its previous file to the end */
	/* the opening process has worker processes that read files for it */
	bool looks;
	/* EFFECT_LOOK_UP was executed for this request, and found no sample */
	bool lost;
	/* only the label is wanted; the caller does not call epochs_released */
	bool label;
	/* set by the engine */
	/* 0 or -errno. -ENOENT: there is no such epoch or position; -ESTALE: the epoch is over, or
	 * its files have other names by now; -EAGAIN: the epoch may not begin yet; -EBUSY: the job
	 * allows no second script; -ENODEV: the job was removed; -ENOMEM; other errors: from
	 * epochs_begun, epochs_starve or epochs_loaded */
	int status;
	uint32_t found_epoch; /* the epoch to which `sample` belongs */
	/* the position's sample; SAMPLE_NONE: the effect is EFFECT_LOOK_UP, or `status` is an
	 * error */
	sample_id sample;
	/* private to the engine */
	TAILQ_ENTRY(open_request) link;
	bool waits;
	bool chosen;	  /* the engine has chosen `awaited` for EPOCH_CURRENT */
	uint32_t era;	  /* epochs_era when the engine handled the request */
	uint32_t awaited; /* the epoch whose stream or order the request waits for */
};

/* Notices to the user about a script. */
enum notice {
	NOTICE_EARLY,	/* a script opened an epoch by number too early */
	NOTICE_LAST,	/* a script reads the last epoch again */
	NOTICE_SCRIPTS, /* two scripts read current/ too far apart for the same epochs */
	/* a script divides the files into parts, such as one for training and one for validation,
	 * as if each file held the same sample in all epochs */
	NOTICE_PARTS,
	NOTICE_LABELS, /* a script uses labels of the previous epoch for images */
	/* The caller, not the engine, gives the next three notices. */
	NOTICE_HANDLES,	 /* a script keeps many files open */
	NOTICE_READERS,	 /* the reading process is not known */
	NOTICE_MACHINES, /* some ranks are on other machines */
	NOTICES
};

enum effect_kind {
	/* Make a stream of the samples of `epoch` that are not bound, and call epochs_begun. */
	EFFECT_BEGIN,
	/* Remove `epoch`'s stream, even if the stream is still being made, and unpin the samples of
	 * `queue`. */
	EFFECT_END,
	/* Draw `sample` for the request that opens `position` of `epoch`. SAMPLE_NONE: draw any
	 * sample; for EPOCHS_DRAWN_AT_OPEN, any sample with the position's label. Then call
	 * epochs_drawn and epochs_take_drawn. */
	EFFECT_DRAW,
	EFFECT_UNPIN,	/* Unpin `sample`, which was pinned for `epoch`. */
	EFFECT_ANSWER,	/* Answer `request`. */
	EFFECT_LOOK_UP, /* Answer `request` from the saved order of its epoch. */
	EFFECT_RECORD,	/* Append `record` to the journal before any answer is given. */
	EFFECT_NOTICE,	/* Tell the user about a script's probable mistake. */
	/* Write the order of `epoch`, which has ended, to a file; call epochs_saved. */
	EFFECT_SAVE,
	/* Load the order of `epoch`, which has begun again; call epochs_loaded. */
	EFFECT_LOAD,
	EFFECT_KINDS
};

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
	struct pins unpinned; /* the caller unpins these, then calls epochs_unpinned */
};

static inline void effects_init(struct effects *effects)
{
	effects->n = 0;
	effects->resumes = false;
	TAILQ_INIT(&effects->unpinned);
}

/* --- events -------------------------------------------------------------------------- */

/* Answers the request at once, or when its epoch has begun, or when a sample was drawn for it.
 * Waiting requests are handled in the order in which they came. */
void epochs_open(struct epochs *epochs, struct open_request *request, uint64_t now_ns,
	struct effects *effects);

/* Takes back a request whose reader gave up: the request gets no answer and no binding. Returns
 * false if the request does not wait. */
bool epochs_cancel(struct epochs *epochs, struct open_request *request);

/* Tells the engine that the epoch's stream was made (status 0) or could not be made (-errno). Does
 * nothing if the engine has demanded by EFFECT_END that the stream be removed. */
void epochs_begun(struct epochs *epochs, uint32_t epoch, int status, uint64_t now_ns);
/* Handles one request that need not wait any more: its stream was made, has failed or has ended, or
 * its order was loaded. But while a new epoch still has samples to keep, keeps some of them
 * instead (adopt_some). The caller calls this function after each event until it returns false, and
 * executes the effects that each call adds. */
must_check bool epochs_resume(
	struct epochs *epochs, uint64_t now_ns, struct effects *effects);

/* Adds a drawn sample to the epoch's queue, which must have room. For a fed job, epochs_resume then
 * handles the waiting requests. */
void epochs_drawn(struct epochs *epochs, uint32_t epoch, const struct drawn *drawn);

/* Sets the status of requests for which a fed job has no sample. 0: the requests wait. -errno:
 * waiting requests get this error in epochs_resume, later requests at once. */
void epochs_starve(struct epochs *epochs, int status);
/* Tells the engine whether another process binds a fed job's positions. If so, this engine answers
 * only opens of bound positions, and the caller reports the bindings of the other process by
 * epochs_had. */
void epochs_lend(struct epochs *epochs, bool lent);
/* Tells the engine whether other ranks of the group wait until this fed job has ended its draining
 * epoch. If so, epochs_time ends the draining epoch as soon as no script reads it. */
void epochs_hurry(struct epochs *epochs, bool hurries);
/* Binds the first queued sample for the request of EFFECT_DRAW, and answers it. */
void epochs_take_drawn(struct epochs *epochs, struct effects *effects);

/* Makes a fed job continue with the epoch, because another process reads it, or because earlier
 * epochs get no more samples. Begins the epoch if necessary; earlier epochs end. -ENOMEM */
must_check int epochs_go_on(
	struct epochs *epochs, uint32_t epoch, struct effects *effects);
/* Tells the engine that a reader of another process has consumed the next sample of a fed job's
 * epoch: the queue's first or, if the queue is empty, `next`. Binds this sample to the first
 * unbound position, which counts as consumed. -ENOMEM */
must_check int epochs_had(
	struct epochs *epochs, uint32_t epoch, sample_id next, struct effects *effects);

/* Makes an epoch leave out a sample: binds it to the position, which counts as consumed. The epoch
 * must have just begun, without a stream. The job's kind must not be EPOCHS_MIRRORED. -ENOMEM;
 * -EEXIST: the epoch has kept the sample or position from the previous epoch. */
must_check int epochs_skip(struct epochs *epochs, uint32_t epoch, uint32_t position,
	sample_id sample, struct effects *effects);
/* Tells the engine that the saved order of an epoch leaves the position out. epochs_skipped
 * lacks the position if there is no memory to note it. */
void epochs_was_skipped(struct epochs *epochs, uint32_t epoch, uint32_t position);

/* Notes that a reader has got the bytes of the position's sample. Returns true if the sample is
 * pinned and no reader has got its bytes before; for EPOCHS_MIRRORED, always. */
bool epochs_given(struct epochs *epochs, uint32_t epoch, uint32_t position);

/* Ends a request that was answered with status 0 and is not for a label. read: the file was read,
 * or the sample can't be prepared, so the position is consumed; false: the position is not
 * consumed. */
void epochs_released(struct epochs *epochs, uint32_t epoch, uint32_t position, bool read,
	uint64_t now_ns, struct effects *effects);

/* Consumes a position that was opened before a restart, and whose file is closed now. Does nothing
 * if the position is not bound, or is already consumed. */
void epochs_released_before(struct epochs *epochs, uint32_t epoch, uint32_t position,
	uint64_t now_ns, struct effects *effects);

/* Tells the engine that the caller has given back the pins in effects->unpinned. The engine reuses
 * their memory, because an allocation would take longer than the rest of a binding. */
void epochs_unpinned(struct epochs *epochs, struct effects *effects);

/* Tells the engine that the order of an ended epoch is in a file now. epochs_reap returns the epoch
 * as soon as none of its samples is pinned. */
void epochs_saved(struct epochs *epochs, uint32_t epoch);

/* Returns an epoch that the engine needs no more; NULL: none. The caller frees the epoch by
 * epoch_reaped_free, without holding a lock, because an epoch may have megabytes. */
struct epoch *epochs_reap(struct epochs *epochs);
void epoch_reaped_free(struct epoch *epoch); /* NULL is allowed */

/* Tells the engine that the order files of all epochs before `epoch` were removed: opens in these
 * epochs get -ESTALE from now on. */
void epochs_forget_before(struct epochs *epochs, uint32_t epoch);

/* Tells the engine the time. The job is parked after config.idle_ns without reads. */
void epochs_time(struct epochs *epochs, uint64_t now_ns, struct effects *effects);

/* Removes the job, and drops all pins, even those of open samples. epochs_resume answers waiting
 * requests with -ENODEV. */
void epochs_leave(struct epochs *epochs, struct effects *effects);

/* --- after a restart ----------------------------------------------------------------- */

/* Replays the next record. -EINVAL: *ret_reason says why the record is impossible; -ENOMEM. */
must_check int epochs_replay(
	struct epochs *epochs, const struct record *record, const char **ret_reason);

/* Replays a BEGUN with `bound` > 0, or a RESTORED. loaded: the epoch, made by epochs_prepare from
 * its order file; the engine takes it over, even if the replay fails. */
must_check int epochs_replay_loaded(struct epochs *epochs, const struct record *record,
	struct epoch *loaded, const char **ret_reason);

/* The epoch of an order in a file, and the number of its bindings. */
struct epochs_order_file {
	uint32_t epoch, bound;
};

/* Tells the engine, after the replay of all records, which epochs have orders in files. Takes over
 * `orders`. Epochs after the running one will have these orders when they begin. If no epoch runs,
 * because the journal is lost, all epochs with orders count as ended or, if the job repeats saved
 * orders (config.replays), as not begun. */
void epochs_has_orders(struct epochs *epochs, struct epochs_order_file *orders, size_t n);

/* Ends the replay, and adds records that are missing because the process ended. The caller calls
 * this function until it adds no effect. */
void epochs_replayed(struct epochs *epochs, struct effects *effects);

/* --- going back ---------------------------------------------------------------------- */

/*
 * A job goes back to an earlier point of its progress; positions keep their samples:
 *
 *    epochs_hold -> the orders of live epochs are saved -> epochs_prepare of the epochs
 *    that will run and drain -> epochs_restored, epochs_has_orders, epochs_resume
 *
 * After epochs_hold nothing is bound, and opens wait. The caller must not call epochs_released for
 * a request that was handled before epochs_restored: such a request has another `era` than
 * epochs_era.
 */
void epochs_hold(struct epochs *epochs, struct effects *effects);
/* Ends epochs_hold, if the job does not go back after all. */
void epochs_unhold(struct epochs *epochs);

/* Returns the number of the first live epoch after epoch `after`; if `after` is UINT32_MAX, of the
 * first live epoch of all. Returns UINT32_MAX if there is no such epoch. */
uint32_t epochs_next_live(const struct epochs *epochs, uint32_t after);

/* Makes an epoch from the order `data`, and takes `data` over. The epoch gets the order's first
 * `bound` bindings and first `consumed` reads. This is no event: it only reads the engine's
 * configuration. -EINVAL: *ret_reason says why the order is impossible; -ENOMEM. */
must_check int epochs_prepare(const struct epochs *epochs, const struct epoch_set *set,
	uint32_t number, struct order *data, uint32_t bound, uint32_t consumed,
	const char **ret_reason, struct epoch **ret);

/* Makes the job go back to these epochs, and takes over both. draining may be NULL. */
void epochs_restored(struct epochs *epochs, struct epoch *running, struct epoch *draining,
	struct effects *effects);

/* Tells the engine the result of EFFECT_LOAD. loaded: the epoch, made by epochs_prepare with 0
 * reads; the engine takes it over. NULL: loading has failed, and `status` is -errno. */
void epochs_loaded(
	struct epochs *epochs, uint32_t epoch, struct epoch *loaded, int status);

/* Returns the number of times that the job has gone back. */
uint32_t epochs_era(const struct epochs *epochs);
