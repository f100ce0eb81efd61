// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

#include <errno.h>

/* If the selection of a new job divides classes, ids get new slots, so the streams' sets of slots
 * change, too. With millions of ids this takes long: sampler_joining_prepare makes the new slots
 * and sets without the lock, from copies of the streams' sets. sampler_join_prepared removes the
 * ids that the streams were given meanwhile. */

/* The remaining ids of a stream, and their new slots. */
struct left {
	stream_id id;
	struct idset *ids;
	struct idset *slots;
};

struct sampler_joining {
	const roaring_bitmap_t *selection; /* owned by the caller */
	const struct exchange *exchange;   /* NULL: the sampler has no classes */
	bool cuts;			   /* the selection may divide a class */
	struct slots *slots; /* the sampler's slots at sampler_joining_new */
	struct slots *refined;
	struct member *member;
	uint32_t n_ids;
	bool covered; /* residency->where has room for all ids */
	/* The array that will replace residency->where; NULL if `covered`. After the replacement:
	 * the old array. */
	uint32_t *where;
	struct left *left;
	size_t n_left;
};

/* The selection divides no class if another job already has the same selection. */
static bool may_cut(const struct exchange *e, const roaring_bitmap_t *selection)
{
	for (size_t i = 0; i < e->n_members; i++)
		if (roaring_bitmap_equals(e->members[i]->selection, selection))
			return false;
	return true;
}

static int copy_sets(struct sampler_joining *joining)
{
	const struct exchange *e = joining->exchange;
	joining->left = calloc(e->n_members + 1, sizeof(*joining->left));
	int error = joining->left ? 0 : -ENOMEM;
	for (size_t i = 0; !error && joining->cuts && i < e->n_members; i++) {
		const struct sampler_stream *stream = e->members[i]->stream;
		if (!stream)
			continue;
		struct left *left = &joining->left[joining->n_left++];
		left->id = stream->id;
		error = idset_copy(stream->set, &left->ids);
	}
	return error;
}

static bool is_covered(const struct exchange *e, uint32_t space, uint32_t n_ids)
{
	const struct residency *residency = exchange_find_residency(e, space);
	return residency && residency->n_ids >= n_ids;
}

static uint32_t bound_of(const roaring_bitmap_t *selection)
{
	return roaring_bitmap_is_empty(selection) ? 0
						  : roaring_bitmap_maximum(selection) + 1;
}

int sampler_joining_new(const struct sampler *sampler, uint32_t space,
	const roaring_bitmap_t *selection, struct sampler_joining **ret)
{
	const struct exchange *e = sampler->exchange;
	struct sampler_joining *joining = calloc(1, sizeof(*joining));
	*ret = NULL;
	if (!joining)
		return -ENOMEM;
	*joining = (struct sampler_joining){.selection = selection, .exchange = e};
	int error = 0;
	if (e) {
		joining->n_ids = bound_of(selection);
		joining->covered = is_covered(e, space, joining->n_ids);
		joining->cuts = may_cut(e, selection);
		joining->slots = slots_hold(e->slots);
		error = copy_sets(joining);
	}
	if (error)
		sampler_joining_free(&joining);
	*ret = joining;
	return error;
}

void sampler_joining_free(struct sampler_joining **pointer)
{
	struct sampler_joining *joining = *pointer;
	*pointer = NULL;
	if (!joining)
		return;
	for (size_t i = 0; i < joining->n_left; i++) {
		idset_free(&joining->left[i].ids);
		idset_free(&joining->left[i].slots);
	}
	member_put(&joining->member);
	free(joining->left);
	free(joining->where);
	slots_put(&joining->slots);
	slots_put(&joining->refined);
	free(joining);
}

static int make_member(struct sampler_joining *joining)
{
	const struct labels *labels = joining->exchange->labels; /* never changes */
	ensure(!labels || joining->n_ids <= labels->n_ids);
	joining->member = calloc(1, sizeof(*joining->member));
	if (!joining->member)
		return -ENOMEM;
	atomic_init(&joining->member->references, 1);
	joining->member->selection = roaring_bitmap_copy(joining->selection);
	return joining->member->selection ? 0 : -ENOMEM;
}

