// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "group.h"

#include "base/log.h"

/*
 * The checker remembers what readers were told, and checks that
 *
 *   - a position of a rank holds one sample, whoever reads it and whenever
 *   - the feeds of an epoch are a permutation of D_j
 *   - a new decision about which rank reads which sample keeps the samples of each mini-batch
 *   - nothing is appended under an old token when there is a newer one
 *   - after healing no reader waits longer than 3 ttl, and all get what they need before long
 *
 * Only a node that could not report while the log was repaired may see another sample at its
 * positions, and the node is told of it.
 */

#define LONGEST_NS (3 * TTL_NS)
/* samples of each rank that are enough after healing */
#define ENOUGH 12
#define ENOUGH_NS (20 * LONGEST_NS) /* virtual time; usually it takes seconds */

static struct {
	sample_id sample;
	unsigned nodes; /* bits of the nodes that were told */
} told[MOST_JOBS][MOST_EPOCHS + 1][MOST_RANKS][MOST_SAMPLES];

static struct {
	uint64_t last_ns;
	uint32_t n; /* samples consumed since healing */
	struct coord_position furthest;
} readers[MOST_JOBS][MOST_RANKS];

static bool excused[MOST_JOBS][MOST_EPOCHS + 1]; /* a position got another sample */

void checker_begin(void)
{
	memset(excused, 0, sizeof(excused));
	memset(told, 0, sizeof(told));
	memset(readers, 0, sizeof(readers));
	for (unsigned j = 0; j < MOST_JOBS; j++)
		for (unsigned e = 0; e <= MOST_EPOCHS; e++)
			for (unsigned r = 0; r < MOST_RANKS; r++)
				for (unsigned i = 0; i < MOST_SAMPLES; i++)
					told[j][e][r][i].sample = SAMPLE_NONE;
}

void checker_delivered(const struct node *node, unsigned job, uint32_t epoch,
	uint32_t rank, uint32_t position, sample_id sample)
{
	struct coord_position to = {epoch, position + 1},
			      *furthest = &readers[job][rank].furthest;
	ensure(epoch <= MOST_EPOCHS && position < MOST_SAMPLES);
	ensure(roaring_bitmap_contains(group.jobs[job].facts.ids, sample));
	if (told[job][epoch][rank][position].sample != SAMPLE_NONE)
		ensure(told[job][epoch][rank][position].sample == sample);
	told[job][epoch][rank][position].sample = sample;
	told[job][epoch][rank][position].nodes |= 1U << node->number;
	group.counts.delivered++;
	if (furthest->epoch > to.epoch ||
		(furthest->epoch == to.epoch && furthest->position >= to.position))
		return;
	*furthest = to;
	readers[job][rank].last_ns = co_now();
	readers[job][rank].n += group.healed_ns > 0;
}

void checker_consumed(unsigned job, uint32_t rank)
{
	readers[job][rank].last_ns = co_now();
}

/* --- the log ---------------------------------------------------------------------------- */

static void check_log(const struct local_job *job)
{
	const struct local_feed *feed;
	LIST_FOREACH (feed, &job->feeds, link) {
		roaring_bitmap_t *ids = roaring_bitmap_create();
		uint32_t n = 0;
		for (uint32_t r = 0; r < feed->ranks; r++)
			for (uint32_t i = 0; i < feed->rank[r].n; i++, n++) {
				ensure(roaring_bitmap_contains(
					job->ids, feed->rank[r].ids[i]));
				ensure(roaring_bitmap_add_checked(
					ids, feed->rank[r].ids[i]));
			}
		roaring_bitmap_free(ids);
		ensure(n == (feed->epoch < job->epoch ? job->n : job->next));
	}
}

void checker_placed(struct node *node, const struct coord_batch *batch)
{
	ensure(node->n_placed < MOST_SAMPLES);
	node->placed[node->n_placed++] = roaring_bitmap_of_ptr(batch->n, batch->ids);
	for (uint32_t r = 0; r < batch->ranks; r++) {
		bool known = batch->rank_node[r] == 0;
		for (unsigned i = 0; i < group.n_nodes; i++)
			known |= batch->rank_node[r] % MOST_NODES == i;
		ensure(known);
	}
}

static roaring_bitmap_t *mini_batch(const struct coord_append *append, uint32_t at)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	uint32_t left = append->base + append->count - at;
	uint32_t end = at + (left < append->batch ? left : append->batch);
	for (uint32_t r = 0; r < append->ranks; r++) {
		uint32_t base =
			ranks_position(append->base, append->batch, append->ranks, r);
		uint32_t i = ranks_position(at, append->batch, append->ranks, r);
		for (; i < ranks_position(end, append->batch, append->ranks, r); i++)
			roaring_bitmap_add(
				ids, append->ids[append_begin(append, r) + i - base]);
	}
	return ids;
}

void checker_appends(struct node *node, const struct coord_append *append)
{
	uint32_t at = append->base;
	for (unsigned i = 0; i < node->n_placed; i++, at += append->batch) {
		roaring_bitmap_t *ids = mini_batch(append, at);
		ensure(roaring_bitmap_equals(ids, node->placed[i]));
		roaring_bitmap_free(ids);
		roaring_bitmap_free(node->placed[i]);
	}
	ensure(!node->n_placed || at >= append->base + append->count);
	node->n_placed = 0;
}

void checker_appended(unsigned job, const struct coord_token *token)
{
	ensure(local_token_is(group.store, token));
	check_log(local_find(group.store, journal_name(job)));
	group.counts.appends++;
}

/* --- repair ----------------------------------------------------------------------------- */

