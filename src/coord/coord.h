// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/rank_parts.h"
#include "base/types.h"
#include "config/config.h"

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The coordinator gives the ranks of a job one common order of samples, on all nodes of a group.
 * The state of the group is in an engine, usually a server that all nodes can reach
 * (coord_engine.h). For each job and epoch the engine holds the log: the drawn samples, divided
 * into one feed per rank.
 *
 *   leader     (one node) draws samples for all jobs of the group, ahead of the readers:
 *              sampler -> place -> feeds of the ranks
 *   follower   (each node) reads the feeds of the ranks that it serves:
 *              feed -> fed() -> journal -> readers
 *              and commits how far readers have consumed them
 *
 * The leader has no state beyond the log: the samples that job j has yet to draw are its samples
 * without those in its log, remaining_j = D_j - log_j. A lease in the engine decides which node
 * leads, and each new leader gets a token. The engine appends samples only if two conditions
 * (fences) hold: the node has the newest leader's token, and knows the number of samples in the
 * log (next).
 *
 * A lease is the right to lead, to serve a rank, or to count as alive. A node renews its leases by
 * a heartbeat. A rank's cursor is the position before which its readers have consumed all samples.
 *
 * An engine that restarts may have lost the end of its log, so it begins a new life
 * (coord_engine.h). In a new life no node may append until the leader has repaired the log from the
 * nodes' journals. The callback tail() reads a node's journal.
 *
 * Positions: the log of an epoch is a sequence of global mini-batches of `batch` samples; the last
 * one may be smaller. Of n samples in a mini-batch, rank r gets n / ranks, and one more if r < n %
 * ranks. A rank counts its own positions, from 0 in each epoch.
 *
 *   Flow: coord_new, coord_add_job, coord_take_rank. Then the caller calls coord_step at the time
 *         that the previous coord_step returned, or earlier if something has changed, and calls
 *         coord_want and coord_commit as readers read.
 *   Owns: copies of all data that it is given; not the engine.
 *   Threads: one thread calls all functions, and receives all callbacks. coord_step waits for the
 *         engine, so the caller queues the requests of other threads.
 *   Clock: now_ns comes from the caller, and never goes back.
 *   Errors: 0 or -errno. An engine that can't be reached is no error: coord_status reports it.
 *   Life: coord_free gives no leases back. They expire, unless coord_leave was called.
 */

#define COORD_VERSION 2 /* version of the engine's data and functions */
#define COORD_NAME 65 /* bytes of the name of a node, job or dataset, including the \0 */
#define COORD_ADDRESS 128 /* bytes of an address, including the \0 */
#define COORD_TEXT 256	  /* bytes of a message, including the \0 */
#define COORD_AT_CURSOR UINT32_MAX
#define COORD_RANKS 4096       /* most ranks of a job; [job] ranks has the same limit */
#define COORD_BATCH (1U << 24) /* most samples of a global mini-batch */
#define COORD_EPOCHS (UINT32_MAX / 2) /* largest number of an epoch */

struct coord;
struct coord_engine;

struct coord_node {
	char name[COORD_NAME];
	uint64_t incarnation; /* random; differs at each start of the daemon; never 0 */
	char address[COORD_ADDRESS]; /* other nodes fetch tensors there; "": none */
	/* share of the samples whose home is this node, in any unit; more than 0 (place.h) */
	double capacity;
	/* incarnation of the node's previous daemon, which used the same state directory; this
	 * daemon may take over the previous daemon's leases; 0: not known */
	uint64_t before;
	uint64_t heard_ns; /* when the node was last seen alive; 0: never */
};

/* A job; its fields must be equal on all nodes that run it, unless a comment says otherwise. */
struct coord_job {
	const char *name;
	const char *dataset;  /* jobs of one dataset are drawn together */
	uint64_t fingerprint; /* dataset_group_fingerprint of the samples */
	/* fingerprint as earlier versions of joaderfs computed it; 0: not known */
	uint64_t older;
	const roaring_bitmap_t *ids; /* samples of the job (D_j above), at least one */
	uint32_t ranks;
	uint32_t batch;		/* samples in a global mini-batch, at least `ranks` */
	enum sampler_kind kind; /* sampler of the job's dataset */
	/* `epoch`, `log` and `n_log` tell where an imported job begins. The job's ranks have
	 * consumed the first n_log samples of `epoch` before the import, and `log` has these
	 * samples in order. The group's log of a new job begins with these samples. Nothing is
	 * imported if other nodes run the job; the group even refuses this job if the group's log
	 * ends earlier, because that log lacks consumed samples. Nodes may set these fields
	 * differently, or not at all (NULL, 0). */
	uint32_t epoch;
	const sample_id *log;
	uint32_t n_log;
	/* number of processes that together read one rank's samples; 0: one. Nodes may differ in
	 * this field. */
	uint32_t local_ranks;
};

