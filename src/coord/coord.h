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
 * The coordinator gives the ranks of a group's jobs one common order of samples. An engine that
 * all daemons reach (coord_engine.h) keeps the group's state. For each job and epoch it holds the
 * log: the samples that were drawn, divided into one feed per rank.
 *
 *     leader     draws rounds for all jobs of the group, ahead of the readers, and
 *                appends them:                 sampler -> place -> feeds of the ranks
 *     follower   (each daemon) reads the feeds of the ranks that it serves:
 *                                              feed -> fed() -> journal -> readers
 *                and commits how far readers have consumed them
 *
 * The leader has no state that is not in the log: remaining_j = D_j - log_j. A lease in the engine
 * decides which node leads. Two fences decide whether the engine appends: the token of the newest
 * leader, and the number of samples in the log (next).
 *
 * An engine that lost the end of its log comes back in another life. No node may append until the
 * leader has repaired the log from the journals of the nodes that read it (tail()).
 *
 * Positions: the log of an epoch is a row of global mini-batches of `batch` samples; the
 * last one may be smaller. Of n samples in a mini-batch, rank r has n / ranks, and one
 * more if r < n % ranks. A rank counts its own positions, from 0 in each epoch.
 *
 *   Flow: coord_new, coord_add_job, coord_take_rank; then coord_step at the time that it returned,
 *         or when something changed, and the calls below as readers read.
 *   Owns: copies of all that it is given; not the engine.
 *   Threads: one thread calls all functions, and receives all callbacks. coord_step waits for the
 *         engine, so the caller queues what other threads want.
 *   Clock: none. now_ns comes from the caller, and never goes back.
 *   Errors: 0 or -errno. An engine that can't be reached is no error: coord_status reports it.
 *   Life: coord_free gives no leases back. They expire, unless coord_leave was called.
 */

#define COORD_VERSION 2	  /* version of the engine's contents */
#define COORD_NAME 65	  /* bytes of a node's, job's or dataset's name, with the 0 */
#define COORD_ADDRESS 128 /* bytes of an address, with the 0 */
#define COORD_TEXT 256	  /* bytes of a message, with the 0 */
#define COORD_AT_CURSOR UINT32_MAX
#define COORD_RANKS 4096 /* ranks of a job, at most; [job] ranks has the same limit */
#define COORD_BATCH (1U << 24) /* samples of a global mini-batch, at most */
#define COORD_EPOCHS (UINT32_MAX / 2)

struct coord;
struct coord_engine;

/* A daemon of the group. */
struct coord_node {
	char name[COORD_NAME];
	uint64_t incarnation;	     /* random, not 0; differs at each start */
	char address[COORD_ADDRESS]; /* the node's server for peers; "": none */
	double capacity;
	uint64_t before; /* former incarnation, dead, whose leases are free; 0: none */
	/* Time when the node was last seen live, for coord_members and coord_silent; 0: never. */
	uint64_t heard_ns;
};

/* Facts of a job, which are equal on all nodes that run it. */
struct coord_job {
	const char *name;
	const char *dataset;  /* jobs of one dataset are drawn together */
	uint64_t fingerprint; /* dataset_group_fingerprint of the selected samples */
	uint64_t older; /* fingerprint in trainings of former versions; 0: not known */
	const roaring_bitmap_t *ids; /* D_j, not empty */
	uint32_t ranks;
	uint32_t batch;		/* samples of a global mini-batch, at least `ranks` */
	enum sampler_kind kind; /* the sampler of the job's dataset */
	/*
	 * Where the job goes on if the group does not know it: the first samples of this epoch's
	 * log, in its order, which were consumed. A group whose log is not so far refuses the job.
	 * These fields are no facts: nodes may have different ones, or none (NULL, 0).
	 */
	uint32_t epoch;
	const sample_id *log;
	uint32_t n_log;
	/* Processes that read each rank, 0: one. No fact. */
	uint32_t local_ranks;
};

/* A run of consecutive positions of a rank that the local journal knows. */
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
	/* [ranks]: incarnation of its node; 0: nobody serves it */
	const uint64_t *rank_node;
};

/* Callbacks of the coordinator, which must not call the coordinator. context is the first argument
 * of each. */
struct coord_calls {
	void *context;
	/*
	 * Delivers the rank's samples at the positions base, base + 1 ...: in order, without gaps,
	 * and each position once since coord_take_rank. The callee writes them into its journal
	 * before a reader gets any. Not 0: it failed; a later step calls it again.
	 */
	int (*fed)(void *context, const char *job, uint32_t rank, uint32_t epoch,
		uint32_t base, const sample_id *ids, uint32_t n);
	/* Tells that another node serves the rank now; nothing more is fed. */
	void (*lost)(void *context, const char *job, uint32_t rank);
	/* Returns the last epoch in the local journal of the job, + 1; 0: none. */
	uint32_t (*known)(void *context, const char *job);
	/*
	 * Finds the first run of positions at or after tail->base that the local journal has, of
	 * any incarnation. Sets tail->base to its first position, and returns its length, at most
	 * `most`; 0: there is none.
	 */
	uint32_t (*tail)(
		void *context, struct coord_tail *tail, sample_id *ids, uint32_t most);
	/*
	 * Tells that the log has other samples at these positions than the local journal: the node
	 * was away while the log was repaired. The journal forgets them, so that tail() never
	 * returns them.
	 */
	void (*forget)(void *context, const char *job, uint32_t rank, uint32_t epoch,
		uint32_t base, uint32_t n);
	/*
	 * Assigns the samples of the mini-batch to ranks: rank_of[i] reads ids[i]. Each rank gets
	 * as many as ranks_share says. False, or a NULL pointer: the ranks take them in turn.
	 */
	bool (*place)(void *context, const struct coord_batch *batch, uint32_t *rank_of);
	/* Adds the samples of the dataset that this node holds to `ids`, for exchange. A NULL
	 * pointer: drawn samples count as resident for ever. */
	void (*resident)(void *context, const char *dataset, roaring_bitmap_t *ids);
};