unsigned checker_reported(void)
{
	const struct local_runner *one;
	unsigned nodes = 0;
	LIST_FOREACH (one, &group.store->reported, link)
		nodes |= 1U << (one->node[1] - '0');
	return nodes;
}

/* Checks that no node that had the position could report in time, although there was time. */
static void check_excuse(unsigned nodes, unsigned reported)
{
	ensure(co_now() - group.engine_began_ns >= TTL_NS);
	for (unsigned i = 0; i < group.n_nodes; i++) {
		if (!(nodes >> i & 1))
			continue;
		const struct node *node = &group.nodes[i];
		ensure(!(reported >> i & 1));
		ensure(node->killed || node->cut || node->deaf ||
			node->harmed_ns + TTL_NS >= group.engine_began_ns);
	}
}

/*
 * Tells whether journals contradict each other. They do if a node was away while the log was
 * repaired, and the engine lost its log again before this node learned of the repair.
 */
static bool journals_differ(unsigned j, uint32_t e)
{
	int place_of[64];
	memset(place_of, 0xff, sizeof(place_of));
	sample_id at[MOST_RANKS * JOURNAL_POSITIONS];
	memset(at, 0xff, sizeof(at));
	for (unsigned i = 0; i < group.n_nodes; i++)
		for (uint32_t r = 0; r < MOST_RANKS; r++)
			for (uint32_t p = 0; p < JOURNAL_POSITIONS; p++) {
				sample_id id = group.nodes[i].journal.ids[j][e][r][p];
				int place = (int)(r * JOURNAL_POSITIONS + p);
				if (id == SAMPLE_NONE)
					continue;
				if ((place_of[id] >= 0 && place_of[id] != place) ||
					(at[place] != SAMPLE_NONE && at[place] != id))
					return true;
				place_of[id] = place;
				at[place] = id;
			}
	return false;
}

static const struct local_feed *find_feed(const struct local_job *job, uint32_t epoch)
{
	const struct local_feed *feed;
	LIST_FOREACH (feed, &job->feeds, link)
		if (feed->epoch == epoch)
			return feed;
	return NULL;
}

static void check_filled(
	unsigned j, const struct local_job *job, bool whole, unsigned reported)
{
	uint32_t first = job->epoch ? job->epoch - 1 : 0;
	for (uint32_t e = first; e <= MOST_EPOCHS; e++) {
		const struct local_feed *feed = find_feed(job, e);
		if (!feed && e < job->epoch)
			continue; /* the engine has forgotten the epoch */
		for (uint32_t r = 0; r < job->facts.ranks; r++)
			for (uint32_t i = 0; i < MOST_SAMPLES; i++) {
				bool there = feed && i < feed->rank[r].n;
				sample_id *sample = &told[j][e][r][i].sample;
				if (*sample == SAMPLE_NONE || (!there && !whole) ||
					(there && feed->rank[r].ids[i] == *sample))
					continue;
				if (!journals_differ(j, e))
					check_excuse(told[j][e][r][i].nodes, reported);
				group.counts.rebound++;
				excused[j][e] = true;
				*sample = there ? feed->rank[r].ids[i] : SAMPLE_NONE;
				told[j][e][r][i].nodes = 0;
			}
	}
}

void checker_filled(bool whole, unsigned reported)
{
	for (unsigned j = 0; j < group.n_jobs; j++) {
		const struct local_job *job = local_find(group.store, journal_name(j));
		if (!job)
			continue;
		check_log(job);
		check_filled(j, job, whole, reported);
	}
	group.counts.repairs += whole;
}

/* --- progress --------------------------------------------------------------------------- */

static bool is_content(unsigned j, uint32_t r)
{
	return readers[j][r].n >= ENOUGH ||
	       readers[j][r].furthest.epoch >= MOST_EPOCHS - 1;
}

void checker_progress(void)
{
	if (co_now() - group.healed_ns > ENOUGH_NS) {
		log_error("readers get samples, and never those that they need");
		ensure(!"readers get nothing new");
	}
	for (unsigned j = 0; j < group.n_jobs; j++)
		for (uint32_t r = 0; r < group.jobs[j].facts.ranks; r++) {
			uint64_t since = readers[j][r].last_ns;
			if (since < group.healed_ns)
				since = group.healed_ns;
			if (is_content(j, r) || co_now() - since <= LONGEST_NS)
				continue;
			log_error("job%u rank %u waits", j, r);
			ensure(!"a reader waits too long");
		}
}

bool checker_is_content(void)
{
	for (unsigned j = 0; j < group.n_jobs; j++)
		for (uint32_t r = 0; r < group.jobs[j].facts.ranks; r++)
			if (!is_content(j, r))
				return false;
	return true;
}

/* Checks that epochs that all readers have read hold each sample once. */
void checker_end(void)
{
	for (unsigned j = 0; j < group.n_jobs; j++) {
		const struct group_job *job = &group.jobs[j];
		uint32_t epochs = MOST_EPOCHS;
		for (uint32_t r = 0; r < job->facts.ranks; r++)
			if (readers[j][r].furthest.epoch < epochs)
				epochs = readers[j][r].furthest.epoch;
		for (uint32_t e = 0; e < epochs; e++) {
			roaring_bitmap_t *ids = roaring_bitmap_create();
			for (uint32_t r = 0; r < job->facts.ranks; r++)
				for (uint32_t i = 0; i < MOST_SAMPLES; i++)
					if (told[j][e][r][i].sample != SAMPLE_NONE)
						ensure(roaring_bitmap_add_checked(
							ids, told[j][e][r][i].sample));
			ensure(excused[j][e] ||
				roaring_bitmap_equals(ids, job->facts.ids));
			roaring_bitmap_free(ids);
			group.counts.epochs++;
		}
	}
}
