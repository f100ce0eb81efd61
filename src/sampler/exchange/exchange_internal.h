// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sampler/idset.h"
#include "sampler/sampler_internal.h"

#include <stdatomic.h>

/*
 * The parts of exchange.c:
 *
 *   classes   which ids are interchangeable (exchange_classes.c)
 *   labels    which ids have a label (exchange_labels.c)
 *   slots     ids in the order of their labels and classes (exchange_slots.c)
 *   draws     what the streams of a round draw (exchange_draw.c)
 *   space     what is resident, and for whom it is a candidate (exchange_space.c,
 *             exchange_resident.c)
 */

#define NONE UINT32_MAX

/* --- membership classes --- */

struct classes {
	uint32_t *of;	/* by id */
	uint32_t *size; /* by class: its ids */
	uint32_t n_ids;
	uint32_t n;
};

/* The class of ids that no job has had; all others lie in the same jobs. */
#define CLASS_OUTSIDE 0

/* No job yet: with labels a class for each, after the one of those outside. */
must_check int classes_new(
	struct classes *classes, const uint32_t *labels, uint32_t n_ids);
void classes_free(struct classes *classes);
must_check int classes_copy(const struct classes *classes, struct classes *ret);
/* Ids below n_ids from now on. */
must_check int classes_cover(struct classes *classes, uint32_t n_ids);
/* After this no class has ids both in the set and out of it. n tells if any had. */
must_check int classes_split(struct classes *classes, const roaring_bitmap_t *ids);

/* --- labels --- */

/* A label's ids are one range of slots, whatever the classes are. */
struct labels {
	uint32_t *label; /* by id */
	uint32_t *first; /* by label, and one more: its first slot */
	uint32_t n_ids;
	uint32_t n;
};

must_check int labels_new(const uint32_t *of, uint32_t n_ids, struct labels **ret);
void labels_free(struct labels **labels);

/* --- slots --- */

/*
 * A class's ids are one range of slots, ascending, so that what a stream has left of a
 * class is a range of ranks:
 *
 *     slots    | class 0     | class 2 | class 1       |
 *     R_j        x   x x   x     x         x x   x   x
 *     ranks      0   1 2   3     4         5 6   7   8
 *
 * They never change: when classes do, there are new ones. Sets that are being made, by
 * whoever does not hold the caller's lock, may still hold the old ones.
 */
struct slots {
	uint32_t *of;	 /* by id */
	uint32_t *id;	 /* by slot */
	uint32_t *first; /* by class: its first slot */
	uint32_t n;
	uint32_t n_classes; /* that have ids */
	atomic_uint references;
};

/* labels may be NULL. */
must_check int slots_new(
	const struct classes *classes, const struct labels *labels, struct slots **ret);
struct slots *slots_hold(struct slots *slots);

/* --- residents --- */

struct exchange;

/* A job that has joined. */
struct member {
	job_id job;
	struct space *space;
	uint32_t column;	     /* its place in the space */
	const struct stream *stream; /* NULL between epochs */
	sample_id drawn;	     /* in this round */
	roaring_bitmap_t *selection;
};

/*
 * What has become of a resident for one member. A candidate is in a ring of those of the
 * same column, group and need; links are indices of residents.
 */
struct node {
	uint32_t previous;
	uint32_t next; /* or one of the two below */
};

#define NODE_OUT NONE /* no candidate: not in R, or nothing to exchange it for */
#define NODE_TAKEN                                                                       \
	(NONE - 1) /* no candidate: was given to the job since it is resident */

struct resident {
	sample_id id;
	uint32_t group; /* NONE: of no use to exchange */
	uint32_t need;	/* streams of the space whose R has it */
	uint32_t older; /* in the order in which they were last given */
	uint32_t newer;
};

/* A class of which something is resident. */
struct group {
	uint32_t class;
	uint32_t n; /* residents; 0: free */
	uint32_t next_free;
};

struct space {
	uint32_t id;
	const struct exchange *exchange;
	struct member **columns; /* stride of them; NULL: free */
	uint32_t stride;
	uint32_t end; /* columns from here on are free */
	uint32_t n_members;

	uint32_t *where; /* by id: index of the resident, or NONE */
	uint32_t n_ids;

	struct resident *residents;
	struct node *nodes; /* by resident, then column */
	uint32_t n;
	uint32_t capacity;
	uint32_t free; /* linked by newer */
	uint32_t oldest;
	uint32_t newest;
	bool unsettled; /* residents are still assessed as before a stream came or went */
	uint32_t next_unsettled; /* those older than this one are not */

	struct group *groups;
	uint32_t *heads; /* by group, column, need - 1: the oldest candidate */
	uint32_t n_groups;
	uint32_t group_capacity;
	uint32_t free_group;
	uint32_t *group_of; /* by class: its group, or NONE */
	uint32_t n_classes;
};

struct exchange {
	struct classes classes;
	struct labels *labels; /* NULL: exchange across labels */
	struct slots *slots;
	bool stale; /* a job has left: classes may be finer than they need be */
	struct member **members;
	size_t n_members;
	struct space **spaces;
	size_t n_spaces;
};

void exchange_validate(const struct sampler *sampler);

/* What each of m streams draws: member->drawn. Orders them. */
void exchange_draw(const struct exchange *exchange, struct rng *rng,
	struct stream **round, size_t m);
/* Any of what is left in the slots from first to before end; SAMPLE_NONE: nothing is. */
sample_id exchange_draw_between(const struct exchange *exchange, struct rng *rng,
	const struct stream *stream, uint32_t first, uint32_t end);

must_check int space_new(
	const struct exchange *exchange, uint32_t id, struct space **ret);
void space_free(struct space **space);
/* Ids below n_ids from now on. */
must_check int space_cover(struct space *space, uint32_t n_ids);
must_check int space_join(struct space *space, struct member *member);
void space_leave(struct space *space, struct member *member);

/* Groups, needs and candidates anew: a class has come or gone. */
void space_rebuild(struct space *space);
/* Needs and candidates are to be brought up to date: a stream has come or gone. */
void space_unsettle(struct space *space);
/* The same for one id, at once: it is about to be given. */
void space_reassess(struct space *space, sample_id id);
/* That, for about n residents more; true: nothing is left to do. */
bool space_settle(struct space *space, uint32_t n);

/* The member's best candidate of a class, SAMPLE_NONE if it has none. */
sample_id space_candidate(
	const struct space *space, const struct member *member, uint32_t class);
bool space_has(const struct space *space, sample_id id);
/* The member, from whose R it has been taken, is given the sample. */
void space_give(struct space *space, const struct member *member, sample_id id);
void space_admit(struct space *space, sample_id id); /* nobody was given it yet */
void space_evict(struct space *space, sample_id id);
void space_validate(const struct space *space);

/* The group of a class, made if need be; NONE: nothing to exchange with, or no memory. */
uint32_t group_get(struct space *space, uint32_t class);
void group_put(struct space *space, uint32_t group);
void groups_clear(struct space *space);

static inline struct node *space_node(
	const struct space *space, uint32_t resident, uint32_t column)
{
	return &space->nodes[(size_t)resident * space->stride + column];
}

static inline bool node_linked(const struct node *node)
{
	return node->next < NODE_TAKEN;
}

/* The heads of a member's rings in a group, by need - 1. */
static inline uint32_t *space_heads(
	const struct space *space, uint32_t group, uint32_t column)
{
	return &space->heads[((size_t)group * space->stride + column) * space->stride];
}
