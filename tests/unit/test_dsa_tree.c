// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/dsa_tree_internal.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

/* The operations of the paper's section 4.2 and appendix C, seen at the vertices. */

static struct dsa_tree *new_tree(uint64_t seed)
{
	struct dsa_tree *tree;
	cr_assert_eq(dsa_tree_new(seed, &tree), 0);
	return tree;
}

/* Each digit of the text is an id. */
static roaring_bitmap_t *digits(const char *text)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (; *text; text++)
		roaring_bitmap_add(ids, (uint32_t)(*text - '0'));
	return ids;
}

static void insert(struct dsa_tree *tree, stream_id stream, const char *ids)
{
	cr_assert_eq(dsa_tree_insert(tree, stream, digits(ids)), 0);
	dsa_tree_validate(tree);
}

static void remove_stream(struct dsa_tree *tree, stream_id stream)
{
	dsa_tree_remove(tree, stream);
	dsa_tree_validate(tree);
}

static void print(char *text, const roaring_bitmap_t *set)
{
	for (uint32_t id = 0; id < 10; id++)
		if (roaring_bitmap_contains(set, id))
			sprintf(text + strlen(text), "%u", id);
}

/* Compares the levels with a text like stream:vertex,leaf ... */
static void expect(const struct dsa_tree *tree, const char *expected)
{
	char text[256] = "";
	for (size_t i = 0; i < tree->n; i++) {
		sprintf(text + strlen(text), "%s%u:", i ? " " : "",
			tree->levels[i].stream);
		print(text, tree->levels[i].vertex);
		strcat(text, ",");
		print(text, tree->levels[i].leaf);
	}
	cr_assert_str_eq(text, expected);
}

/* The tree of Figure 4a: 0 is in all three streams, 1 in the larger two, and 4 in the smallest and
 * the largest. */
static struct dsa_tree *figure_4(void)
{
	struct dsa_tree *tree = new_tree(1);
	insert(tree, 2, "0125");
	insert(tree, 3, "01467");
	insert(tree, 1, "034");
	return tree;
}

Test(dsa_tree, vertices_are_intersections_of_suffixes_and_leaves_the_rest)
{
	struct dsa_tree *tree = figure_4();
	expect(tree, "1:0,34 2:1,25 3:467,");
	dsa_tree_free(&tree);
	cr_assert_null(tree);
}

/* Figure 4c: the new root is the intersection of the old one and D. */
Test(dsa_tree, a_smaller_set_becomes_the_root)
{
	struct dsa_tree *tree = figure_4();
	insert(tree, 4, "18");
	expect(tree, "4:,18 1:0,34 2:1,25 3:467,");
	dsa_tree_free(&tree);
}

/* Figure 4d: elements of A and B that D does not have go down to both children. */
Test(dsa_tree, a_larger_set_goes_down)
{
	struct dsa_tree *tree = figure_4();
	insert(tree, 4, "145689");
	expect(tree, "1:,034 2:1,025 3:46,07 4:589,");
	dsa_tree_free(&tree);
}

/* Figure 4b, and a step that the paper leaves out: now 4 is in all streams, and rises to the
 * root. */
Test(dsa_tree, what_only_a_deleted_stream_kept_apart_is_shared_again)
{
	struct dsa_tree *tree = figure_4();
	remove_stream(tree, 2);
	expect(tree, "1:04,3 3:167,");
	dsa_tree_free(&tree);
}

/* Element 0 is given to streams 1 and 3, while stream 2 sits out: 0 goes from A to the leaf of
 * stream 2. */
Test(dsa_tree, compensation_keeps_what_others_still_need)
{
	struct dsa_tree *tree = new_tree(1);
	sample_id ret[2];
	insert(tree, 1, "0");
	insert(tree, 2, "01");
	insert(tree, 3, "0");
	expect(tree, "1:0, 3:, 2:1,");
	dsa_tree_draw(tree, (stream_id[]){1, 2}, 2, ret);
	dsa_tree_validate(tree);
	cr_assert_eq(ret[0], 0);
	expect(tree, ret[1] ? "1:, 2:0, 3:," : "1:, 2:,1 3:0,");
	dsa_tree_free(&tree);
}

/* --- validate sees mistakes -------------------------------------------------------- */

/* Validates the tree of Figure 4a after `spoil` has changed it; each `spoil` makes a wrong tree. */
static void validate(void (*spoil)(struct dsa_tree *tree))
{
	struct dsa_tree *tree = figure_4();
	spoil(tree);
	dsa_tree_validate(tree);
	dsa_tree_free(&tree);
}

static void add_twice(struct dsa_tree *tree)
{
	roaring_bitmap_add(tree->levels[1].leaf, 0);
}

/* Makes the tree that the paper's deletion leaves: each R is right, but no streams share 4. */
static void share_less(struct dsa_tree *tree)
{
	dsa_tree_remove(tree, 2);
	roaring_bitmap_remove(tree->levels[0].vertex, 4);
	roaring_bitmap_add(tree->levels[0].leaf, 4);
	roaring_bitmap_add(tree->levels[1].vertex, 4);
}

/* Swaps two streams with equal R, so that the larger id comes first. */
static void disorder(struct dsa_tree *tree)
{
	insert(tree, 9, "01467");
	tree->levels[2].stream = 9;
	tree->levels[3].stream = 3;
}

Test(dsa_tree, validate_sees_an_element_twice_on_a_path, .signal = SIGABRT)
{
	validate(add_twice);
}

Test(dsa_tree, validate_sees_an_intersection_that_is_not_whole, .signal = SIGABRT)
{
	validate(share_less);
}

Test(dsa_tree, validate_sees_streams_out_of_order, .signal = SIGABRT)
{
	validate(disorder);
}
