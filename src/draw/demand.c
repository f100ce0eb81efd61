// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/ranks.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"

#include <errno.h>
#include <string.h>

/*
 * A training asks for each sample once in an epoch: by one of its ranks here, or by
 * another daemon for which this one is the sample's home. Until then the sample is needed
 * here. So the cache evicts first the copies of samples whose home is elsewhere, and
 * samples that were asked for (JOADER's RefCnt, appendix E.3, for an aggregated cache).
 *
 *     stream_make -> demand_find -> counted -> demand_drawn, demand_fetched -> gone
 *
 * One of the streams of the training's epoch, the bearer, has the samples as ids of its
 * strands, and passes them on when it ends before the others.
 *
 * Another daemon does not tell which training it fetches for. The fetch is counted for the
 * oldest epoch that still asks for the sample. A wrong guess keeps a sample too long in the
 * cache, or not long enough, and does no other harm.
 */

static bool is_bearer(const struct stream *stream)
{
	return job_is_fed(stream->job) && stream->strands[0].ids;
}

static bool is_of_same(const struct stream *a, const struct stream *b)
{
	return job_is_fed(a->job) && job_is_fed(b->job) && a->epoch == b->epoch &&
	       strcmp(a->job->config.training, b->job->config.training) == 0 &&
	       a->n_strands == b->n_strands &&
	       a->strands[0].part->space == b->strands[0].part->space;
}

static struct stream *find_bearer_locked(const struct stream *stream)
{
	struct stream *other;
	lock_assert_held(&stream->job->sched->lock);
	TAILQ_FOREACH (other, &stream->job->sched->streams, link)
		if (is_bearer(other) && is_of_same(other, stream))
			return other;
	return NULL;
}

static bool is_borne(const struct stream *stream)
{
	LOCK_SCOPE(&stream->job->sched->lock);
	return find_bearer_locked(stream) != NULL;
}

/* Returns the k-th rank of the training that this daemon serves, held; NULL: there are no
 * more. */
static struct sched_job *hold_rank(struct sched *sched, const char *training, size_t k)
{
	struct sched_job *job;
	LOCK_SCOPE(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link)
		if (job_is_fed(job) && strcmp(job->config.training, training) == 0 &&
			k-- == 0)
			return sched_job_hold(job);
	return NULL;
}

#define AT_ONCE 1024 /* bindings */

static void remove_bound(
	struct sched_job *job, const struct stream *stream, struct binding *bindings)
{
	uint32_t n, k = 0;
	do {
		n = sched_bindings(job, stream->epoch, k, AT_ONCE, bindings);
		for (uint32_t i = 0; i < n; i++) {
			const struct strand *strand =
				strand_of(stream, bindings[i].sample);
			roaring_bitmap_remove(
				strand->ids, bindings[i].sample - strand->part->first);
		}
		k += n;
	} while (n == AT_ONCE);
}

/* Removes the samples that ranks of this daemon were given before it was started, or
 * before all of them were parked. */
static int remove_given(const struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	const char *training = stream->job->config.training;
	auto_free struct binding *bindings = calloc(AT_ONCE, sizeof(*bindings));
	struct sched_job *job;
	if (!bindings)
		return -ENOMEM;
	for (size_t k = 0; (job = hold_rank(sched, training, k)); k++) {
		remove_bound(job, stream, bindings);
		sched_job_put(job);
	}
	return 0;
}

static int find_at_home(const struct strand *strand, roaring_bitmap_t *ids)
{
	const struct space *space = strand->part->space;
	const struct sched_fetcher *fetcher = &space->source->sched->fetcher;
	auto_free sample_id *at = calloc(AT_ONCE, sizeof(*at));
	roaring_uint32_iterator_t iterator;
	uint32_t n;
	if (!at)
		return -ENOMEM;
	roaring_init_iterator(strand->part->selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, at, AT_ONCE)) > 0)
		for (uint32_t i = 0; i < n; i++)
			if (!fetcher->fetch || !fetcher->is_elsewhere(fetcher->context,
						       space->source->dataset,
						       &space->preparation, at[i]))
				roaring_bitmap_add(ids, at[i]);
	return 0;
}

int demand_find(struct stream *stream)
{
	bool borne = is_borne(stream);
	int err = 0;
	for (size_t i = 0; i < stream->n_strands && !err; i++) {
		struct strand *strand = &stream->strands[i];
		strand->ids = roaring_bitmap_create();
		if (!strand->ids)
			err = -ENOMEM;
		else if (!borne)
			err = find_at_home(strand, strand->ids);
	}
	return err || borne ? err : remove_given(stream);
}

void demand_enter_locked(struct stream *stream)
{
	const struct stream *bearer = find_bearer_locked(stream);
	lock_assert_held(&stream->job->sched->lock);
	if (bearer == stream)
		return;
	for (size_t i = 0; i < stream->n_strands; i++) {
		roaring_bitmap_free(stream->strands[i].ids);
		stream->strands[i].ids = NULL;
	}
}

static bool take(const struct strand *strand, sample_id id)
{
	if (!strand->ids || !roaring_bitmap_remove_checked(strand->ids, id))
		return false;
	cache_need_drop(strand->part->space->cache, id);
	return true;
}

void demand_drawn_locked(const struct stream *stream, sample_id sample)
{
	const struct stream *bearer = find_bearer_locked(stream);
	lock_assert_held(&stream->job->sched->lock);
	if (!bearer)
		return;
	const struct strand *strand = strand_of(bearer, sample);
	(void)take(strand, sample - strand->part->first);
}

void demand_fetched_locked(const struct space *space, sample_id id)
{
	struct sched *sched = space->source->sched;
	const struct stream *stream;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (stream, &sched->streams, link) {
		const struct strand *strand = strand_in(stream, space);
		if (job_is_fed(stream->job) && strand && take(strand, id))
			return;
	}
}

bool demand_keep_locked(struct stream *stream)
{
	struct stream *heir;
	lock_assert_held(&stream->job->sched->lock);
	if (!is_bearer(stream))
		return false;
	TAILQ_FOREACH (heir, &stream->job->sched->streams, link)
		if (heir != stream && is_of_same(heir, stream))
			break;
	if (!heir)
		return true;
	for (size_t i = 0; i < stream->n_strands; i++) {
		heir->strands[i].ids = stream->strands[i].ids;
		stream->strands[i].ids = NULL;
	}
	return false;
}
