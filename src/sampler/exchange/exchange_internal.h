// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sampler/idset.h"
#include "sampler/sampler_internal.h"

#include <stdatomic.h>

/* The ids of a *class* are interchangeable. The *slot* of an id is its index in the list of all
 * ids, sorted by label, class and id. A *member* is a job that has joined. A *resident* is a sample
 * in the cache, or on its way there; a *group* has the residents of one class. A resident is a
 * *candidate* for a member if the member's stream can get it in exchange. A *ring* has the
 * candidates of one member, group and need. */

#define NONE UINT32_MAX

/* The ids of a label form one range of slots, whatever the classes are. */
struct labels {
	uint32_t *label; /* label of each id */
	uint32_t *first; /* first slot of each label; first[n]: the end */
	uint32_t n_ids;
	uint32_t n;
};

must_check int labels_new(const uint32_t *of, uint32_t n_ids, struct labels **ret);
void labels_free(struct labels **labels);

struct classes {
	uint32_t *of;	/* class of each id */
	uint32_t *size; /* number of ids in each class */
	uint32_t n_ids;
	uint32_t n;
};

/* The class of the ids that no job has selected; empty if there are labels, because each id then
 * belongs to a class of its label. */
#define CLASS_OUTSIDE 0

/* Makes CLASS_OUTSIDE, and, if `labels` is not NULL, one class for each label. */
must_check int classes_new(
	struct classes *classes, const struct labels *labels, uint32_t n_ids);
void classes_free(struct classes *classes);
must_check int classes_copy(const struct classes *classes, struct classes *ret);
/* Makes room for ids below n_ids. -ENOMEM */
must_check int classes_cover(struct classes *classes, uint32_t n_ids);
/* Splits each class of which `ids` contains a part: this part becomes a new class. Ids of
 * CLASS_OUTSIDE in `ids` become a new class even if they are the whole CLASS_OUTSIDE. */
must_check int classes_split(struct classes *classes, const roaring_bitmap_t *ids);
/* Adds to counts[c], for each class c, the number of the class's ids that are in `ids`. */
void classes_count(
	const struct classes *classes, const roaring_bitmap_t *ids, uint32_t *counts);

/*
 * The ids of a class form one range of slots. R_j is the set of the ids that stream j has yet to
 * draw. If R_j is ordered by slots, the ids of a class in R_j form one range of ranks:
 *
 *    slots    | class 0     | class 2 | class 1       |
 *    R_j        x   x x   x     x         x x   x   x
 *    ranks      0   1 2   3     4         5 6   7   8
 *
 * A struct slots never changes: when classes change, a new one is made. A set that is filled
 * without the lock (sampler_set_fill) has a reference to the struct slots that was current when the
 * set was made.
 */
struct slots {
	struct classes classes;
	uint32_t *of;	    /* slot of each id */
	uint32_t *id;	    /* id in each slot */
	uint32_t *first;    /* first slot of each class */
	uint32_t n_classes; /* number of classes that have ids */
	atomic_uint references;
};

/* Takes over the classes, also on failure. labels may be NULL. */
must_check int slots_new(
	struct classes *classes, const struct labels *labels, struct slots **ret);
/* Makes the slots for one more job. The ids of its selection are below n_ids. If the selection
 * divides no class, *ret is `slots` itself, with one more reference. */
must_check int slots_refine(struct slots *slots, const struct labels *labels,
	uint32_t n_ids, const roaring_bitmap_t *selection, struct slots **ret);
struct slots *slots_hold(struct slots *slots);

struct exchange;

struct member {
	job_id job;
	struct residency *residency;
	uint32_t column;		     /* index in residency->columns */
	const struct sampler_stream *stream; /* NULL between epochs */
	sample_id drawn;		     /* drawn by the stream in this round */
	/* never changes, so it may be read without the lock */
	roaring_bitmap_t *selection;
	atomic_uint references;
};

struct member *member_hold(struct member *member);
/* Drops a reference. Needs no lock. */
void member_put(struct member **member);

/* The state of a resident sample for one member. A candidate is linked in a ring: `previous` and
 * `next` are the indexes in `residents` of its neighbours. */
struct node {
	uint32_t previous;
	uint32_t next; /* NODE_OUT, NODE_TAKEN: the sample is in no ring of the member */
};

/* The sample is no candidate: the stream does not need it, or its class has no other id. */
#define NODE_OUT NONE
/* The sample is no candidate: the member was given it since it came into the cache. */
#define NODE_TAKEN (NONE - 1)

struct resident {
	sample_id id;
	/* index of the sample's group; NONE: its class has no other id, or there was no memory */
	uint32_t group;
	uint32_t need; /* streams of the cache space that have yet to draw the sample */
	/* neighbours in the order in which residents were last given to a stream; a resident that
	 * was given to none counts as given when it became resident */
	uint32_t older;
	uint32_t newer;
};