/* A request for consecutive positions of a rank in the local journal; see tail(). */
struct coord_tail {
	const char *job;
	uint32_t rank;
	uint32_t epoch;
	uint32_t base;
};

struct coord_batch {
	const char *dataset;
	const sample_id *ids;
	uint32_t n, ranks;
	/* [ranks]: incarnation of the node that serves the rank; 0: no node */
	const uint64_t *rank_node;
	/* samples that are not in the cache of their home (place.h); NULL: not known */
	const roaring_bitmap_t *lacked;
};

/* The callbacks must not call the coordinator. */
struct coord_calls {
	void *context;
	/* Delivers the n samples of a rank from position `base` on. After coord_take_rank each
	 * position comes once, in order and without gaps. The callee must write the samples to its
	 * journal before any reader gets them. After an error a later step repeats the call. */
	int (*fed)(void *context, const char *job, uint32_t rank, uint32_t epoch,
		uint32_t base, const sample_id *ids, uint32_t n);
	/* Tells that this node no longer serves the rank: calls of fed() have ended. */
	void (*lost)(void *context, const char *job, uint32_t rank);
	/* Returns 1 + the job's last epoch in the local journal; 0: the journal has none. */
	uint32_t (*known)(void *context, const char *job);
	/* Reads the local journal for a repair, including the records from before the daemon's last
	 * start. Looks for the first position >= tail->base that the journal has, and sets
	 * tail->base to it. Copies the samples of this and the next consecutive positions to `ids`,
	 * and returns their number, at most `most`; 0: the journal has no such position. */
	uint32_t (*tail)(
		void *context, struct coord_tail *tail, sample_id *ids, uint32_t most);
	/* Tells that the repaired log and the local journal have different samples at n positions,
	 * the first of which is `base`. tail() must never return these positions again. */
	void (*forget)(void *context, const char *job, uint32_t rank, uint32_t epoch,
		uint32_t base, uint32_t n);
	/* Tells that the engine no longer has the rank's samples from `position` of `epoch` on,
	 * because both the engine and this node have forgotten how far the rank had read. The rank
	 * continues with epoch `to`: the next fed() delivers the first sample of epoch `to`, and
	 * readers of earlier epochs get no more samples. A later step repeats a call that has
	 * failed. */
	int (*skipped)(void *context, const char *job, uint32_t rank, uint32_t epoch,
		uint32_t position, uint32_t to);
	/* Sets rank_of[i] to the rank of batch->ids[i]; each rank must get as many as ranks_share
	 * says. If `place` is NULL or returns false, samples are dealt to the ranks in turn. */
	bool (*place)(void *context, const struct coord_batch *batch, uint32_t *rank_of);
	/* Adds the dataset's samples in this node's cache to `ids`, for the sampler `exchange`. If
	 * `resident` is NULL, every drawn sample counts as cached for ever. */
	void (*resident)(void *context, const char *dataset, roaring_bitmap_t *ids);
	/* Adds to `ids` the dataset's samples with three properties: trainings still need the
	 * sample, its home (place.h) is this node, and this node's cache lacks it. If `lacked` is
	 * NULL, none are known. */
	void (*lacked)(void *context, const char *dataset, roaring_bitmap_t *ids);
};

struct coord_options {
	struct coord_node self;
	uint64_t ttl_ns;       /* duration of leases; a node silent for longer is dead */
	uint64_t seed;	       /* differs on each node and at each start */
	uint32_t mini_batches; /* least number of mini-batches drawn ahead; 0 means 4 */
	/* limit of the sum of (largest id + 1) over all jobs of the group, because the samplers'
	 * memory grows with this sum; a leader beyond the limit draws nothing, and reports
	 * COORD_AWAY; 0 means 2^33 */
	uint64_t most_ids;
	struct coord_calls calls;
};

/* The engine must outlive the coordinator. -EINVAL: the node's name is not allowed; -ENOMEM. */
must_check int coord_new(const struct coord_options *options,
	const struct coord_engine *engine, struct coord **ret);
void coord_free(struct coord **coord);

/* Does all work that is due. Returns the time of the next call. */
uint64_t coord_step(struct coord *coord, uint64_t now_ns);

/* Sends the consumed positions a last time, and gives all leases back, so that other nodes need not
 * wait until the leases expire. The caller then calls coord_free. */
void coord_leave(struct coord *coord);

