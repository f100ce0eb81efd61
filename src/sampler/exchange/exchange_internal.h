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
 *   joining.c        adds a job, with the long part of the work done without the lock
 *   coarsening.c     merges classes that no job needs any more, in the same way
 *   classes.c        which ids are interchangeable
 *   labels.c         which ids have a label
 *   slots.c          ids in the order of their labels and classes
 *   exchange_round.c the ids that the streams of a round draw
 *   residency.c      the samples resident in a cache space: members and groups
 *   candidates.c     the jobs for which each resident sample is a candidate
 *   validate.c       checks the state of the sampler, for tests
 *
 * Words: the ids of a *class* are interchangeable. The *slot* of an id is its place in the order of
 * labels and classes. A *member* is a job that has joined. A *resident* is a sample in the cache; a
 * *group* has the residents of one class. A resident is a *candidate* for a member if the member's
 * stream can get it in exchange. A *ring* has the candidates of one member, group and need.
 */

#define NONE UINT32_MAX

/* --- membership classes --- */

struct classes {
	uint32_t *of;	/* class of each id */
	uint32_t *size; /* number of ids in each class */
	uint32_t n_ids;
	uint32_t n;
};

/* The class of all ids that no job has selected. In each other class, all ids are selected by the
 * same jobs. */
#define CLASS_OUTSIDE 0

/* Makes the classes of a sampler without jobs: CLASS_OUTSIDE, and one class for each label if
 * `labels` is not NULL. */
must_check int classes_new(
	struct classes *classes, const uint32_t *labels, uint32_t n_ids);
void classes_free(struct classes *classes);
must_check int classes_copy(const struct classes *classes, struct classes *ret);
/* Makes room for ids below n_ids. -ENOMEM */
must_check int classes_cover(struct classes *classes, uint32_t n_ids);
/* Splits each class of which the set contains some ids, but not all. Ids of the set that were in
 * CLASS_OUTSIDE always become a new class. Each split adds one to classes->n. */
must_check int classes_split(struct classes *classes, const roaring_bitmap_t *ids);

/* --- labels --- */

/* The labels of the ids. The ids of a label form one range of slots, whatever the classes are. */
struct labels {
	uint32_t *label; /* label of each id */
	/* first slot of each label; one more entry has the end of the last label */
	uint32_t *first;
	uint32_t n_ids;
	uint32_t n;
};

must_check int labels_new(const uint32_t *of, uint32_t n_ids, struct labels **ret);
void labels_free(struct labels **labels);

/* --- slots --- */

/*
 * The ids of a class form one range of slots (places in an order of all ids). So those ids of a
 * class that a stream has still to draw, in its set R_j, form one range of ranks:
 *
 *     slots    | class 0     | class 2 | class 1       |
 *     R_j        x   x x   x     x         x x   x   x
 *     ranks      0   1 2   3     4         5 6   7   8
 *
 * A struct slots never changes: when classes change, a new one is made. A set that is filled
 * without the lock (sampler_set_fill) has a reference to the slots that were current when the set
 * was made.
 */
struct slots {
	struct classes classes;
	uint32_t *of;	 /* slot of each id */
	uint32_t *id;	 /* id in each slot */
	uint32_t *first; /* first slot of each class */
	uint32_t n;
	uint32_t n_classes; /* number of classes that have ids */
	atomic_uint references;
};

/* Makes the slots for the classes, which it takes over, also on failure. labels may be NULL. */
must_check int slots_new(
	struct classes *classes, const struct labels *labels, struct slots **ret);
/* Makes the slots for one more job with this selection, whose ids must be below n_ids. If the
 * selection divides no class, *ret is `slots` itself, with one more reference. */
must_check int slots_refine(struct slots *slots, const struct labels *labels,
	uint32_t n_ids, const roaring_bitmap_t *selection, struct slots **ret);
struct slots *slots_hold(struct slots *slots);

/* --- residents --- */

struct exchange;

/* A job that has joined. */
struct member {
	job_id job;
	struct residency *residency;
	uint32_t column; /* index of the job in the `columns` of its residency */
	const struct sampler_stream *stream; /* NULL between epochs */
	/* the id that the stream has drawn in this round */
	sample_id drawn;
	/* never changes, so that it may be read without the lock */
	roaring_bitmap_t *selection;
	atomic_uint references;
};

struct member *member_hold(struct member *member);
/* Drops a reference. Needs no lock. */
void member_put(struct member **member);

/* Tells whether a resident sample may be given to one job (member) in exchange for another sample.
 * If it may, the node is in a ring, a circular list, with the other such samples of the same class
 * and the same need. The links are indexes of residents. */
struct node {
	uint32_t previous;
	/* next resident in the ring; NODE_OUT or NODE_TAKEN: the sample is in no ring of this
	 * job */
	uint32_t next;
};

/* Value of node.next: the job's stream does not need the sample, or no other sample is
 * interchangeable with it. */
#define NODE_OUT NONE
/* Value of node.next: the job was given the sample since the sample came into the cache. */
#define NODE_TAKEN (NONE - 1)

