// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "group.h"

#include "place/divide.h"

#include <errno.h>

/* The daemons: each has a coordinator, a journal, and readers that take the samples fed to it. */

static uint64_t clock_of(const struct node *node)
{
	return co_now() + node->clock_ns;
}

/* --- what the coordinator calls --------------------------------------------------------- */

static void tell(struct node *node, unsigned job, uint32_t rank, uint32_t epoch,
	uint32_t base, const sample_id *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		checker_delivered(node, job, epoch, rank, base + i, ids[i]);
}

/* Writes the samples to the journal before readers get any. A process that dies in between has
 * told no reader. */
static int fed(void *context, const char *name, uint32_t rank, uint32_t epoch,
	uint32_t base, const sample_id *ids, uint32_t n)
{
	struct node *node = context;
	unsigned job = journal_job(name);
	if (node->killed || (group.harm && co_one_in(200)))
		return -ENOSPC;
	if (group.late_journal)
		tell(node, job, rank, epoch, base, ids, n);
	else
		journal_write(&node->journal, job, rank, epoch, base, ids, n);
	if (group.harm && co_one_in(8))
		co_sleep(co_random(50) * MS);
	if (node->killed)
		return 0;
	if (group.late_journal)
		journal_write(&node->journal, job, rank, epoch, base, ids, n);
	else
		tell(node, job, rank, epoch, base, ids, n);
	node->ranks[job][rank].delivered = (struct coord_position){epoch, base + n};
	group.counts.fed++;
	return 0;
}

static void lost(void *context, const char *name, uint32_t rank)
{
	struct node *node = context;
	node->ranks[journal_job(name)][rank].held = false;
}

static uint32_t known(void *context, const char *name)
{
	const struct node *node = context;
	return node->journal.known[journal_job(name)];
}

static uint32_t tail(void *context, struct coord_tail *at, sample_id *ids, uint32_t most)
{
	const struct node *node = context;
	/* The tail comes in parts, as from a journal that is read block by block. */
	return journal_tail(&node->journal, at, ids, most < 5 ? most : 5);
}

static void forget(void *context, const char *name, uint32_t rank, uint32_t epoch,
	uint32_t base, uint32_t n)
{
	struct node *node = context;
	journal_forget(&node->journal, journal_job(name), rank, epoch, base, n);
}

/* Counts the samples that are read on the node that is their home. */
static uint32_t count_at_home(
	const struct coord_batch *batch, const uint32_t *home, const uint32_t *rank_of)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < batch->n; i++)
		n += batch->rank_node[rank_of[i]] == group.nodes[home[i]].incarnation;
	return n;
}

/* Places as many samples as possible on their homes. */
static bool place_at_home(
	void *context, const struct coord_batch *batch, uint32_t *rank_of)
{
	uint32_t home[MOST_SAMPLES], in_turn[MOST_SAMPLES];
	uint64_t nodes[MOST_NODES];
	checker_placed(context, batch);
	for (unsigned i = 0; i < group.n_nodes; i++)
		nodes[i] = group.nodes[i].incarnation;
	for (uint32_t i = 0; i < batch->n; i++) {
		home[i] = batch->ids[i] % group.n_nodes;
		in_turn[i] = i % batch->ranks;
	}
	if (!divide(batch, home, nodes, group.n_nodes, rank_of))
		return false;
	uint32_t n = count_at_home(batch, home, rank_of);
	ensure(n >= count_at_home(batch, home, in_turn));
	group.counts.placed += batch->n;
	group.counts.at_home += n;
	return true;
}

/* Places samples in a random order, with the same number for each rank. */
static bool place(void *context, const struct coord_batch *batch, uint32_t *rank_of)
{
	uint32_t n = batch->n;
	checker_placed(context, batch);
	for (uint32_t i = 0; i < n; i++)
		rank_of[i] = i % batch->ranks;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = co_random(i), swap = rank_of[k];
		rank_of[k] = rank_of[i - 1];
		rank_of[i - 1] = swap;
	}
	return true;
}

/* Adds random samples, as a cache may hold them. */
static void any_samples(void *context, const char *dataset, roaring_bitmap_t *ids)
{
	(void)context, (void)dataset;
	for (uint32_t i = 0; i < MOST_SAMPLES; i++)
		if (co_one_in(3))
			roaring_bitmap_add(ids, i);
}

/* --- readers ---------------------------------------------------------------------------- */

static bool is_home(const struct node *node, uint32_t rank)
{
	return rank % group.n_nodes == node->number;
}

/* Takes the rank if the node is its home; now and then also another rank, for a while. */
static void take(struct node *node, unsigned j, uint32_t r)
{
	const char *job = journal_name(j);
	if (node->ranks[j][r].held) {
		if (!is_home(node, r) && co_one_in(100)) {
			(void)coord_drop_rank(node->coord, job, r);
			node->ranks[j][r].held = false;
		}
		return;
	}
	if (is_home(node, r) ? co_one_in(3) : group.harm && co_one_in(300))
		if (coord_take_rank(node->coord, job, r, 0, COORD_AT_CURSOR) == 0)
			node->ranks[j][r].held = true;
	struct coord_rank_status status;
	if (coord_rank_status(node->coord, job, r, &status) == 0)
		node->ranks[j][r].consumed = node->ranks[j][r].delivered =
			(struct coord_position){0};
}

static uint32_t length(unsigned j, uint32_t r)
{
	const struct group_job *job = &group.jobs[j];
	return ranks_position(job->n, job->facts.batch, job->facts.ranks, r);
}

