// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "place/locality.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* count: in the heap `surplus`, the samples that the node has beyond its quota; in the heap `lack`,
 * the samples that the node's ranks lack */
struct imbalance {
	uint32_t count, node;
};

/* The first item has the largest count and, among equal counts, the smallest node number. */
struct heap {
	struct imbalance *items;
	uint32_t n;
};

struct node {
	uint32_t quota; /* samples that the ranks of the node take */
	uint32_t has;	/* samples of the batch in the node's cache */
	uint32_t kept;	/* samples in the cache that the node's ranks have taken so far */
	/* the rank that took a sample last. The next rank in the node's ring (rank_next) takes the
	 * next sample. NONE: no rank of the node takes more samples. */
	uint32_t rank;
	uint32_t first_move; /* the next move from this node; NONE: there are no more */
};

/* Samples that go from one node to another. */
struct move {
	uint32_t to;
	uint32_t left; /* samples of the move that are not assigned yet */
	uint32_t next; /* the next move from the same node; NONE: there are no more */
};

struct locality {
	struct node *nodes;
	struct heap surplus, lack;
	struct move *moves;
	/* nodes that get some of the samples that no node has; count: how many of these samples the
	 * node gets */
	struct imbalance *fill;
	uint32_t n_moves, fill_at;
	/* rank_next[r]: the rank after rank r in the ring of rank r's node. The ring has the node's
	 * ranks that still take samples. */
	uint32_t *rank_next;
	uint32_t *rank_left; /* rank_left[r]: number of samples that rank r still takes */
};

/* --- heaps ------------------------------------------------------------------------------- */

static bool is_above(const struct imbalance *a, const struct imbalance *b)
{
	return a->count != b->count ? a->count > b->count : a->node < b->node;
}

static void swap(struct imbalance *a, struct imbalance *b)
{
	struct imbalance c = *a;
	*a = *b;
	*b = c;
}

static void heap_push(struct heap *heap, uint32_t count, uint32_t node)
{
	uint32_t i = heap->n++;
	heap->items[i] = (struct imbalance){.count = count, .node = node};
	for (; i > 0 && is_above(&heap->items[i], &heap->items[(i - 1) / 2]);
		i = (i - 1) / 2)
		swap(&heap->items[i], &heap->items[(i - 1) / 2]);
}

static void heap_reduce(struct heap *heap, uint32_t by)
{
	struct imbalance *items = heap->items;
	items[0].count -= by;
	if (items[0].count == 0)
		items[0] = items[--heap->n];
	for (uint32_t i = 0, child; (child = 2 * i + 1) < heap->n; i = child) {
		if (child + 1 < heap->n && is_above(&items[child + 1], &items[child]))
			child++;
		if (is_above(&items[i], &items[child]))
			break;
		swap(&items[i], &items[child]);
	}
}

/* --- the moves --------------------------------------------------------------------------- */

static bool is_valid(const struct locality_batch *batch)
{
	uint64_t sum = 0;
	for (uint32_t r = 0; r < batch->n_ranks; r++) {
		if (batch->rank_node[r] >= batch->n_nodes)
			return false;
		sum += batch->rank_count[r];
	}
	for (uint32_t i = 0; i < batch->n_samples; i++)
		if (batch->sample_node[i] >= batch->n_nodes &&
			batch->sample_node[i] != LOCALITY_NOWHERE)
			return false;
	return sum == batch->n_samples;
}

static void add_rank(struct locality *locality, uint32_t rank, uint32_t node, uint32_t n)
{
	struct node *at = &locality->nodes[node];
	at->quota += n;
	locality->rank_left[rank] = n;
	if (n == 0)
		return;
	if (at->rank == NONE) {
		locality->rank_next[rank] = rank;
	} else {
		locality->rank_next[rank] = locality->rank_next[at->rank];
		locality->rank_next[at->rank] = rank;
	}
	at->rank = rank;
}

static void begin(struct locality *locality, const struct locality_batch *batch)
{
	for (uint32_t v = 0; v < batch->n_nodes; v++)
		locality->nodes[v] = (struct node){.rank = NONE, .first_move = NONE};
	for (uint32_t r = 0; r < batch->n_ranks; r++)
		add_rank(locality, r, batch->rank_node[r], batch->rank_count[r]);
	for (uint32_t i = 0; i < batch->n_samples; i++)
		if (batch->sample_node[i] != LOCALITY_NOWHERE)
			locality->nodes[batch->sample_node[i]].has++;
}

