// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sampler/idset.h"
#include "sampler/sampler_internal.h"

#include <stdatomic.h>

/*
 * The parts of the exchange sampler:
 *
 *   exchange.c       the algorithm: streams, and the sample that a stream is given
 *   joining.c        adds a job, the long part of it without the lock
 *   coarsening.c     merges classes that nothing needs any more, in the same way
 *   classes.c        which ids are interchangeable
 *   labels.c         which ids have a label
 *   slots.c          ids in the order of their labels and classes
 *   exchange_round.c the ids that the streams of a round draw
 *   residency.c      the samples resident in a cache space: members and groups
 *   candidates.c     the jobs that each resident sample is a candidate for
 *   validate.c       counts all of this anew, for tests
 */

#define NONE UINT32_MAX

/* --- membership classes --- */

struct classes {
	uint32_t *of;	/* per id: its class */
	uint32_t *size; /* per class: number of its ids */
	uint32_t n_ids;
	uint32_t n;
};

/* The class of the ids that no job has selected. The ids of each other class are in the selections
 * of the same jobs. */
#define CLASS_OUTSIDE 0

/* Makes the classes for no jobs: CLASS_OUTSIDE, and with labels one more class for each label. */
must_check int classes_new(
	struct classes *classes, const uint32_t *labels, uint32_t n_ids);
void classes_free(struct classes *classes);
must_check int classes_copy(const struct classes *classes, struct classes *ret);
/* Makes room for ids below n_ids. */
must_check int classes_cover(struct classes *classes, uint32_t n_ids);
/* Splits the classes that the set divides, and moves the set's ids out of CLASS_OUTSIDE. Each split
 * adds one to classes->n. */
must_check int classes_split(struct classes *classes, const roaring_bitmap_t *ids);

/* --- labels --- */

/* The ids of a label form one range of slots, whatever the classes are. */
struct labels {
	uint32_t *label; /* per id: its label */
	uint32_t *first; /* per label: its first slot; one more entry: the end */
	uint32_t n_ids;
	uint32_t n;
};

must_check int labels_new(const uint32_t *of, uint32_t n_ids, struct labels **ret);
void labels_free(struct labels **labels);

/* --- slots --- */

/*
 * The ids of a class form one range of slots, in ascending order. So the ids of a class that are
 * left in a stream's R form a range of ranks:
 *
 *     slots    | class 0     | class 2 | class 1       |
 *     R_j        x   x x   x     x         x x   x   x
 *     ranks      0   1 2   3     4         5 6   7   8
 *
 * Slots never change: when classes change, new slots are made. A set that is being filled without
 * the lock may still hold the old slots.
 */
struct slots {
	struct classes classes;
	uint32_t *of;	 /* per id: its slot */
	uint32_t *id;	 /* per slot: its id */
	uint32_t *first; /* per class: its first slot */
	uint32_t n;
	uint32_t n_classes; /* number of classes that have ids */
	atomic_uint references;
};

/* Makes the slots. Takes over the classes, also on failure. labels may be NULL. */
must_check int slots_new(
	struct classes *classes, const struct labels *labels, struct slots **ret);
/* Makes the slots for one more job with this selection, whose ids are below n_ids. If the selection
 * divides no class, *ret is `slots` with one more reference. */
must_check int slots_refine(struct slots *slots, const struct labels *labels,
	uint32_t n_ids, const roaring_bitmap_t *selection, struct slots **ret);
struct slots *slots_hold(struct slots *slots);

/* --- residents --- */

struct exchange;

/* A job that has joined. */
struct member {
	job_id job;
	struct residency *residency;
	uint32_t column; /* its column in the residency of its space */
	const struct sampler_stream *stream; /* NULL between epochs */
	sample_id drawn;		     /* the id that it has drawn in this round */
	/* never changes, so it may be read without the lock */
	roaring_bitmap_t *selection;
	atomic_uint references;
};

struct member *member_hold(struct member *member);
/* Drops a reference. Needs no lock. */
void member_put(struct member **member);

/* The state of a resident as a candidate for one member. All candidates with the same column, group
 * and need form a ring; links are indexes of residents. */
struct node {
	uint32_t previous;
	uint32_t next; /* NODE_OUT or NODE_TAKEN: it is no candidate */
};

/* The resident is not in R, or there is no other id for which it can be exchanged. */
#define NODE_OUT NONE
/* The job has already been given the sample since it became resident. */
#define NODE_TAKEN (NONE - 1)

struct resident {
	sample_id id;
	uint32_t group; /* NONE: it can't be exchanged */
	uint32_t need;	/* number of streams of this cache space whose R contains it */
	uint32_t older; /* links in the order in which the residents were last given */
	uint32_t newer;
};

/* A class with at least one resident. */
struct group {
	uint32_t class;
	uint32_t n; /* number of residents; 0: the entry is free */
	uint32_t next_free;
};

