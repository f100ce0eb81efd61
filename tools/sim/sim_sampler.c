// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sim_sampler.h"
#include "base/ensure.h"
#include "dsa_tree.h"
#include "sampler/sampler_internal.h"

#include <errno.h>
#include <stdlib.h>

/* The `own` data of a struct sampler whose kind is SAMPLER_DSA_TREE. */
struct tree {
	struct dsa_tree *tree;
	stream_id *ids;
	sample_id *samples;
};

static void tree_free(struct sampler *sampler)
{
	struct tree *tree = sampler->own;
	if (!tree)
		return;
	dsa_tree_free(&tree->tree);
	free(tree->ids);
	free(tree->samples);
	free(tree);
}

static int tree_insert(struct sampler *sampler, struct sampler_stream *stream)
{
	struct tree *tree = sampler->own;
	size_t n = sampler->n + 1;
	stream_id *ids = reallocarray(tree->ids, n, sizeof(*ids));
	tree->ids = ids ? ids : tree->ids;
	sample_id *samples = reallocarray(tree->samples, n, sizeof(*samples));
	tree->samples = samples ? samples : tree->samples;
	roaring_bitmap_t *set = ids && samples ? idset_to_bitmap(stream->set) : NULL;
	return set ? dsa_tree_insert(tree->tree, stream->id, set) : -ENOMEM;
}

static void tree_remove(struct sampler *sampler, struct sampler_stream *stream)
{
	struct tree *tree = sampler->own;
	dsa_tree_remove(tree->tree, stream->id);
}

static void tree_draw(struct sampler *sampler, size_t m)
{
	struct tree *tree = sampler->own;
	for (size_t i = 0; i < m; i++)
		tree->ids[i] = sampler->round[i]->id;
	dsa_tree_draw(tree->tree, tree->ids, m, tree->samples);
	for (size_t i = 0; i < m; i++) {
		*sampler->round[i]->ret = tree->samples[i];
		stream_take(sampler->round[i], tree->samples[i]);
	}
}

static void tree_validate(const struct sampler *sampler)
{
	const struct tree *tree = sampler->own;
	dsa_tree_validate(tree->tree);
	for (size_t i = 0; i < sampler->n; i++) {
		const struct sampler_stream *stream = sampler->by_id[i];
		auto_bitmap roaring_bitmap_t *set =
			dsa_tree_copy_remaining(tree->tree, stream->id);
		auto_bitmap roaring_bitmap_t *expected = idset_to_bitmap(stream->set);
		ensure(expected && roaring_bitmap_equals(set, expected));
	}
}

static const struct sampler_ops tree_ops = {.insert = tree_insert,
	.remove = tree_remove,
	.draw = tree_draw,
	.validate = tree_validate,
	.free = tree_free};

int sim_sampler_new(enum sampler_kind kind, uint64_t seed, struct sampler **ret)
{
	if (kind != SAMPLER_DSA_TREE)
		return sampler_new(kind, seed, ret);
	struct sampler *sampler = NULL;
	struct tree *tree = calloc(1, sizeof(*tree));
	int err = tree ? sampler_new_of(&tree_ops, seed, &sampler) : -ENOMEM;
	if (err) {
		free(tree);
		return err;
	}
	sampler->own = tree;
	err = dsa_tree_new(seed, &tree->tree);
	if (err)
		sampler_free(&sampler);
	else
		*ret = sampler;
	return err;
}