static int make_where(struct sampler_joining *joining)
{
	if (joining->covered)
		return 0;
	if (!array_resize(joining->where, (size_t)joining->n_ids + 1))
		return -ENOMEM;
	for (uint32_t id = 0; id < joining->n_ids; id++)
		joining->where[id] = NONE;
	return 0;
}

int sampler_joining_prepare(struct sampler_joining *joining)
{
	if (!joining->exchange)
		return 0;
	int error = make_member(joining);
	if (!error)
		error = make_where(joining);
	if (!error && !joining->cuts)
		joining->refined = slots_hold(joining->slots);
	else if (!error)
		error = slots_refine(joining->slots, joining->exchange->labels,
			joining->n_ids, joining->selection, &joining->refined);
	for (size_t i = 0; !error && i < joining->n_left; i++)
		if (joining->refined != joining->slots)
			error = slots_translate(joining->refined, joining->left[i].ids,
				&joining->left[i].slots);
	return error;
}

static struct left *find_left(const struct sampler_joining *joining, stream_id id)
{
	for (size_t i = 0; i < joining->n_left; i++)
		if (joining->left[i].id == id)
			return &joining->left[i];
	return NULL;
}

static bool is_up_to_date(
	const struct exchange *e, uint32_t space, const struct sampler_joining *joining)
{
	if (e->slots != joining->slots ||
		(!joining->where && !is_covered(e, space, joining->n_ids)))
		return false;
	for (size_t i = 0; joining->refined != joining->slots && i < e->n_members; i++) {
		const struct sampler_stream *stream = e->members[i]->stream;
		if (stream && !find_left(joining, stream->id))
			return false;
	}
	return true;
}

/* Installs the new slots and sets. `joining` gets the old ones, and frees them later without the
 * lock, because this takes long. */
static void put_in_place(struct exchange *e, struct sampler_joining *joining)
{
	const struct slots *slots = joining->refined;
	if (slots == joining->slots)
		return;
	for (size_t i = 0; i < e->n_members; i++) {
		const struct sampler_stream *stream = e->members[i]->stream;
		if (!stream)
			continue;
		struct left *left = find_left(joining, stream->id);
		struct idset *old = stream->owned->slots;
		idset_remove_lost(left->slots, left->ids, stream->set, slots->of);
		stream->owned->slots = left->slots;
		left->slots = old;
	}
	slots_put(&e->slots); /* `joining` still has a reference to the old slots */
	e->slots = slots_hold(joining->refined);
	for (size_t i = 0; i < e->n_residencies; i++)
		residency_rebuild(e->residencies[i]);
}

static int add_member(struct exchange *e, uint32_t space, struct sampler_joining *joining)
{
	struct residency *residency;
	if (!array_resize(e->members, e->n_members + 1))
		return -ENOMEM;
	int error = exchange_get_residency(e, space, &residency);
	if (error)
		return error;
	residency_cover(residency, joining->n_ids, &joining->where);
	error = residency_join(residency, joining->member);
	if (error) {
		exchange_put_residency(e, residency);
		return error;
	}
	put_in_place(e, joining);
	e->members[e->n_members++] = joining->member;
	joining->member = NULL;
	e->changes++;
	return 0;
}

int sampler_join_prepared(struct sampler *sampler, job_id job, uint32_t space,
	struct sampler_joining *joining)
{
	struct exchange *e = sampler->exchange;
	if (!e)
		return 0;
	if (exchange_find_member(e, job))
		return -EEXIST;
	if (!is_up_to_date(e, space, joining))
		return -EAGAIN;
	joining->member->job = job;
	return add_member(e, space, joining);
}

int sampler_join(struct sampler *sampler, job_id job, uint32_t space,
	const roaring_bitmap_t *selection)
{
	struct sampler_joining *joining;
	int error = sampler_joining_new(sampler, space, selection, &joining);
	if (!error)
		error = sampler_joining_prepare(joining);
	if (!error)
		error = sampler_join_prepared(sampler, job, space, joining);
	sampler_joining_free(&joining);
	ensure(error != -EAGAIN);
	return error;
}
