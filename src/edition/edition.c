// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "base/ensure.h"
#include "edition/edition_internal.h"

#include <errno.h>
#include <string.h>

#define NAMES 3

static uint32_t names_of(const struct edition *edition)
{
	uint32_t number = dataset_edition(edition->is.dataset);
	bool differ = edition->job->config.layout == LAYOUT_CLASSES;
	return differ && number > 0 ? 1 + (number - 1) % NAMES : 0;
}

static void show(struct edition *edition)
{
	edition->set.selection = edition->selection;
	edition->set.fixed = edition->by_position;
	edition->set.owner = edition;
	edition->set.names = edition->is.names = names_of(edition);
	edition->is.samples = edition->set.positions;
	edition->is.selection = edition->selection;
	edition->is.readable = edition->readable;
	edition->is.label_begin = edition->label_begin;
	edition->is.targets = edition->targets;
}

static struct edition *alloc(struct job *job, struct source *const *sources, size_t n)
{
	struct edition *edition = calloc(1, sizeof(*edition));
	if (!edition)
		return NULL;
	*edition = (struct edition){.is = {.dataset = sources[0]->dataset},
		.job = job,
		.parts = calloc(n, sizeof(*edition->parts))};
	if (!edition->parts) {
		free(edition);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		edition->parts[i] =
			(struct part){.edition = edition, .source = sources[i]};
		atomic_fetch_add(&sources[i]->jobs, 1);
	}
	edition->n_parts = n;
	return edition;
}

int edition_new(struct job *job, struct source *const *sources, size_t n,
	config_report *report, void *context, struct edition **ret)
{
	struct edition *edition = alloc(job, sources, n);
	if (!edition)
		return -ENOMEM;
	int err = edition_select(edition, report, context);
	if (!err)
		err = edition_beside(edition, report, context);
	if (!err && job_is_fed(job))
		err = feed_divide(edition, report, context);
	if (!err && job_kind(job) == EPOCHS_DRAWN_AT_OPEN)
		err = join_label(edition);
	show(edition);
	if (err)
		edition_free(edition);
	else
		*ret = edition;
	return err;
}

void edition_leave_samplers_locked(struct edition *edition)
{
	lock_assert_held(edition->job->lock);
	for (size_t i = 0; i < edition->n_parts; i++) {
		struct part *part = &edition->parts[i];
		if (part->joined)
			sampler_leave(part->sampler, edition->job->id);
		part->joined = false;
	}
}

static void leave(struct edition *edition)
{
	LOCK_SCOPE(edition->job->lock);
	edition_leave_samplers_locked(edition);
	for (size_t i = 0; i < edition->n_parts; i++)
		if (edition->parts[i].space)
			space_put(edition->parts[i].space);
}

static void free_parts(struct edition *edition)
{
	for (size_t i = 0; i < edition->n_parts; i++) {
		struct part *part = &edition->parts[i];
		bitmap_free(&part->own);
		atomic_fetch_sub(&part->source->jobs, 1);
	}
	free(edition->parts);
}

void edition_free(struct edition *edition)
{
	ensure(atomic_load(&edition->holds) == 0);
	leave(edition);
	free(edition->label_begin);
	free(edition->labels);
	free(edition->targets);
	free(edition->own_by_position);
	bitmap_free(&edition->selection);
	bitmap_free(&edition->readable);
	dataset_close(&edition->mixed);
	free_parts(edition);
	free(edition);
}

struct order_set edition_order_set(const struct edition *edition)
{
	return (struct order_set){edition->set.positions, edition->fingerprint};
}

/* --- the editions of a job ------------------------------------------------------------ */

struct edition *edition_of_locked(const struct job *job, uint32_t epoch)
{
	lock_assert_held(job->lock);
	return epochs_set(job->epochs, epoch)->owner;
}

struct edition *edition_hold(struct job *job, uint32_t epoch)
{
	LOCK_SCOPE(job->lock);
	struct edition *edition = edition_of_locked(job, epoch);
	atomic_fetch_add(&edition->holds, 1);
	return edition;
}

void edition_let_go(struct edition *edition)
{
	atomic_fetch_sub(&edition->holds, 1);
}

struct order_set *edition_order_sets(struct job *job, size_t *ret_n)
{
	const struct edition *edition;
	size_t n = 0;
	LOCK_SCOPE(job->lock);
	TAILQ_FOREACH (edition, &job->editions, link)
		n++;
	struct order_set *sets = calloc(n, sizeof(*sets));
	*ret_n = 0;
	if (sets)
		TAILQ_FOREACH (edition, &job->editions, link)
			sets[(*ret_n)++] = edition_order_set(edition);
	return sets;
}

/* Removes an edition without epochs and references from the job's list. Returns this edition; NULL:
 * there is none. */
