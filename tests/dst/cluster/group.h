// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "../coroutines.h"

#include "../../coord_journal.h"
#include "base/ensure.h"
#include "coord/coord.h"
#include "coord/coord_local_internal.h"
#include "coord/coord_mutant.h"

/*
 * A group of daemons without data. The coordinators and the engine in the process are the real
 * ones. Simulated are: the clock and the schedule (coroutines.c), the connections to the engine
 * and the data that it loses (network.c), the engine's disk (store.c), the journals and readers of
 * the nodes (nodes.c), and the harm (simulate.c). checker.c remembers what readers were told.
 */

#define MOST_NODES 4
#define MOST_RANKS JOURNAL_RANKS
#define MOST_JOBS JOURNAL_JOBS
#define MOST_SAMPLES 40
#define MOST_EPOCHS (JOURNAL_EPOCHS - 2)
#define TTL_NS UINT64_C(1000000000)
#define MS UINT64_C(1000000)

struct group_job {
	struct coord_job facts;
	uint32_t n;
	uint64_t pace_ns; /* time of a reader for a sample */
};

struct node {
	unsigned number;
	struct coord *coord;
	struct coord_engine engine; /* the connection to the engine */
	struct coord_journal journal;
	uint64_t incarnation;
	bool killed; /* its calls have no effect any more */
	bool cut;    /* its requests are lost */
	bool deaf;   /* replies to it are lost */
	bool runs;   /* its coroutine runs */
	uint64_t down_until_ns;
	uint64_t stop_ns;  /* at its next pause the node stops for this time */
	uint64_t clock_ns; /* how far its clock is ahead */
	/* mini-batches placed since the last append */
	roaring_bitmap_t *placed[MOST_SAMPLES];
	unsigned n_placed;
	/* bits of the nodes that reported before this node asked for offers */
	unsigned saw;
	/* when the node was last stopped, cut, deaf or without a reply */
	uint64_t harmed_ns;
	struct {
		bool held;
		struct coord_position delivered, consumed;
		uint64_t next_ns;
	} ranks[MOST_JOBS][MOST_RANKS];
};

struct group_counts {
	uint64_t runs, fed, delivered, appends, elections, kills, stops, cuts, restarts,
		rollbacks, repairs, lost_calls, delayed, fenced, rebound, epochs, placed,
		at_home;
};

struct group {
	struct coord_local *store;
	bool engine_down;
	uint64_t engine_clock_ns, engine_began_ns;
	uint64_t life;
	struct node nodes[MOST_NODES];
	unsigned n_nodes;
	struct group_job jobs[MOST_JOBS];
	unsigned n_jobs;
	bool harm;   /* calls may be lost, delayed and slow */
	bool ending; /* nodes are leaving */
	uint64_t healed_ns;
	bool late_journal; /* a mutant: readers get samples before the journal has them */
	struct group_counts counts;
};

extern struct group group;

/* --- checker.c: a violation aborts ------------------------------------------------------ */

void checker_begin(void);
/* A reader gets the position's sample. */
void checker_delivered(const struct node *node, unsigned job, uint32_t epoch,
	uint32_t rank, uint32_t position, sample_id sample);
/* The rank's reader consumes a sample, perhaps at a position that another reader had before. */
void checker_consumed(unsigned job, uint32_t rank);
/* The ranks of a mini-batch's samples were decided. */
void checker_placed(struct node *node, const struct coord_batch *batch);
void checker_appends(struct node *node, const struct coord_append *append);
/* The engine has appended under the token. */
void checker_appended(unsigned job, const struct coord_token *token);
/* Returns the bits of the nodes that have reported. */
unsigned checker_reported(void);
/* A leader has filled the log, or ended the repair (whole). reported: the bits of the nodes whose
 * reports the leader saw. */
void checker_filled(bool whole, unsigned reported);
/* Checks, after healing, that no reader waits longer than 3 ttl. */
void checker_progress(void);
/* Tells whether all readers have read all epochs, or enough samples after healing. */
bool checker_is_content(void);
void checker_end(void);

/* --- network.c -------------------------------------------------------------------------- */

void network_connect(struct node *node);
void *network_server(void *unused); /* a coroutine that executes delayed requests */

/* --- store.c ---------------------------------------------------------------------------- */

void store_begin(void);
void store_end(void);
void store_save(void);
/* Replaces the engine by one with the data of some time ago; 0: with the present data. */
void store_restart(uint64_t ago_ns);

/* --- nodes.c ---------------------------------------------------------------------------- */

void nodes_start(void);
void nodes_wait(void);
void node_kill(struct node *node, uint64_t down_ns);
