// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord.h"

/*
 * The engine keeps the group's state, and has the few functions that change it. Each function is
 * atomic. There are two engines: one in the daemon's process (coord_local.h), and one in a server
 * that speaks the Redis protocol (coord_resp.h). An entry that `expires` is lost unless it is
 * renewed. A node whose entry was lost is still known by its name, until the node leaves, or until
 * the function `ready` or an operator makes the group forget the node. The entries:
 *
 *     lead        incarnation of the leader (expires); token, term
 *     node        name -> incarnation, address, capacity        expires
 *     job         facts; epoch; next: the log's length; the nodes that run the job
 *     feed        (job, epoch, rank) -> samples by position
 *     own         (job, rank) -> incarnation                    expires
 *     cursor      (job, rank) -> epoch, position
 *     ready       the last life of the engine in which the log was complete
 *     offers      (life, job, epoch, rank, base) -> samples   until the log is complete
 *     told        (node, name of a set) -> samples              expires
 *     reported    life -> nodes that have offered all their samples
 *
 * The facts of a job are explained in coord_facts.h, the sets that nodes tell in coord_resident.c.
 * Offers and reports serve a repair: each node offers the samples of its journals, then reports.
 *
 * A life of the engine ends when the engine restarts, or when a replica takes over. Each life has a
 * name (run). In a new life the data of the last seconds may be lost. While `ready` does not name
 * the present life, no samples are appended, and no epoch begins.
 *
 *   Threads: one at a time.
 *   Errors: 0 or -errno. -ESTALE: a fence (coord.h) does not hold, because the leader or the log
 *         has changed; or the engine's life has changed. -EBUSY: another node has the lease.
 *         -EEXIST: another live daemon has the node's name. -EPROTO: the group has another
 *         COORD_VERSION. -ENOENT: no such job. -EBADE: the answer is invalid. After all other
 *         errors, such as -ETIMEDOUT and -ECONNRESET, the engine may or may not have done the work,
 *         or may do it later.
 */

#define COORD_TOLD (COORD_NAME + 8) /* bytes of the name of a set, including the \0 */
#define COORD_RUN 48		    /* bytes of the name of a life, including the \0 */

struct coord_token {
	uint64_t term;
	/* An engine that lost its data may use the number of a term again. `random` distinguishes
	 * the two terms. */
	uint64_t random;
};

struct coord_position {
	uint32_t epoch;
	uint32_t position;
};

static inline bool position_before(struct coord_position a, struct coord_position b)
{
	return a.epoch < b.epoch || (a.epoch == b.epoch && a.position < b.position);
}

struct coord_lease {
	const char *job;
	uint32_t rank;
	/* Positions before `cursor` were consumed. If the engine has a later cursor, it keeps the
	 * later one. */
	struct coord_position cursor;
	/* result; -EBUSY: another node has the rank; -ENOENT: the node does not run the job */
	int error;
	struct coord_position ret_cursor; /* cursor in the engine */
};

/* The engine's answer to a heartbeat. */
struct coord_view {
	char run[COORD_RUN];
	bool ready;	 /* the log is complete in this life */
	bool reported;	 /* this node has called `repaired` in this life */
	uint64_t leader; /* incarnation of the leader; 0: none */
	char leader_name[COORD_NAME];
	uint64_t term;
	bool renewed; /* the leader's lease was renewed */
	/* a counter that grows when the answer of coord_engine.jobs changes, except when only a
	 * rank's lease expires */
	uint64_t news;
};

struct coord_engine_job {
	char name[COORD_NAME];
	uint32_t epoch;
	uint32_t next; /* samples in this epoch's log */
	uint32_t n;
	uint32_t ranks, batch;
	uint64_t fingerprint;
	struct coord_position *cursors; /* [ranks] */
	/* [ranks]: incarnation of the node that serves the rank; 0: none */
	uint64_t *owners;
};

struct coord_engine_jobs {
	struct coord_engine_job *jobs; /* sorted by name */
	size_t n;
};
void coord_engine_jobs_free(struct coord_engine_jobs *jobs);
int coord_jobs_by_name(const void *a, const void *b);

struct coord_look {
	struct coord_node *members; /* first the live nodes, by name, then the others */
	size_t n, live;
	struct coord_engine_jobs jobs;
};
void coord_look_free(struct coord_look *look);

struct coord_beat {
	const struct coord_node *self;
	uint32_t ttl_ms;
	struct coord_lease *leases;
	size_t n;
	const struct coord_token *token; /* the leader's; NULL: the node does not lead */
	/* receives the group's nodes and jobs (coord_look_free frees them); NULL: not asked for */
	struct coord_look *look;
};

/* Samples to append to the log, for all ranks. */
struct coord_append {
	const char *job;
	uint32_t epoch;
	uint32_t base; /* length of the log of `epoch` before the call */
	uint32_t count;
	uint32_t ranks, batch; /* as in coord_job */
	const sample_id *ids;  /* those of rank 0, then those of rank 1, and so on */
	/* The next two fields are for coord_engine.fill only: before the call the job's log ends
	 * after was_next samples of epoch was_epoch. If `epoch` is later than was_epoch, `fill`
	 * begins `epoch`, and `base` is 0. */
	uint32_t was_epoch, was_next;
};

static inline uint32_t append_count(const struct coord_append *append, uint32_t rank)
{
	uint32_t end = append->base + append->count;
	return ranks_position(end, append->batch, append->ranks, rank) -
	       ranks_position(append->base, append->batch, append->ranks, rank);
}