static struct edition *take_dropped(struct job *job)
{
	struct epoch_set *set;
	struct edition *edition;
	LOCK_SCOPE(job->lock);
	while ((set = epochs_drop_set(job->epochs))) {
		edition = set->owner;
		edition->dropped = true;
	}
	TAILQ_FOREACH (edition, &job->editions, link)
		if (edition->dropped && atomic_load(&edition->holds) == 0) {
			TAILQ_REMOVE(&job->editions, edition, link);
			edition_leave_samplers_locked(edition);
			return edition;
		}
	return NULL;
}

bool editions_sweep(struct job *job)
{
	struct edition *edition;
	bool freed = false;
	while ((edition = take_dropped(job))) {
		edition_free(edition);
		freed = true;
	}
	return freed;
}

/* --- after a restart ------------------------------------------------------------------ */

/* Which set of samples each epoch has, sorted by epoch. The journal and the saved orders tell
 * this. */
struct facts {
	struct order_found *list;
	size_t n, room;
};

static int facts_put(struct facts *facts, const struct order_found *found)
{
	size_t i = facts->n;
	while (i > 0 && facts->list[i - 1].epoch >= found->epoch)
		i--;
	if (i < facts->n && facts->list[i].epoch == found->epoch) {
		facts->list[i].set = found->set;
		return 0;
	}
	if (!array_make_room(facts->list, facts->n, &facts->room))
		return -ENOMEM;
	memmove(&facts->list[i + 1], &facts->list[i],
		(facts->n++ - i) * sizeof(*facts->list));
	facts->list[i] = *found;
	return 0;
}

/* Adds the sets that the journal's segments name. If a segment's epoch is not above the epoch of
 * the segment before it, the job was restored to an earlier epoch between the two. Segments before
 * the last restore are ignored, because the saved orders name the sets of their epochs. */
static int take_segments(
	struct facts *facts, const struct order_found *segments, size_t n)
{
	size_t first = 0;
	int err = 0;
	for (size_t i = 1; i < n; i++)
		if (segments[i].epoch <= segments[i - 1].epoch)
			first = i;
	for (size_t i = first; i < n && !err; i++)
		err = facts_put(facts, &segments[i]);
	return err;
}

static bool is_of(const struct edition *edition, const struct order_set *set)
{
	return edition->set.positions == set->positions &&
	       edition->fingerprint == set->fingerprint;
}

static struct edition *find(const struct job *job, const struct order_set *set)
{
	struct edition *edition;
	TAILQ_FOREACH (edition, &job->editions, link)
		if (is_of(edition, set))
			return edition;
	return NULL;
}

static bool knows_all(const struct job *job, const struct order_found *found, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!find(job, &found[i].set))
			return false;
	return true;
}

static void free_unused(struct job *job, const struct facts *facts)
{
	struct edition *edition, *next;
	for (edition = TAILQ_FIRST(&job->editions); edition; edition = next) {
		bool used = edition == job->now;
		next = TAILQ_NEXT(edition, link);
		for (size_t i = 0; i < facts->n && !used; i++)
			used = is_of(edition, &facts->list[i].set);
		if (used)
			continue;
		TAILQ_REMOVE(&job->editions, edition, link);
		edition_free(edition);
	}
}

static int make_epochs(struct job *job, const struct facts *facts)
{
	struct edition *edition = facts->n ? find(job, &facts->list[0].set) : NULL;
	if (!edition)
		edition = job->now;
	int err = job_make_epochs(job, &edition->set);
	for (size_t i = 1; i < facts->n && !err; i++) {
		struct edition *next = find(job, &facts->list[i].set);
		if (!next || next == edition)
			continue;
		epochs_use_set(job->epochs, facts->list[i].epoch, &next->set);
		edition = next;
	}
	if (!err && edition != job->now)
		epochs_use_set(
			job->epochs, facts->list[facts->n - 1].epoch + 1, &job->now->set);
	return err;
}

int editions_find(const struct job *job, struct editions_found *ret)
{
	*ret = (struct editions_found){0};
	int err = journal_sets(job->directory, &ret->segments, &ret->n_segments);
	return err ? err : order_sets(job->directory, &ret->orders, &ret->n_orders);
}

void editions_found_free(struct editions_found *found)
{
	free(found->segments);
	free(found->orders);
}

bool editions_are_there(const struct job *job, const struct editions_found *found)
{
	return knows_all(job, found->segments, found->n_segments) &&
	       knows_all(job, found->orders, found->n_orders);
}

int editions_restore(struct job *job, const struct editions_found *found)
{
	struct facts facts = {0};
	int err = 0;
	/* A journal with a segment whose edition is missing can't be replayed: keep_restore
	 * (state/state.h) sets the job's journals and orders aside, and epochs begin again.
	 * This journal and the saved orders are therefore not used here. */
	if (knows_all(job, found->segments, found->n_segments)) {
		for (size_t i = 0; i < found->n_orders && !err; i++)
			if (find(job, &found->orders[i].set))
				err = facts_put(&facts, &found->orders[i]);
		if (!err)
			err = take_segments(&facts, found->segments, found->n_segments);
	}
	free_unused(job, &facts);
	if (!err)
		err = make_epochs(job, &facts);
	free(facts.list);
	return err;
}