/* Tells whether a rank has not ended the epoch before the previous one. Until then the epoch does
 * not begin. */
static bool is_held_back(unsigned j, uint32_t epoch)
{
	const struct local_job *job = local_find(group.store, journal_name(j));
	for (uint32_t r = 0; job && r < job->facts.ranks; r++) {
		struct coord_position at = job->ranks[r].cursor;
		if (at.epoch + 1 < epoch &&
			(at.epoch + 2 < epoch || at.position < length(j, r)))
			return true;
	}
	return job == NULL;
}

static void consume(struct node *node, unsigned j, uint32_t r)
{
	struct coord_position *consumed = &node->ranks[j][r].consumed,
			      delivered = node->ranks[j][r].delivered;
	const char *job = journal_name(j);
	struct coord_rank_status status;
	if (co_now() < node->ranks[j][r].next_ns ||
		coord_rank_status(node->coord, job, r, &status) || !status.held)
		return;
	node->ranks[j][r].next_ns = co_now() + group.jobs[j].pace_ns * (1 + co_random(3));
	/* The reader begins at the position where the node took the rank. */
	struct coord_position at = {status.committed_epoch, status.committed};
	if (consumed->epoch < at.epoch ||
		(consumed->epoch == at.epoch && consumed->position < at.position))
		*consumed = at;
	if (consumed->position >= length(j, r) && consumed->epoch + 1 < MOST_EPOCHS) {
		(void)coord_want(node->coord, job, consumed->epoch + 1);
		if (is_held_back(j, consumed->epoch + 1))
			checker_consumed(j, r); /* the reader waits for another one */
		if (delivered.epoch > consumed->epoch)
			*consumed = (struct coord_position){consumed->epoch + 1, 0};
	}
	uint32_t most = consumed->position;
	if (delivered.epoch > consumed->epoch)
		most = length(j, r);
	else if (delivered.epoch == consumed->epoch)
		most = delivered.position;
	if (consumed->position >= most)
		return;
	uint32_t n = 1 + co_random(3);
	consumed->position +=
		n < most - consumed->position ? n : most - consumed->position;
	checker_consumed(j, r);
	(void)coord_commit(node->coord, job, r, consumed->epoch, consumed->position);
}

static void read_all(struct node *node)
{
	for (unsigned j = 0; j < group.n_jobs; j++)
		for (uint32_t r = 0; r < group.jobs[j].facts.ranks; r++) {
			take(node, j, r);
			if (node->ranks[j][r].held)
				consume(node, j, r);
		}
}

/* --- life ------------------------------------------------------------------------------- */

static void start(struct node *node)
{
	bool (*const places[])(void *, const struct coord_batch *, uint32_t *) = {
		NULL, place, place_at_home};
	uint64_t before = co_one_in(2) ? node->incarnation : 0;
	/* The incarnation tells the number of its node. */
	node->incarnation =
		(1 + co_random(UINT32_MAX)) * (uint64_t)MOST_NODES + node->number;
	struct coord_options options = {.self = {.incarnation = node->incarnation,
						.before = before,
						.capacity = 1},
		.ttl_ns = TTL_NS,
		.seed = co_random(UINT32_MAX),
		.mini_batches = 1 + co_random(3),
		.calls = {node, fed, lost, known, tail, forget, NULL,
			places[co_random(3)], co_one_in(2) ? any_samples : NULL,
			co_one_in(2) ? any_samples : NULL}};
	snprintf(options.self.name, sizeof(options.self.name), "n%u", node->number);
	snprintf(options.self.address, sizeof(options.self.address), "10.0.0.%u:1",
		node->number);
	node->killed = false;
	memset(node->ranks, 0, sizeof(node->ranks));
	ensure(coord_new(&options, &node->engine, &node->coord) == 0);
	for (unsigned j = 0; j < group.n_jobs; j++)
		ensure(coord_add_job(node->coord, &group.jobs[j].facts) == 0);
}

static void stop(struct node *node)
{
	struct coord_status status;
	coord_status(node->coord, &status);
	group.counts.fenced += status.fenced;
	coord_free(&node->coord);
	while (node->n_placed > 0)
		roaring_bitmap_free(node->placed[--node->n_placed]);
}

static void live(struct node *node)
{
	start(node);
	while (!node->killed && !group.ending) {
		uint64_t due = coord_step(node->coord, clock_of(node));
		if (node->killed)
			break;
		read_all(node);
		uint64_t now = clock_of(node), in = due > now ? due - now : 0;
		if (in > 20 * MS)
			in = 20 * MS; /* a reader wakes the node */
		co_sleep(in + MS + co_random(2) * MS);
	}
	stop(node);
}

static void *run(void *context)
{
	struct node *node = context;
	while (!group.ending) {
		live(node);
		while (co_now() < node->down_until_ns && !group.ending)
			co_sleep(10 * MS);
		node->harmed_ns = co_now();
	}
	return NULL;
}

static int ids[MOST_NODES];

void nodes_start(void)
{
	for (unsigned i = 0; i < group.n_nodes; i++) {
		struct node *node = &group.nodes[i];
		memset(node, 0, sizeof(*node));
		node->number = i;
		journal_clear(&node->journal);
		network_connect(node);
		ids[i] = co_start(run, node);
	}
}

void nodes_wait(void)
{
	for (unsigned i = 0; i < group.n_nodes; i++)
		co_join(ids[i]);
}

void node_kill(struct node *node, uint64_t down_ns)
{
	node->killed = true;
	node->harmed_ns = co_now();
	node->down_until_ns = co_now() + down_ns;
	group.counts.kills++;
}