struct group {
	uint32_t class;
	uint32_t n; /* number of residents; 0: this element of `groups` is free */
	uint32_t next_free;
};

/* The resident samples and the jobs of one cache space. */
struct residency {
	uint32_t id; /* number of the cache space */
	const struct exchange *exchange;
	struct member **columns; /* the member of each column; NULL: the column is free */
	uint32_t stride;	 /* length of the array `columns` */
	uint32_t end;		 /* the columns from this one on are free */
	uint32_t n_members;

	uint32_t *where; /* index in `residents` of each id; NONE: it is not resident */
	uint32_t n_ids;

	struct resident *residents;
	struct node *nodes; /* a node for each resident and column */
	uint32_t n;
	uint32_t capacity;
	/* first free element of `residents`; all free elements are linked by `newer` */
	uint32_t free;
	uint32_t oldest;
	uint32_t newest;
	/* a stream was added or removed: residents from `next_stale` to `newest` are outdated */
	bool stale;
	uint32_t next_stale;

	struct group *groups;
	uint32_t *heads; /* first resident of each ring, by group, column and need - 1 */
	uint32_t n_groups;
	uint32_t group_capacity;
	uint32_t free_group;
	uint32_t *group_of; /* group of each class; NONE: the class has no group */
	uint32_t n_classes;
};

struct exchange {
	struct labels *labels; /* NULL: ids of different labels may be exchanged */
	struct slots *slots;
	bool too_fine; /* a job has left, so there can be more classes than needed */
	struct member **members;
	size_t n_members;
	uint64_t changes; /* how often jobs have joined or left */
	struct residency **residencies;
	size_t n_residencies;
};

static inline uint32_t exchange_class(const struct exchange *exchange, sample_id id)
{
	return exchange->slots->classes.of[id];
}

void exchange_validate(const struct sampler *sampler);

struct member *exchange_find_member(const struct exchange *exchange, job_id job);
/* Returns NULL if the cache space with this number has no residency, or `exchange` is NULL. */
struct residency *exchange_find_residency(const struct exchange *exchange, uint32_t id);
/* Makes the residency if there is none. -ENOMEM */
must_check int exchange_get_residency(
	struct exchange *exchange, uint32_t id, struct residency **ret);
/* Frees the residency if it has no job and no resident sample. */
void exchange_put_residency(struct exchange *exchange, struct residency *residency);

/* Draws an id for each of the m streams, and stores it in stream->member->drawn. Sorts the streams
 * into the order in which they are served. */
void exchange_draw(const struct exchange *exchange, struct rng *rng,
	struct sampler_stream **round, size_t m);
/* Draws uniformly from the stream's ids in slots `first` to end - 1; SAMPLE_NONE: there is none. */
sample_id exchange_draw_between(const struct exchange *exchange, struct rng *rng,
	const struct sampler_stream *stream, uint32_t first, uint32_t end);

must_check int residency_new(
	const struct exchange *exchange, uint32_t id, struct residency **ret);
void residency_free(struct residency **residency);
/* Replaces residency->where by the longer array *where, whose n_ids elements are NONE: copies the
 * old elements, and returns the old array in *where. Does nothing if residency->where already has
 * room for ids below n_ids. */
void residency_cover(struct residency *residency, uint32_t n_ids, uint32_t **where);
must_check int residency_join(struct residency *residency, struct member *member);
void residency_leave(struct residency *residency, struct member *member);

/* Finds all candidates anew, after classes have changed. */
void residency_rebuild(struct residency *residency);
void residency_make_stale(struct residency *residency);
/* Updates a sample's need and rings, if outdated, before the sample is given to a stream. */
void residency_refresh_one(struct residency *residency, sample_id id);
/* Updates up to n outdated resident samples. Returns true if all are up to date. */
bool residency_refresh(struct residency *residency, uint32_t n);

/* Returns the member's candidate of this class with the least need; among candidates of equal need,
 * the one that was given least recently. SAMPLE_NONE: there is no candidate. */
sample_id residency_candidate(
	const struct residency *residency, const struct member *member, uint32_t class);
bool residency_has(const struct residency *residency, sample_id id);
/* Notes that the member's stream was given the sample, which has already left the stream's set. */
void residency_give(
	struct residency *residency, const struct member *member, sample_id id);
/* Makes the sample a resident, given to no job yet. Lack of memory only reduces sharing. */
void residency_admit(struct residency *residency, sample_id id);
void residency_evict(struct residency *residency, sample_id id);
void residency_validate(const struct residency *residency);

/* Counts one more resident in the group of the class, and returns the group. NONE: no memory, or
 * the class has only one id, which can't be exchanged. */
uint32_t group_get(struct residency *residency, uint32_t class);
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

/* Returns the heads of the member's rings in a group; the ring of a need is at index need - 1. */
static inline uint32_t *residency_heads(
	const struct residency *residency, uint32_t group, uint32_t column)
{
	return &residency->heads[((size_t)group * residency->stride + column) *
				 residency->stride];
}
