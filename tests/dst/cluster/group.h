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
 * A group of daemons without data: coordinators as they are, over the engine in the
 * process. Simulated is what is around them: clock and schedule (coroutines.c), the way to
 * the engine and what it loses (network.c), the engine's disk (store.c), journals and
 * readers of the nodes (nodes.c), and who does harm (simulate.c). checker.c remembers what
 * readers were told.
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
	uint64_t pace_ns; /* of a reader, for a sample */
};

struct node {
	unsigned number;
	struct coord *coord;
	struct coord_engine engine; /* the way to it */
	struct coord_journal journal;
	uint64_t incarnation;
	bool killed; /* no call of it has an effect any more */
	bool cut;    /* its requests are lost */
	bool deaf;   /* replies to it are lost */
	bool runs;   /* its coroutine */
	uint64_t down_until_ns;
	uint64_t stop_ns;  /* it is stopped for so long, at its next pause */
	uint64_t clock_ns; /* so much is its clock ahead */
	roaring_bitmap_t *placed[MOST_SAMPLES]; /* mini-batches since the last append */
	unsigned n_placed;
	unsigned saw; /* who had reported when it asked for what they offered, by bits */
	uint64_t harmed_ns; /* when something of the above was the matter last */
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
	bool ending; /* nodes go */
	uint64_t healed_ns;
	bool late_journal; /* the mutant: delivered before it is written */
	struct group_counts counts;
};

extern struct group group;

/* --- checker.c: a violation aborts ------------------------------------------------------ */

void checker_begin(void);
/* A reader gets the position. */
void checker_delivered(const struct node *node, unsigned job, uint32_t epoch,
	uint32_t rank, uint32_t position, sample_id sample);
/* A reader goes on, perhaps through what another one had before. */
void checker_consumed(unsigned job, uint32_t rank);
/* Who reads which of a mini-batch was decided; and it is appended. */
void checker_placed(struct node *node, const struct coord_batch *batch);
void checker_appends(struct node *node, const struct coord_append *append);
/* The engine has appended under the token. */
void checker_appended(unsigned job, const struct coord_token *token);
/* Who has reported, by bits. */
unsigned checker_reported(void);
/* A leader has filled the log, or ended the repair, after it saw what these had reported. */
void checker_filled(bool whole, unsigned reported);
/* Nobody waits longer than 3 ttl; after healing. */
void checker_progress(void);
/* All readers have had all, or as much after healing as is asked for. */
bool checker_is_content(void);
void checker_end(void);

/* --- network.c -------------------------------------------------------------------------- */

void network_connect(struct node *node);
void *network_server(void *unused); /* a coroutine: requests that are done late */

/* --- store.c ---------------------------------------------------------------------------- */

void store_begin(void);
void store_end(void);
void store_save(void);
/* The engine is another one, which is as it was some time ago; 0: as it is. */
void store_restart(uint64_t ago_ns);

/* --- nodes.c ---------------------------------------------------------------------------- */

void nodes_start(void);
void nodes_wait(void);
void node_kill(struct node *node, uint64_t down_ns);
