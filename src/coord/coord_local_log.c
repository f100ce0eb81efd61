// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_local_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_ready(const struct coord_local *local, const char *run)
{
	return strcmp(local->is_ready, run) == 0 && strcmp(local->run, run) == 0;
}

/* --- feeds ------------------------------------------------------------------------------ */

static struct local_feed *find_feed(struct local_job *job, uint32_t epoch)
{
	struct local_feed *feed;
	LIST_FOREACH (feed, &job->feeds, link)
		if (feed->epoch == epoch)
			return feed;
	return NULL;
}

static struct local_feed *need_feed(struct local_job *job, uint32_t epoch)
{
	uint32_t ranks = job->facts.ranks;
	struct local_feed *feed = find_feed(job, epoch);
	if (feed)
		return feed;
	feed = calloc(1, sizeof(*feed) + ranks * sizeof(feed->rank[0]));
	if (!feed)
		return NULL;
	feed->epoch = epoch;
	feed->ranks = ranks;
	LIST_INSERT_HEAD(&job->feeds, feed, link);
	return feed;
}

void local_feed_free(struct local_feed *feed)
{
	LIST_REMOVE(feed, link);
	for (uint32_t i = 0; i < feed->ranks; i++)
		free(feed->rank[i].ids);
	free(feed);
}

/* Begins the epoch. Keeps the previous epoch's feeds, which ranks may still read. */
static void begin_epoch(struct local_job *job, uint32_t epoch)
{
	job->epoch = epoch;
	job->next = 0;
	struct local_feed *feed = LIST_FIRST(&job->feeds), *following;
	for (; feed; feed = following) {
		following = LIST_NEXT(feed, link);
		if (feed->epoch + 1 < epoch)
			local_feed_free(feed);
	}
}

/* Frees the feeds of the running epoch if the epoch is not completely drawn. A repair does this
 * before it begins a later epoch, because no node draws the rest of an earlier epoch. */
static void drop_incomplete(struct local_job *job)
{
	struct local_feed *feed = find_feed(job, job->epoch);
	if (feed && job->next < job->n)
		local_feed_free(feed);
}