struct coord_options {
	struct coord_node self;
	uint64_t ttl_ns;       /* duration of leases; a node silent for so long is dead */
	uint64_t seed;	       /* differs on each node and at each start */
	uint32_t mini_batches; /* mini-batches drawn ahead, at least; 0: 4 */
	uint64_t most_ids;     /* sum of the largest ids of all jobs, at most; 0: 2^33 */
	struct coord_calls calls;
};

/* Creates a coordinator. It keeps a pointer to the engine, which lives longer. -EINVAL: the node's
 * name is not allowed; -ENOMEM. */
must_check int coord_new(const struct coord_options *options,
	const struct coord_engine *engine, struct coord **ret);
void coord_free(struct coord **coord);

/* Does all work that is due, and returns when it wants to be called again. */
uint64_t coord_step(struct coord *coord, uint64_t now_ns);

/* Sends the cursors a last time, and gives all leases back, so that other nodes need not wait until
 * they expire. Called before coord_free. */
void coord_leave(struct coord *coord);

/*
 * Adds a job that the node runs. A later step compares it with the group's: coord_job_status.
 * -EEXIST: the job is there; -EALREADY: it is there, and neither its start nor the group's log is
 * so far as this one goes on; -EINVAL: no samples, fewer samples in a batch than ranks, a log
 * longer than the job, or a name that is not allowed; -ENOMEM.
 */
must_check int coord_add_job(struct coord *coord, const struct coord_job *job);
/*
 * Removes a job that the node does not run any more. The group forgets it when no node runs it.
 * -ENOENT: no such job; other errors: the engine could not be told, and the job stays, without
 * ranks.
 */
must_check int coord_remove_job(struct coord *coord, const char *job);

/*
 * Lets this node serve the rank from this position on, as soon as no other node does. position
 * COORD_AT_CURSOR: from the group's cursor on; epoch is ignored. -ENOENT: no such job; -EINVAL: no
 * such rank or position; -EALREADY: this node has taken the rank.
 */
must_check int coord_take_rank(struct coord *coord, const char *job, uint32_t rank,
	uint32_t epoch, uint32_t position);
/* Gives the rank back. -ENOENT, -EINVAL: no such job, or rank. */
int coord_drop_rank(struct coord *coord, const char *job, uint32_t rank);

/* Tells that a reader wants the epoch. It begins when the epoch before it was wholly drawn. */
int coord_want(struct coord *coord, const char *job, uint32_t epoch);

/* Tells that all positions of the rank before this one were consumed. A later beat sends it. */
int coord_commit(struct coord *coord, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t position);

/* --- status ------------------------------------------------------------------------------ */

enum coord_state {
	COORD_JOINING, /* has not reached the engine yet */
	COORD_REFUSED, /* another daemon has its name or another protocol: see `message` */
	COORD_FOLLOWS,
	COORD_LEADS,
	COORD_AWAY, /* the engine can't be reached since away_since_ns */
};

struct coord_status {
	enum coord_state state;
	bool repairing; /* the engine may have lost data: the leader waits for journals */
	uint64_t away_since_ns; /* 0: the engine is reached */
	int away_errno;
	char leader[COORD_NAME]; /* "": none, or not known */
	uint64_t term;
	uint64_t leader_changes; /* changes of the leader that this node has seen */
	uint64_t lives;		 /* lives of the engine that this node has seen */
	uint64_t repairs;	 /* repairs that this node made as the leader */
	uint64_t fenced; /* times that this node led and found another leader, or none */
	uint64_t drawn;	 /* samples that this node appended as the leader */
	uint64_t skips;	 /* ranks two epochs behind the others, which had to skip */
	/* Positions at which readers of this node had other samples than the log has now: this node
	 * was away while the log was repaired. */
	uint64_t rebound;
	/* reason for COORD_REFUSED or COORD_AWAY; "": neither */
	char message[COORD_TEXT];
};

void coord_status(const struct coord *coord, struct coord_status *ret);

struct coord_job_status {
	bool entered;	/* the group has the job, with these facts */
	uint32_t epoch; /* the running epoch */
	uint32_t next;	/* samples of the epoch that were drawn, for all ranks */
	uint32_t n;
	char refused[COORD_TEXT]; /* the fact that differs; "": none */
};

must_check int coord_job_status(
	const struct coord *coord, const char *job, struct coord_job_status *ret);

struct coord_rank_status {
	bool held;			     /* this node has the rank's lease */
	uint32_t epoch, position;	     /* the next position that fed() gets */
	uint32_t committed_epoch, committed; /* the engine's cursor */
	/* node that served the rank at the last look; "": none known */
	char owner[COORD_NAME];
};

must_check int coord_rank_status(const struct coord *coord, const char *job,
	uint32_t rank, struct coord_rank_status *ret);

/* Returns the live nodes, with this one, sorted by name. They stay valid until the next step. */
const struct coord_node *coord_members(const struct coord *coord, size_t *ret_n);
/* Returns nodes that are not live and have not left the group. They stay valid until the next
 * step. */
const struct coord_node *coord_silent(const struct coord *coord, size_t *ret_n);
/* Prints the job's ranks that no node served at the last look: "2, 5 to 7"; "": none. */
void coord_unserved(const struct coord *coord, const char *job, char text[COORD_TEXT]);