/* The samples that are resident in one cache space. */
struct residency {
	uint32_t id; /* the number of the cache space */
	const struct exchange *exchange;
	struct member **columns; /* NULL: free */
	uint32_t stride;	 /* length of columns */
	uint32_t end;		 /* columns from here on are free */
	uint32_t n_members;

	uint32_t *where; /* per id: index of the resident, or NONE */
	uint32_t n_ids;

	struct resident *residents;
	struct node *nodes; /* per resident and column */
	uint32_t n;
	uint32_t capacity;
	uint32_t free; /* first free entry; free entries are linked by `newer` */
	uint32_t oldest;
	uint32_t newest;
	/* a stream was added or removed, and some residents are not reassessed yet */
	bool stale;
	uint32_t next_stale; /* this resident and all newer ones must be reassessed */

	struct group *groups;
	uint32_t *heads; /* per group, column and need - 1: the oldest candidate */
	uint32_t n_groups;
	uint32_t group_capacity;
	uint32_t free_group;
	uint32_t *group_of; /* per class: its group, or NONE */
	uint32_t n_classes;
};

struct exchange {
	struct labels *labels; /* NULL: ids of different labels may be exchanged */
	struct slots *slots;
	bool too_fine; /* a job has left, so classes may be finer than needed */
	struct member **members;
	size_t n_members;
	uint64_t changes; /* number of joins and leaves of jobs */
	struct residency **residencies;
	size_t n_residencies;
};

void exchange_validate(const struct sampler *sampler);

struct member *exchange_find_member(const struct exchange *exchange, job_id job);
/* Returns the residency of the cache space with this number; NULL: there is none. */
struct residency *exchange_find_residency(const struct exchange *exchange, uint32_t id);
/* Finds the residency, or makes it. */
must_check int exchange_get_residency(
	struct exchange *exchange, uint32_t id, struct residency **ret);
/* Frees the residency once its cache space has neither a job nor a resident sample. */
void exchange_put_residency(struct exchange *exchange, struct residency *residency);

/* Sets member->drawn for each of the m streams, and sorts the streams. */
void exchange_draw(const struct exchange *exchange, struct rng *rng,
	struct sampler_stream **round, size_t m);
/* Draws uniformly from the remaining ids in the slots [first, end); SAMPLE_NONE: there are none. */
sample_id exchange_draw_between(const struct exchange *exchange, struct rng *rng,
	const struct sampler_stream *stream, uint32_t first, uint32_t end);

must_check int residency_new(
	const struct exchange *exchange, uint32_t id, struct residency **ret);
void residency_free(struct residency **residency);
/* Makes room for ids below n_ids. *where: a new array of n_ids entries, which is exchanged for the
 * old one. */
void residency_cover(struct residency *residency, uint32_t n_ids, uint32_t **where);
must_check int residency_join(struct residency *residency, struct member *member);
void residency_leave(struct residency *residency, struct member *member);

/* Computes groups, needs and candidates again, after classes have changed. */
void residency_rebuild(struct residency *residency);
/* Marks needs and candidates as out of date, after a stream was added or removed. */
void residency_make_stale(struct residency *residency);
/* Reassesses a resident that is about to be given. */
void residency_refresh_one(struct residency *residency, sample_id id);
/* Reassesses about n more residents. Returns true if all are up to date. */
bool residency_refresh(struct residency *residency, uint32_t n);

/* Returns the member's best candidate of a class; SAMPLE_NONE: it has none. */
sample_id residency_candidate(
	const struct residency *residency, const struct member *member, uint32_t class);
bool residency_has(const struct residency *residency, sample_id id);
/* Notes that the member was given the sample. The sample was already removed from the member's
 * R. */
void residency_give(
	struct residency *residency, const struct member *member, sample_id id);
/* Adds a resident sample that no member has been given yet. */
void residency_admit(struct residency *residency, sample_id id);
void residency_evict(struct residency *residency, sample_id id);
void residency_validate(const struct residency *residency);

/* Adds a resident to the group of its class; makes the group if there is none. NONE: the class has
 * only one id, so nothing can be exchanged, or there is no memory. */
uint32_t group_get(struct residency *residency, uint32_t class);
/* Removes a resident from the group. Frees the group after its last resident. */
void group_put(struct residency *residency, uint32_t group);
void groups_clear(struct residency *residency);

static inline struct node *residency_node(
	const struct residency *residency, uint32_t resident, uint32_t column)
{
	return &residency->nodes[(size_t)resident * residency->stride + column];
}

static inline bool node_linked(const struct node *node)
{
	return node->next < NODE_TAKEN;
}

/* Returns the heads of a member's rings in a group, indexed by need - 1. */
static inline uint32_t *residency_heads(
	const struct residency *residency, uint32_t group, uint32_t column)
{
	return &residency->heads[((size_t)group * residency->stride + column) *
				 residency->stride];
}
