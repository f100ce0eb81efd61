// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "coord/coord_local.h"
#include "coord/coord_mutant.h"

#include <sys/queue.h>

struct local_node {
	LIST_ENTRY(local_node) link;
	struct coord_node node;
	uint64_t until_ns;
};

/* The feeds of all ranks of a job for one epoch. */
struct local_feed {
	LIST_ENTRY(local_feed) link;
	uint32_t epoch;
	uint32_t ranks;
	struct local_rank_feed {
		sample_id *ids;
		uint32_t n, room;
	} rank[];
};

struct local_rank {
	uint64_t owner;
	uint64_t until_ns;
	struct coord_position cursor;
};

struct local_runner {
	LIST_ENTRY(local_runner) link;
	char node[COORD_NAME];
};

LIST_HEAD(local_runners, local_runner);

struct local_job {
	LIST_ENTRY(local_job) link;
	char name[COORD_NAME], dataset[COORD_NAME];
	struct coord_job facts; /* `name` and `dataset` point to the arrays above */
	roaring_bitmap_t *ids;
	uint32_t n;
	uint32_t epoch, next;
	struct local_rank *ranks;
	LIST_HEAD(, local_feed) feeds;
	struct local_runners runners; /* the nodes that run the job */
};

struct local_told {
	LIST_ENTRY(local_told) link;
	char node[COORD_NAME], what[COORD_TOLD];
	roaring_bitmap_t *ids;
	uint64_t until_ns;
};

struct coord_local {
	struct coord_engine engine;
	uint64_t (*now_ns)(void *context);
	void *clock;
	uint64_t life;
	char run[COORD_RUN], is_ready[COORD_RUN];
	uint64_t leader, leader_until_ns;
	struct coord_token token;
	uint64_t news;
	LIST_HEAD(, local_node) nodes;
	LIST_HEAD(, local_job) jobs;
	LIST_HEAD(, local_told) told;
	/* offers and reports in the engine's present life (coord_engine.h) */
	struct coord_offers offers;
	struct local_runners reported;
};

/* --- coord_local.c ---------------------------------------------------------------------- */

struct local_job *local_find(struct coord_local *local, const char *job);
bool local_is_live(struct coord_local *local, const char *node);
bool local_token_is(const struct coord_local *local, const struct coord_token *token);
/* Forgets dead nodes that have not reported: no repair shall wait for them. */
void local_forget_dead(struct coord_local *local);
/* Forgets the offers and reports of the present life. */
void local_forget_life(struct coord_local *local);

/* --- coord_local_jobs.c ----------------------------------------------------------------- */

void local_job_free(struct local_job *job);
/* Returns the node's entry in the list; NULL: there is none. */
struct local_runner *local_runner(const struct local_runners *list, const char *node);
must_check int local_add_runner(struct local_runners *list, const char *node);
int local_enter(
	void *context, const char *node, const struct coord_job *job, char *differs);
int local_leave(void *context, const char *node, const char *job);
int local_jobs(void *context, const char *run, struct coord_engine_jobs *ret);
int local_tell(void *context, const char *node, const char *dataset,
	const roaring_bitmap_t *ids, uint32_t ttl_ms);
int local_told(void *context, const char *dataset, roaring_bitmap_t *ret);
void local_told_free(struct local_told *told);
int local_facts(void *context, const char *job, struct coord_job *ret);

/* --- coord_local_log.c ------------------------------------------------------------------ */

void local_feed_free(struct local_feed *feed);
must_check int local_append_to(struct local_job *job, const struct coord_append *append);
int local_open(void *context, const char *run, const char *job, uint32_t epoch);
int local_append(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *append);
int local_read(void *context, const char *run, struct coord_read *reads, size_t n);
int local_forget(
	void *context, const struct coord_token *token, const char *job, uint32_t epoch);
int local_repair(void *context, const char *run, const struct coord_offer *offer);
int local_repaired(void *context, const char *run, const char *node);
int local_offers(void *context, const char *run, struct coord_offers *ret);
int local_reported(void *context, const char *run, const struct coord_node *nodes,
	size_t n, bool *ret);
int local_fill(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *append);
int local_mend(void *context, const char *run, const char *job);
int local_ready(void *context, const char *run, const struct coord_token *token);
