// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/coord.h"

/*
 * What the group knows, and the few functions that change it. Each is atomic: an engine
 * does one after the other. There are two: in the process (coord_local.h), and in a server
 * that speaks the Redis protocol (coord_resp.h).
 *
 *     lead        incarnation of the leader, ends by itself     token, term
 *     node        name -> incarnation, address, capacity        ends by itself
 *     job         facts; epoch, next: the log's length          nodes that run it
 *     feed        (job, epoch, rank) -> samples by position
 *     own         (job, rank) -> incarnation                    ends by itself
 *     cursor      (job, rank) -> epoch, position
 *     ready       the life of the engine in which the log is whole
 *     offers      (life, job, epoch, rank, base) -> samples     until the log is whole
 *     told        (node, dataset) -> samples that it holds    ends by itself
 *     reported    life -> nodes that have offered all they know
 *
 * An engine has a name for its life (run): a restart, or a copy of it that takes over,
 * may have forgotten the last seconds, and has another name. As long as `ready` does not
 * name this life, nothing is appended or opened.
 *
 *   Threads: one at a time.
 *   Errors: 0 or -errno. -ESTALE: a fence: another leader, another log, another life of the
 *         engine than the caller thinks. -EBUSY: another one has the lease. -EEXIST: another
 *         live daemon has the node's name. -EPROTO: the group has another version of all
 *         this. -ENOENT: no such job. -EBADE: what was answered is nonsense. All others, -ETIMEDOUT and -ECONNRESET among them: it
 *         may have been done, or not, or will be done later.
 */

#define COORD_RUN 48 /* bytes of the name of a life, with the 0 */

struct coord_token {
	uint64_t term;
	uint64_t random; /* an engine that forgot a term may give it again */
};

struct coord_position {
	uint32_t epoch;
	uint32_t position;
};

/* A rank that a node serves, or wants to. */
struct coord_lease {
	const char *job;
	uint32_t rank;
	struct coord_position
		cursor; /* consumed so far; the engine keeps the larger one */
	/* ret */
	int error; /* -EBUSY: another node's; -ENOENT: no such job, or the node does not run it */
	struct coord_position ret_cursor;
};

/* What a beat tells. */
struct coord_view {
	char run[COORD_RUN];
	bool ready;	 /* in this life */
	bool reported;	 /* by this node, in this life */
	uint64_t leader; /* incarnation; 0: nobody */
	char leader_name[COORD_NAME];
	uint64_t term;
};

/* A job as the engine has it. */
struct coord_engine_job {
	char name[COORD_NAME];
	uint32_t epoch;
	uint32_t next; /* samples in the log of this epoch */
	uint32_t n;
	uint32_t ranks, batch;
	uint64_t fingerprint;
	struct coord_position *cursors; /* of the ranks; the list's */
	uint64_t *owners; /* incarnations of the nodes that serve them; 0: nobody */
};

struct coord_engine_jobs {
	struct coord_engine_job *jobs; /* by name */
	size_t n;
};
void coord_engine_jobs_free(struct coord_engine_jobs *jobs);

/* Samples for all ranks: the next ones of the log. */
struct coord_append {
	const char *job;
	uint32_t epoch;
	uint32_t base; /* what the log has so far */
	uint32_t count;
	uint32_t ranks, batch;	     /* of the job */
	const sample_id *const *ids; /* of each rank: as many as ranks_position says */
	/* fill: the epoch and length of the log so far; others only know this one */
	uint32_t was_epoch, was_next;
};

struct coord_read {
	const char *job;
	uint32_t epoch;
	uint32_t rank;
	uint32_t ranks, batch; /* of the job */
	uint32_t from;	       /* position of the rank */
	uint32_t most;
	sample_id *ids; /* the caller's, has room for `most` */
	uint32_t ret_n; /* samples from `from` on; 0: no more, or no such feed */
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
	bool alone; /* no other node can reach it */
	/* The node is live for another ttl, and so are its ranks; cursors go on. */
	int (*beat)(void *context, const struct coord_node *self, uint32_t ttl_ms,
		struct coord_lease *leases, size_t n, struct coord_view *ret);
	/* Gives back the lease of a rank; of the node and of the leader, if job is NULL. */
	int (*release)(void *context, const struct coord_node *self, const char *job,
		uint32_t rank);
	/* Live nodes, and those that were. */
	int (*members)(
		void *context, struct coord_node **ret, size_t *ret_n, size_t *ret_live);
	/* The node runs the job; the group begins it where it goes on, and all ranks are there.
	 * -EINVAL: other nodes run it with other facts, or are not so far, as `differs` says.
	 * This node does not run it as they do any more. */
	int (*enter)(void *context, const char *node, const struct coord_job *job,
		char differs[COORD_TEXT]);
	int (*leave)(void *context, const char *node, const char *job);
	/* All jobs. In another life of the engine they may be shorter: -ESTALE. */
	int (*jobs)(void *context, const char *run, struct coord_engine_jobs *ret);
	/* Facts of a job. Strings and ids are the caller's: coord_facts_free. */
	int (*facts)(void *context, const char *job, struct coord_job *ret);
	/* -EBUSY: another one leads. A new term, also for the one that leads. */
	int (*elect)(void *context, const struct coord_node *self, uint64_t random,
		uint32_t ttl_ms, struct coord_token *ret);
	int (*renew)(void *context, const struct coord_node *self,
		const struct coord_token *token, uint32_t ttl_ms);
	/* The epoch begins, if the one before was wholly drawn; or has begun. */
	int (*open)(void *context, const char *run, const char *job, uint32_t epoch);
	int (*append)(void *context, const char *run, const struct coord_token *token,
		const struct coord_append *append);
	/* All of them at once, in this life. */
	int (*read)(void *context, const char *run, struct coord_read *reads, size_t n);
	/* The feeds of an epoch that is not the running one are not needed any more. */
	int (*forget)(void *context, const struct coord_token *token, const char *job,
		uint32_t epoch);
	/* A part of the log is not there: if it was lost, the log from there on is dropped, to be
	 * repaired, and -ESTALE. NULL: the engine loses no part of what it has. */
	int (*mend)(void *context, const char *run, const char *job);
	/* Repair: what a journal knows, who has offered all of it, and what the leader makes
	 * of it. */
	int (*repair)(void *context, const char *run, const struct coord_offer *offer);
	int (*repaired)(void *context, const char *run, const char *node);
	int (*offers)(void *context, const char *run, struct coord_offers *ret);
	/* Of these nodes, who has reported. */
	int (*reported)(void *context, const char *run, const struct coord_node *nodes,
		size_t n, bool *ret);
	int (*fill)(void *context, const char *run, const struct coord_token *token,
		const struct coord_append *append);
	/* The log is whole. Nodes that are dead and did not report are forgotten. */
	int (*ready)(void *context, const char *run, const struct coord_token *token);
	/* What the node holds of the dataset, for so long; and what all of them do, added. */
	int (*tell)(void *context, const char *node, const char *dataset,
		const roaring_bitmap_t *ids, uint32_t ttl_ms);
	int (*told)(void *context, const char *dataset, roaring_bitmap_t *ret);
	/* The last that was asked, for messages. NULL: the engine is in this process. */
	const char *(*asked)(void *context);
	/* Names what the server did instead of the last call, as in "refuses AUTH: why"; "": it
	 * answered. The pointer may be NULL: the engine never refuses. */
	const char *(*refused)(void *context);
};

void coord_facts_free(struct coord_job *facts);
