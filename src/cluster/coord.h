// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/ranks.h"
#include "base/types.h"
#include "config/config.h"

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The coordinator: the daemons of a group give the ranks of their jobs one common order.
 * What is true is kept by an engine that all reach (coord_engine.h). For each job and
 * epoch it holds the log: what was drawn, divided into one feed for each rank.
 *
 *     leader     draws rounds for all jobs of the group, ahead of the readers, and
 *                appends them:                 sampler -> place -> feeds of the ranks
 *     follower   (each daemon) reads the feeds of the ranks that it serves:
 *                                              feed -> fed() -> journal -> readers
 *                and commits how far they were consumed
 *
 * The leader keeps nothing that is not in the log: remaining_j = D_j - log_j. Who leads
 * is decided by a lease in the engine, and what is appended by two fences: the token of
 * the newest leader, and the number of samples that the log has (next).
 *
 * An engine that lost the end of its log comes back in another life: no node may append
 * until the leader has repaired the log from the journals of those who read it (tail()).
 *
 * Positions: the log of an epoch is a row of global mini-batches of `batch` samples; the
 * last one may be smaller. Of n samples in a mini-batch, rank r has n / ranks, and one
 * more if r < n % ranks. A rank counts its own positions, from 0 in each epoch.
 *
 *   Flow: coord_new, coord_add_job, coord_take_rank; then coord_step whenever it asks to be
 *         called, or when something changed, and the calls below as readers read.
 *   Owns: copies of all that it is given; not the engine.
 *   Threads: one calls all functions, and is called back. coord_step waits for the engine:
 *         what other threads want is queued by the caller.
 *   Clock: none: now_ns comes from the caller, and never goes back.
 *   Errors: 0 or -errno; an engine that can't be reached is no error: coord_status tells.
 *   Life: coord_free gives no lease back: they end by themselves, or coord_leave was called.
 */

#define COORD_VERSION 2	  /* of what is in the engine */
#define COORD_NAME 65	  /* bytes of the name of a node, job or dataset, with the 0 */
#define COORD_ADDRESS 128 /* bytes of an address */
#define COORD_TEXT 256	  /* bytes of a message */
#define COORD_AT_CURSOR UINT32_MAX
#define COORD_RANKS 4096       /* most, as [job] ranks */
#define COORD_BATCH (1U << 24) /* most samples of a global mini-batch */
#define COORD_EPOCHS (UINT32_MAX / 2)

struct coord;
struct coord_engine;

/* A daemon of the group. */
struct coord_node {
	char name[COORD_NAME];
	uint64_t incarnation;	     /* random, another one at each start; not 0 */
	char address[COORD_ADDRESS]; /* of its server for peers */
	double capacity;
	uint64_t before; /* its dead incarnation, whose leases are free; 0: none */
	uint64_t
		heard_ns; /* coord_members, coord_silent: when it was last seen live; 0: never */
};

/* Facts of a job, the same on all nodes that run it. */
struct coord_job {
	const char *name;
	const char *dataset;  /* jobs of one dataset are drawn together */
	uint64_t fingerprint; /* of the selected samples: dataset_group_fingerprint */
	uint64_t older; /* as versions before had it, for their trainings; 0: not known */
	const roaring_bitmap_t *ids; /* D_j, not empty */
	uint32_t ranks;
	uint32_t batch;		/* samples of a global mini-batch, at least `ranks` */
	enum sampler_kind kind; /* the dataset's */
	/*
	 * Where the job goes on if the group does not know it: the first samples of the log of
	 * this epoch, in its order, which were consumed. A group that is not so far with the
	 * job refuses it. Not a fact: nodes may come with different ones, or none (NULL, 0).
	 */
	uint32_t epoch;
	const sample_id *log;
	uint32_t n_log;
};

/* A run of positions of a rank that the local journal knows. */
struct coord_tail {
	const char *job;
	uint32_t rank;
	uint32_t epoch;
	uint32_t base;
};

/* A global mini-batch that the leader has drawn. */
struct coord_batch {
	const char *job, *dataset;
	const sample_id *ids;
	uint32_t n, ranks;
	const uint64_t
		*rank_node; /* [ranks]: incarnation of its node; 0: nobody serves it */
};

/* What the coordinator calls, which does not call the coordinator then; context is the
 * first argument of each. */
struct coord_calls {
	void *context;
	/*
	 * The rank's samples at the positions base, base + 1 ...: in order, without gaps,
	 * and each once since coord_take_rank. The callee writes them into its journal before
	 * a reader gets any. Not 0: it could not; it is called again in a later step.
	 */
	int (*fed)(void *context, const char *job, uint32_t rank, uint32_t epoch,
		uint32_t base, const sample_id *ids, uint32_t n);
	/* Another node serves the rank now; nothing more is fed. */
	void (*lost)(void *context, const char *job, uint32_t rank);
	/* The last epoch of which the local journal knows a position of the job, + 1; 0: none. */
	uint32_t (*known)(void *context, const char *job);
	/*
	 * The first run of positions at or after tail->base that the local journal knows, from
	 * whatever incarnation: tail->base becomes its first one; returns how many, at most
	 * `most`; 0: there is none.
	 */
	uint32_t (*tail)(
		void *context, struct coord_tail *tail, sample_id *ids, uint32_t most);
	/*
	 * The log has these positions otherwise than the local journal: the node was away
	 * while it was repaired. The journal forgets them, so that they are never offered.
	 */
	void (*forget)(void *context, const char *job, uint32_t rank, uint32_t epoch,
		uint32_t base, uint32_t n);
	/*
	 * Who reads which sample of the mini-batch: rank_of[i] for ids[i]. Each rank gets as
	 * many as ranks_share says. False, or NULL: the ranks take the samples in turn.
	 */
	bool (*place)(void *context, const struct coord_batch *batch, uint32_t *rank_of);
	/* Adds to `ids` what this node holds of the dataset, for exchange. NULL: what was drawn
	 * is taken for resident for ever. */
	void (*resident)(void *context, const char *dataset, roaring_bitmap_t *ids);
};