static int compare_fill(const void *a_, const void *b_)
{
	const struct imbalance *a = a_, *b = b_;
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Gives the samples that no node has to nodes that lack samples, the smallest lack first. Nodes
 * that still lack samples go to the heap `lack`. */
static void fill(
	struct locality *locality, const struct locality_batch *batch, uint32_t nowhere)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < batch->n_nodes; v++) {
		const struct node *node = &locality->nodes[v];
		if (node->quota > node->has)
			locality->fill[n++] = (struct imbalance){
				.count = node->quota - node->has, .node = v};
	}
	if (nowhere > 0)
		qsort(locality->fill, n, sizeof(*locality->fill), compare_fill);
	for (uint32_t i = 0; i < n; i++) {
		struct imbalance *lack = &locality->fill[i];
		uint32_t part = lack->count < nowhere ? lack->count : nowhere;
		if (part < lack->count)
			heap_push(&locality->lack, lack->count - part, lack->node);
		lack->count = part;
		nowhere -= part;
	}
}

static void move(struct locality *locality, uint32_t from, uint32_t to, uint32_t count)
{
	struct node *node = &locality->nodes[from];
	locality->moves[locality->n_moves] =
		(struct move){.to = to, .left = count, .next = node->first_move};
	node->first_move = locality->n_moves++;
}

static void balance(struct locality *locality, const struct locality_batch *batch)
{
	struct heap *surplus = &locality->surplus, *lack = &locality->lack;
	for (uint32_t v = 0; v < batch->n_nodes; v++) {
		const struct node *node = &locality->nodes[v];
		if (node->has > node->quota)
			heap_push(surplus, node->has - node->quota, v);
	}
	/* `lack` is not empty, because the sums of all lacks and of all surpluses are equal */
	while (surplus->n > 0) {
		const struct imbalance *from = &surplus->items[0], *to = &lack->items[0];
		uint32_t count = from->count < to->count ? from->count : to->count;
		move(locality, from->node, to->node, count);
		heap_reduce(surplus, count);
		heap_reduce(lack, count);
	}
}

/* --- the samples ------------------------------------------------------------------------- */

static uint32_t next_fill(struct locality *locality)
{
	struct imbalance *part = &locality->fill[locality->fill_at];
	if (--part->count == 0)
		locality->fill_at++;
	return part->node;
}

static uint32_t next_move(struct locality *locality, struct node *from)
{
	struct move *move = &locality->moves[from->first_move];
	if (--move->left == 0)
		from->first_move = move->next;
	return move->to;
}

static uint32_t taken_by(struct locality *locality, uint32_t home)
{
	if (home == LOCALITY_NOWHERE)
		return next_fill(locality);
	struct node *node = &locality->nodes[home];
	if (node->kept < node->quota) {
		node->kept++;
		return home;
	}
	return next_move(locality, node);
}

/* Returns which rank of the node takes the next sample. If the sample is the rank's last, removes
 * the rank from the ring. */
static uint32_t next_rank(struct locality *locality, struct node *node)
{
	uint32_t before = node->rank, rank = locality->rank_next[before];
	if (--locality->rank_left[rank] > 0) {
		node->rank = rank;
		return rank;
	}
	locality->rank_next[before] = locality->rank_next[rank];
	if (before == rank)
		node->rank = NONE;
	return rank;
}

int locality_assign(const struct locality_batch *batch, uint32_t *ret_rank)
{
	size_t n = batch->n_nodes + (size_t)1, ranks = batch->n_ranks + (size_t)1;
	uint32_t nowhere = 0;
	if (!is_valid(batch))
		return -EINVAL;
	auto_free struct node *nodes = calloc(n, sizeof(*nodes));
	auto_free struct imbalance *items = calloc(3 * n, sizeof(*items));
	/* There are fewer than n moves, because after each move one more node has exactly its
	 * quota. */
	auto_free struct move *moves = calloc(n, sizeof(*moves));
	auto_free uint32_t *rings = calloc(2 * ranks, sizeof(*rings));
	if (!nodes || !items || !moves || !rings)
		return -ENOMEM;
	struct locality locality = {.nodes = nodes,
		.surplus.items = items,
		.lack.items = items + n,
		.fill = items + 2 * n,
		.moves = moves,
		.rank_next = rings,
		.rank_left = rings + ranks};
	begin(&locality, batch);
	for (uint32_t i = 0; i < batch->n_samples; i++)
		nowhere += batch->sample_node[i] == LOCALITY_NOWHERE;
	fill(&locality, batch, nowhere);
	balance(&locality, batch);
	for (uint32_t i = 0; i < batch->n_samples; i++) {
		uint32_t node = taken_by(&locality, batch->sample_node[i]);
		ret_rank[i] = next_rank(&locality, &nodes[node]);
	}
	return 0;
}