struct resident {
	sample_id id;
	/* group of the sample's class; NONE: the class has no other id, or there was no memory */
	uint32_t group;
	/* number of streams of this cache space that have still to draw the sample */
	uint32_t need;
	/* links in the order in which residents were last given to a stream */
	uint32_t older;
	uint32_t newer;
};

/* A class with at least one resident sample. */
struct group {
	uint32_t class;
	uint32_t n; /* number of resident samples; 0: the entry is free */
	uint32_t next_free;
};

/* The samples of one cache space that are in the cache (resident), and the jobs of this space. */
struct residency {
	uint32_t id; /* number of the cache space */
	const struct exchange *exchange;
	struct member **columns; /* the job of each column; NULL: the column is free */
	uint32_t stride;	 /* length of columns */
	uint32_t end;		 /* all columns from this one on are free (have no job) */
	uint32_t n_members;

	uint32_t *where; /* for each id, the index in `residents`, or NONE */
	uint32_t n_ids;

	struct resident *residents;
	struct node *nodes; /* a node for each resident and column */
	uint32_t n;
	uint32_t capacity;
	/* index of the first free entry; free entries are linked by `newer` */
	uint32_t free;
	uint32_t oldest;
	uint32_t newest;
	/* a stream was added or removed, and the nodes of some residents are out of date */
	bool stale;
	/* if `stale` is set: this resident and all newer ones are out of date */
	uint32_t next_stale;

	struct group *groups;
	/* first sample of each ring; there is a ring for each group, column and need - 1 */
	uint32_t *heads;
	uint32_t n_groups;
	uint32_t group_capacity;
	uint32_t free_group;
	uint32_t *group_of; /* group of each class, or NONE */
	uint32_t n_classes;
};

struct exchange {
	struct labels *labels; /* NULL: ids of different labels may be exchanged */
	struct slots *slots;
	bool too_fine; /* a job has left, so there may be more classes than needed */
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
/* Finds the residency of the cache space with this number, or makes it. -ENOMEM */
must_check int exchange_get_residency(
	struct exchange *exchange, uint32_t id, struct residency **ret);
/* Frees the residency if its cache space has neither a job nor a resident sample. */
void exchange_put_residency(struct exchange *exchange, struct residency *residency);

/* Draws an id for each of the m streams, and stores it in the `drawn` of the stream's member. Sorts
 * the streams into the order in which they are served. */
void exchange_draw(const struct exchange *exchange, struct rng *rng,
	struct sampler_stream **round, size_t m);
/* Draws uniformly from the remaining ids in the slots [first, end); SAMPLE_NONE: there are none. */
sample_id exchange_draw_between(const struct exchange *exchange, struct rng *rng,
	const struct sampler_stream *stream, uint32_t first, uint32_t end);

must_check int residency_new(
	const struct exchange *exchange, uint32_t id, struct residency **ret);
void residency_free(struct residency **residency);
/* Replaces residency->where by the array *where, which has n_ids entries NONE, and returns the old
 * array in *where. Does nothing if the old array already has room for ids below n_ids. */
void residency_cover(struct residency *residency, uint32_t n_ids, uint32_t **where);
must_check int residency_join(struct residency *residency, struct member *member);
void residency_leave(struct residency *residency, struct member *member);

/* Computes anew, after classes have changed, to which jobs each resident sample may be given. */
void residency_rebuild(struct residency *residency);
/* Marks all resident samples as out of date, after a stream was added or removed. */
void residency_make_stale(struct residency *residency);
/* Updates one resident sample that may be out of date, before it is given to a stream. */
void residency_refresh_one(struct residency *residency, sample_id id);
/* Updates up to n resident samples that are out of date. Returns true if all are up to date. */
bool residency_refresh(struct residency *residency, uint32_t n);

/* Returns the best resident sample of this class to give to the job: the one with the least need;
 * among equals, the one that was given least recently. SAMPLE_NONE: there is none. */
sample_id residency_candidate(
	const struct residency *residency, const struct member *member, uint32_t class);
bool residency_has(const struct residency *residency, sample_id id);
/* Updates the resident samples after the job (member) was given the sample. The caller has already
 * removed the sample from the set of the job's stream. */
void residency_give(
	struct residency *residency, const struct member *member, sample_id id);
/* Adds a resident sample that was given to no job yet since it came into the cache. */
void residency_admit(struct residency *residency, sample_id id);
void residency_evict(struct residency *residency, sample_id id);
void residency_validate(const struct residency *residency);

/* Counts one more resident sample in the group of the class. If the class has no group, makes one.
 * Returns the group. NONE: there is no memory, or the class has only one id, which can't be
 * exchanged. */
uint32_t group_get(struct residency *residency, uint32_t class);
/* Counts one resident sample less in the group. Frees the group if none is left. */
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

/* Returns the part of `heads` for one group (class) and one column (job). Its element need - 1 is
 * the first sample of the ring for this need. */
static inline uint32_t *residency_heads(
	const struct residency *residency, uint32_t group, uint32_t column)
{
	return &residency->heads[((size_t)group * residency->stride + column) *
				 residency->stride];
}