struct coord_options {
	struct coord_node self;
	uint64_t ttl_ns;       /* of leases: a node that is silent for so long is dead */
	uint64_t seed;	       /* another one on each node and at each start */
	uint32_t mini_batches; /* drawn ahead, at least; 0: 4 */
	uint64_t most_ids;     /* of all jobs that it draws for, together; 0: 2^33 */
	struct coord_calls calls;
};

/* Keeps a pointer to the engine, which lives longer. */
must_check int coord_new(const struct coord_options *options,
	const struct coord_engine *engine, struct coord **ret);
void coord_free(struct coord **coord);

/* Does what is due; returns when it wants to be called again. */
uint64_t coord_step(struct coord *coord, uint64_t now_ns);

/* Sends the cursors a last time, and gives all leases back, so that others need not wait for
 * their end; before coord_free. */
void coord_leave(struct coord *coord);

/*
 * The node runs the job. What differs from what the group has of it is found in a later
 * step: coord_job_status. -EEXIST, -EALREADY (it is there, and not so far as this one goes on),
 * -EINVAL (no samples, fewer samples in a batch than
 * ranks, a log of more samples, too long a name), -ENOMEM.
 */
must_check int coord_add_job(struct coord *coord, const struct coord_job *job);
/*
 * The node does not run the job any more. When no node does, the group forgets it. -ENOENT;
 * otherwise the engine could not be told: the job is still there, without ranks.
 */
must_check int coord_remove_job(struct coord *coord, const char *job);

/*
 * This node serves the rank from there, as soon as no other node does. COORD_AT_CURSOR as
 * position: from where the group knows that it was consumed; epoch is ignored.
 * -ENOENT, -EINVAL, -EALREADY.
 */
must_check int coord_take_rank(struct coord *coord, const char *job, uint32_t rank,
	uint32_t epoch, uint32_t position);
int coord_drop_rank(struct coord *coord, const char *job, uint32_t rank);

/* A reader wants the epoch: it begins if it is the next after one that was wholly drawn. */
int coord_want(struct coord *coord, const char *job, uint32_t epoch);

/* All positions of the rank before this one were consumed. Cheap: sent now and then. */
int coord_commit(struct coord *coord, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t position);

/* --- what is the matter ----------------------------------------------------------------- */

enum coord_state {
	COORD_JOINING, /* has not reached the engine yet */
	COORD_REFUSED, /* another daemon has its name, or another protocol: message */
	COORD_FOLLOWS,
	COORD_LEADS,
	COORD_AWAY, /* the engine can't be reached since away_since_ns */
};

struct coord_status {
	enum coord_state state;
	bool repairing; /* the engine has lost something: the leader waits for journals */
	uint64_t away_since_ns; /* 0: it is reached */
	int away_errno;
	char leader[COORD_NAME]; /* "": nobody, or not known */
	uint64_t term;
	uint64_t leader_changes; /* that this node has seen */
	uint64_t lives;		 /* of the engine that it has seen */
	uint64_t repairs;	 /* that it made as the leader */
	uint64_t fenced;	 /* times that it was leader and was not any more */
	uint64_t drawn;		 /* samples that it has appended as the leader */
	uint64_t skips; /* of ranks two epochs behind the others, which had to go on */
	/* Positions that readers here had, and that the log has otherwise: this node was away
	 * while the log was repaired. */
	uint64_t rebound;
	char message[COORD_TEXT]; /* why it was refused, or is away; "" */
};

void coord_status(const struct coord *coord, struct coord_status *ret);

struct coord_job_status {
	bool entered;	/* the group knows the job, with the same facts */
	uint32_t epoch; /* the running one */
	uint32_t next;	/* samples of it that were drawn, of all ranks */
	uint32_t n;
	char refused[COORD_TEXT]; /* which fact differs; "" */
};

must_check int coord_job_status(
	const struct coord *coord, const char *job, struct coord_job_status *ret);

struct coord_rank_status {
	bool held;			     /* by this node */
	uint32_t epoch, position;	     /* the next that it will be fed */
	uint32_t committed_epoch, committed; /* as the engine knows */
	char owner
		[COORD_NAME]; /* the node that serves it, as of lately; "": none is known */
};

must_check int coord_rank_status(const struct coord *coord, const char *job,
	uint32_t rank, struct coord_rank_status *ret);

/* Who is live, this node among them, by name; the coordinator's, until the next step. */
const struct coord_node *coord_members(const struct coord *coord, size_t *ret_n);
/* Nodes that have not left the group and are not live; likewise. */
const struct coord_node *coord_silent(const struct coord *coord, size_t *ret_n);
/* The ranks of the job that no node serves, as of lately: "2, 5 to 7"; "": none. */
void coord_unserved(const struct coord *coord, const char *job, char text[COORD_TEXT]);