/*
 * Adds a job that this node runs. A later step compares the job with the group's job of this name
 * (coord_job_status).
 *   -EEXIST    a job of this name was added before
 *   -EALREADY  a job of this name was added before, and begins earlier. The new job begins behind
 *              the end of the group's log, so the new job's `log` has no effect.
 *   -EINVAL    the job has no samples; a batch has fewer samples than there are ranks; the log has
 *              more samples than the job; or the name is not allowed
 *   -ENOMEM
 */
must_check int coord_add_job(struct coord *coord, const struct coord_job *job);
/* Removes a job that this node runs no more. The group forgets the job when no node runs it.
 * -ENOENT: no such job. Other errors: the engine could not be told, so the job stays, but this node
 * serves none of the job's ranks. */
must_check int coord_remove_job(struct coord *coord, const char *job);

/* Makes this node serve the rank as soon as no other node serves it. fed() begins at `position` of
 * `epoch`. If `position` is COORD_AT_CURSOR, fed() begins at the rank's cursor in the engine, and
 * `epoch` is ignored. -ENOENT: no such job; -EINVAL: no such rank or position; -EALREADY: this node
 * has already taken the rank. */
must_check int coord_take_rank(struct coord *coord, const char *job, uint32_t rank,
	uint32_t epoch, uint32_t position);
/* Gives the rank's lease back. -ENOENT: no such job; -EINVAL: no such rank. */
int coord_drop_rank(struct coord *coord, const char *job, uint32_t rank);

/* Notes that a reader wants the epoch. Epoch e begins when epoch e - 1 is completely drawn, and all
 * ranks, even those that no node serves, have read epoch e - 2 to its end. -ENOENT: no such job. */
int coord_want(struct coord *coord, const char *job, uint32_t epoch);

/* Notes that readers have consumed all positions of the rank before this position. -ENOENT: no such
 * job; -EINVAL: no such rank. */
int coord_commit(struct coord *coord, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t position);

/* --- status ------------------------------------------------------------------------------ */

enum coord_state {
	COORD_JOINING, /* the engine has not answered yet */
	COORD_REFUSED, /* the name is in use, or COORD_VERSION differs; see `message` */
	COORD_FOLLOWS,
	COORD_LEADS,
	COORD_AWAY, /* the engine has been unreachable since away_since_ns */
};

struct coord_status {
	enum coord_state state;
	bool repairing; /* the log is not complete: the leader waits for journals */
	uint64_t away_since_ns; /* 0: the engine can be reached */
	int away_errno;
	char leader[COORD_NAME]; /* "": none, or not known */
	uint64_t term;
	uint64_t lives; /* lives of the engine (coord_engine.h) that this node has seen */
	uint64_t repairs; /* repairs that this node made as leader */
	uint64_t fenced;  /* heartbeats that did not renew this node's lease to lead */
	uint64_t drawn;	  /* samples appended by this node as the leader */
	uint64_t skips;	  /* calls of coord_calls.skipped */
	/* positions at which this node's readers got other samples than the repaired log has */
	uint64_t rebound;
	char message[COORD_TEXT]; /* reason for COORD_REFUSED or COORD_AWAY; or "" */
};

void coord_status(const struct coord *coord, struct coord_status *ret);

struct coord_job_status {
	bool entered;	/* the group has the job, and does not refuse this node's job */
	uint32_t epoch; /* the running epoch */
	uint32_t next;	/* samples drawn in this epoch, for all ranks */
	uint32_t n;
	char refused[COORD_TEXT]; /* first difference from the group's job; "": none */
};

must_check int coord_job_status(
	const struct coord *coord, const char *job, struct coord_job_status *ret);

struct coord_rank_status {
	bool held;		  /* this node has the rank's lease */
	uint32_t epoch, position; /* the epoch and the position that fed() gets next */
	uint32_t committed_epoch, committed; /* cursor confirmed by the engine */
	/* node that served the rank when the engine was last asked; "": none, or not known */
	char owner[COORD_NAME];
	bool behind; /* the rank holds back the next epoch (coord_behind) */
};

must_check int coord_rank_status(const struct coord *coord, const char *job,
	uint32_t rank, struct coord_rank_status *ret);

/* Returns the live nodes, this node too, sorted by name; valid until the next step. */
const struct coord_node *coord_members(const struct coord *coord, size_t *ret_n);
/* Returns the nodes that are not live and have not left; valid until the next step. */
const struct coord_node *coord_silent(const struct coord *coord, size_t *ret_n);
/* Prints the ranks that no node served when the engine was last asked, as "2, 5 to 7"; "": none. */
void coord_unserved(const struct coord *coord, const char *job, char text[COORD_TEXT]);
/* Prints the ranks that held back the next epoch e when the engine was last asked: they had not
 * read epoch e - 2 to its end, and another rank waited for epoch e. "": none. */
void coord_behind(const struct coord *coord, const char *job, char text[COORD_TEXT]);