static int make_room(struct local_rank_feed *feed, uint32_t more)
{
	if (feed->n + more <= feed->room)
		return 0;
	uint32_t room = (feed->n + more) * 2;
	sample_id *ids = reallocarray(feed->ids, room, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	feed->ids = ids;
	feed->room = room;
	return 0;
}

int local_append_to(struct local_job *job, const struct coord_append *append)
{
	struct local_feed *feed = need_feed(job, append->epoch);
	if (!feed)
		return -ENOMEM;
	for (uint32_t r = 0; r < feed->ranks; r++)
		if (make_room(&feed->rank[r], append_count(append, r)))
			return -ENOMEM;
	const sample_id *ids = append->ids;
	for (uint32_t r = 0; r < feed->ranks; r++) {
		uint32_t n = append_count(append, r);
		if (n)
			memcpy(feed->rank[r].ids + feed->rank[r].n, ids,
				n * sizeof(*ids));
		feed->rank[r].n += n;
		ids += n;
	}
	job->next += append->count;
	return 0;
}

/* --- the functions ---------------------------------------------------------------------- */

static bool is_still_read(const struct local_job *job, uint32_t epoch)
{
	for (uint32_t r = 0; r < job->facts.ranks; r++) {
		const struct coord_position end = {epoch,
			ranks_position(job->n, job->facts.batch, job->facts.ranks, r)};
		if (position_before(job->ranks[r].cursor, end))
			return true;
	}
	return false;
}

int local_open(void *context, const char *run, const char *name, uint32_t epoch)
{
	struct coord_local *local = context;
	struct local_job *job = local_find(local, name);
	if (!job)
		return -ENOENT;
	if (!is_ready(local, run))
		return -ESTALE;
	if (epoch <= job->epoch)
		return 0;
	if (epoch != job->epoch + 1 || job->next != job->n)
		return -EAGAIN;
	/* A rank still reads the log that would be dropped. */
	if (job->epoch > 0 && is_still_read(job, job->epoch - 1))
		return -EAGAIN;
	begin_epoch(job, epoch);
	local->news++;
	return 0;
}

int local_append(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *append)
{
	struct coord_local *local = context;
	struct local_job *job = local_find(local, append->job);
	if (!job)
		return -ENOENT;
	if (!is_ready(local, run) || append->epoch != job->epoch)
		return -ESTALE;
	if (!mutant(MUTANT_NO_TOKEN) && !local_token_is(local, token))
		return -ESTALE;
	if (!mutant(MUTANT_NO_NEXT) && append->base != job->next)
		return -ESTALE;
	local->news++;
	return local_append_to(job, append);
}

int local_read(void *context, const char *run, struct coord_read *reads, size_t n)
{
	const struct coord_local *local = context;
	if (strcmp(local->run, run) != 0)
		return -ESTALE;
	for (size_t i = 0; i < n; i++) {
		struct coord_read *read = &reads[i];
		struct local_job *job = local_find(context, read->job);
		struct local_feed *feed = job ? find_feed(job, read->epoch) : NULL;
		read->ret_n = 0;
		if (!feed || read->rank >= feed->ranks ||
			feed->rank[read->rank].n <= read->from)
			continue;
		uint32_t most = feed->rank[read->rank].n - read->from;
		read->ret_n = most < read->most ? most : read->most;
		memcpy(read->ids, feed->rank[read->rank].ids + read->from,
			read->ret_n * sizeof(sample_id));
	}
	return 0;
}

int local_forget(
	void *context, const struct coord_token *token, const char *name, uint32_t epoch)
{
	struct local_job *job = local_find(context, name);
	if (!job)
		return -ENOENT;
	if (!local_token_is(context, token) || epoch >= job->epoch)
		return -ESTALE;
	struct local_feed *feed = find_feed(job, epoch);
	if (feed)
		local_feed_free(feed);
	return 0;
}

/* --- repair ----------------------------------------------------------------------------- */

static bool is_repairing(const struct coord_local *local, const char *run)
{
	return strcmp(local->run, run) == 0 && strcmp(local->is_ready, run) != 0;
}

static int copy_offer(const struct coord_offer *offer, struct coord_offer *ret)
{
	*ret = *offer;
	ret->ids = malloc(offer->n * sizeof(sample_id) + 1);
	if (!ret->ids)
		return -ENOMEM;
	memcpy(ret->ids, offer->ids, offer->n * sizeof(sample_id));
	return 0;
}

int local_repair(void *context, const char *run, const struct coord_offer *offer)
{
	struct coord_local *local = context;
	if (!is_repairing(local, run))
		return -ESTALE;
	struct coord_offers *all = &local->offers;
	struct coord_offer *offers =
		reallocarray(all->offers, all->n + 1, sizeof(*offers));
	if (!offers)
		return -ENOMEM;
	all->offers = offers;
	int err = copy_offer(offer, &offers[all->n]);
	all->n += err == 0;
	return err;
}

int local_repaired(void *context, const char *run, const char *node)
{
	struct coord_local *local = context;
	if (!is_repairing(local, run))
		return -ESTALE;
	return local_add_runner(&local->reported, node);
}

int local_offers(void *context, const char *run, struct coord_offers *ret)
{
	const struct coord_local *local = context;
	const struct coord_offers *all = &local->offers;
	*ret = (struct coord_offers){0};
	if (!is_repairing(local, run))
		return -ESTALE;
	ret->offers = calloc(all->n + 1, sizeof(*ret->offers));
	if (!ret->offers)
		return -ENOMEM;
	for (; ret->n < all->n; ret->n++)
		if (copy_offer(&all->offers[ret->n], &ret->offers[ret->n])) {
			coord_offers_free(ret);
			return -ENOMEM;
		}
	return 0;
}

int local_reported(void *context, const char *run, const struct coord_node *nodes,
	size_t n, bool *ret)
{
	struct coord_local *local = context;
	if (!is_repairing(local, run))
		return -ESTALE;
	for (size_t i = 0; i < n; i++)
		ret[i] = local_runner(&local->reported, nodes[i].name) != NULL;
	return 0;
}

static bool is_whole(struct local_job *job, uint32_t epoch)
{
	const struct local_feed *feed = find_feed(job, epoch);
	for (uint32_t r = 0; feed && r < feed->ranks; r++)
		if (feed->rank[r].n !=
			ranks_position(job->n, job->facts.batch, feed->ranks, r))
			return false;
	return feed != NULL;
}

/* Checks the log of the previous epoch if a rank still reads that epoch. The log may lack samples
 * if a repair without a rank's journal has begun the running epoch too early. In this case the job
 * goes back to the start of the previous epoch, and a new repair begins. */
int local_mend(void *context, const char *run, const char *name)
{
	struct coord_local *local = context;
	struct local_job *job = local_find(local, name);
	if (!job)
		return -ENOENT;
	if (!is_ready(local, run) || job->epoch == 0 ||
		!is_still_read(job, job->epoch - 1) || is_whole(job, job->epoch - 1))
		return 0;
	while (!LIST_EMPTY(&job->feeds))
		local_feed_free(LIST_FIRST(&job->feeds));
	job->epoch--;
	job->next = 0;
	local->is_ready[0] = '\0';
	local_forget_life(local);
	local->news++;
	return -ESTALE;
}

int local_fill(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *append)
{
	struct coord_local *local = context;
	struct local_job *job = local_find(local, append->job);
	if (!job)
		return -ENOENT;
	if (!is_repairing(local, run) || !local_token_is(local, token) ||
		append->was_epoch != job->epoch || append->was_next != job->next)
		return -ESTALE;
	local->news++;
	if (append->epoch > job->epoch) {
		drop_incomplete(job);
		begin_epoch(job, append->epoch);
	}
	if (append->epoch != job->epoch || append->base != job->next)
		return -ESTALE;
	return local_append_to(job, append);
}

int local_ready(void *context, const char *run, const struct coord_token *token)
{
	struct coord_local *local = context;
	if (strcmp(local->run, run) != 0 || !local_token_is(local, token))
		return -ESTALE;
	memcpy(local->is_ready, local->run, sizeof(local->is_ready));
	local_forget_dead(local);
	local_forget_life(local);
	return 0;
}