/* Returns the index in append->ids of the rank's first sample. */
static inline size_t append_begin(const struct coord_append *append, uint32_t rank)
{
	size_t n = 0;
	while (rank > 0)
		n += append_count(append, --rank);
	return n;
}

struct coord_read {
	const char *job;
	uint32_t epoch;
	uint32_t rank;
	uint32_t ranks, batch; /* as in coord_job */
	uint32_t from;
	uint32_t most;
	sample_id *ids; /* the caller's, with room for `most` samples */
	uint32_t ret_n; /* samples read; 0: no more, or no such feed */
};

struct coord_offer {
	char job[COORD_NAME];
	uint32_t epoch, rank, base, n;
	sample_id *ids;
};

struct coord_offers {
	struct coord_offer *offers;
	size_t n;
};
void coord_offers_free(struct coord_offers *offers);

struct coord_engine {
	void *context;
	bool alone; /* no other node can reach the engine */
	/* Renews the leases of the node and of its ranks for another ttl, and moves the ranks'
	 * cursors forward. Renews the leader's lease if the token is the newest leader's. */
	int (*beat)(void *context, const struct coord_beat *beat, struct coord_view *ret);
	/* Gives back the rank's lease. If `job` is NULL, gives back the node's lease, and the
	 * leader's lease if the node leads. */
	int (*release)(void *context, const struct coord_node *self, const char *job,
		uint32_t rank);
	/* Notes that the node runs the job. The log of a job that is new to the group begins with
	 * job->log, and the cursor of each rank begins at the end of the rank's part of job->log.
	 * -EINVAL: other nodes run a job of this name with other facts (coord_facts.h), or the
	 * group's log is shorter than job->log. The node then does not count as running the job;
	 * `differs` describes the difference. */
	int (*enter)(void *context, const char *node, const struct coord_job *job,
		char differs[COORD_TEXT]);
	int (*leave)(void *context, const char *node, const char *job);
	/* Lists the group's jobs. The caller frees *ret with coord_engine_jobs_free. -ESTALE: the
	 * life has changed, so logs may have become shorter. */
	int (*jobs)(void *context, const char *run, struct coord_engine_jobs *ret);
	/* Sets *ret to the facts of the group's job. The caller frees *ret with
	 * coord_facts_free. */
	int (*facts)(void *context, const char *job, struct coord_job *ret);
	/* Makes the node the leader in a new term, even if the node leads already. -EBUSY: another
	 * node leads. */
	int (*elect)(void *context, const struct coord_node *self, uint64_t random,
		uint32_t ttl_ms, struct coord_token *ret);
	/* Begins epoch e (`epoch`) unless it has begun, and drops the log of epoch e - 2. -EAGAIN:
	 * epoch e - 1 is not completely drawn, or a rank has not read epoch e - 2 to its end. Ranks
	 * that no node serves count, too. */
	int (*open)(void *context, const char *run, const char *job, uint32_t epoch);
	/* Appends samples to the log. -ESTALE: the token is not the newest leader's,
	 * append->epoch is not the running epoch, or append->base is not the log's length. */
	int (*append)(void *context, const char *run, const struct coord_token *token,
		const struct coord_append *append);
	/* Carries out n reads at once. -ESTALE: the life has changed. */
	int (*read)(void *context, const char *run, struct coord_read *reads, size_t n);
	/* Deletes the feeds of an epoch, which must not be the running one. */
	int (*forget)(void *context, const struct coord_token *token, const char *job,
		uint32_t epoch);
	/* Checks the log of the running epoch, and of the previous epoch if a rank still reads that
	 * epoch. -ESTALE: samples were lost. The engine has then dropped the log of the first epoch
	 * that lacks samples, and of later epochs, and the nodes must repair the log. */
	int (*mend)(void *context, const char *run, const char *job);
	/* Offers, for the repair, the samples at consecutive positions of this node's journal. */
	int (*repair)(void *context, const char *run, const struct coord_offer *offer);
	/* Notes that the node has reported: it has offered all samples of its journals. */
	int (*repaired)(void *context, const char *run, const char *node);
	/* Lists all offers of this repair. The caller frees *ret with coord_offers_free. */
	int (*offers)(void *context, const char *run, struct coord_offers *ret);
	/* Sets ret[i] to true if nodes[i] has reported in this repair, and to false otherwise. */
	int (*reported)(void *context, const char *run, const struct coord_node *nodes,
		size_t n, bool *ret);
	/* Appends samples to the log during a repair. The log may end in an earlier epoch than
	 * append->epoch (coord_append.was_epoch). */
	int (*fill)(void *context, const char *run, const struct coord_token *token,
		const struct coord_append *append);
	/* Ends the repair: the log is complete in this life. Also forgets each dead node that has
	 * not reported, so that the next repair does not wait for it. */
	int (*ready)(void *context, const char *run, const struct coord_token *token);
	/* Stores a set of the node's samples for ttl_ms, under the name `what` (at most COORD_TOLD
	 * bytes). The set replaces the node's previous set of this name. */
	int (*tell)(void *context, const char *node, const char *what,
		const roaring_bitmap_t *ids, uint32_t ttl_ms);
	/* Adds to *ret the samples that live nodes have stored under the name `what`. */
	int (*told)(void *context, const char *what, roaring_bitmap_t *ret);
	/* Returns the name of the last request. The pointer `asked` is NULL if the engine is in
	 * this process. */
	const char *(*asked)(void *context);
	/* Returns the server's refusal of the last request, such as "refuses AUTH: why"; "": the
	 * server answered. The pointer `refused` is NULL if the engine never refuses. */
	const char *(*refused)(void *context);
};

void coord_facts_free(struct coord_job *facts);
