// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/ensure.h"
#include "dataset/dataset_internal.h"
#include "dataset/label_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A mixture has its own labels, in memory. All other facts about samples stay in the maps of the
 * mixture's datasets. */

struct mixing {
	const struct dataset_mixed *from;
	size_t n;
	struct dataset *made;
	const struct label_table *table; /* NULL: class names determine the labels */
	const struct dataset *numbered;	 /* result of longest_numbered */
	char **ret_message;
};

/* Tells whether the name is this number. Leading zeros are allowed. */
static bool is_number(const char *name, uint32_t number)
{
	size_t n = strspn(name, "0123456789");
	return n > 0 && n < 10 && !name[n] && strtoul(name, NULL, 10) == number;
}

static bool is_numbered(const struct dataset *dataset)
{
	for (uint32_t i = 0; i < dataset->n_classes; i++)
		if (!is_number(dataset->classes[i], i))
			return false;
	return true;
}

/* Returns the dataset with the most classes if the classes of all datasets are named 0, 1, 2 and so
 * on. The mixture then has the same classes as this dataset. Returns NULL if there are other
 * names. */
static const struct dataset *longest_numbered(const struct mixing *mixing)
{
	const struct dataset *longest = mixing->from[0].dataset;
	for (size_t i = 0; i < mixing->n; i++) {
		const struct dataset *dataset = mixing->from[i].dataset;
		if (!is_numbered(dataset))
			return NULL;
		if (dataset->n_classes > longest->n_classes)
			longest = dataset;
	}
	return longest;
}

static int list_all(const struct mixing *mixing, struct name_list *ret)
{
	int err = 0;
	for (size_t i = 0; i < mixing->n; i++) {
		const struct dataset *dataset = mixing->from[i].dataset;
		for (uint32_t k = 0; !err && k < dataset->n_classes; k++)
			err = name_list_add(ret, dataset->classes[k]);
	}
	return err;
}

static int copy_names(struct dataset *made, const char *const *names, size_t n)
{
	made->classes = calloc(n + 1, sizeof(*made->classes));
	if (!made->classes)
		return -ENOMEM;
	for (; made->n_classes < n; made->n_classes++) {
		made->classes[made->n_classes] = strdup(names[made->n_classes]);
		if (!made->classes[made->n_classes])
			return -ENOMEM;
	}
	return 0;
}

static int name_classes(const struct mixing *mixing)
{
	struct name_list names = {0};
	if (mixing->table)
		return label_table_classes(
			mixing->table, &mixing->made->classes, &mixing->made->n_classes);
	if (mixing->numbered)
		return copy_names(mixing->made,
			(const char *const *)mixing->numbered->classes,
			mixing->numbered->n_classes);
	int err = list_all(mixing, &names);
	if (!err) {
		name_list_sort(&names);
		err = copy_names(mixing->made, names.name, names.n);
	}
	free(names.name);
	return err;
}

static uint32_t label_of(
	const struct mixing *mixing, const struct dataset *dataset, uint32_t label)
{
	const struct dataset *made = mixing->made;
	const char *name = dataset->classes[label];
	if (mixing->table)
		return label_table_find(mixing->table, dataset->name, name);
	if (mixing->numbered)
		return label;
	uint32_t found = dataset_find_class(made, name);
	return found < made->n_classes ? found : LABEL_NONE;
}

/* Returns an array: the mixture's label for each label of the dataset. The caller frees the array;
 * NULL: no memory. */
static uint32_t *map_labels(const struct mixing *mixing, const struct dataset *dataset)
{
	uint32_t *map = calloc(dataset->n_classes + 1, sizeof(*map));
	for (uint32_t i = 0; map && i < dataset->n_classes; i++)
		map[i] = label_of(mixing, dataset, i);
	return map;
}

static int refuse_class(
	const struct mixing *mixing, const struct dataset *dataset, const char *class)
{
	struct quoted quoted;
	*mixing->ret_message = aprintf(
		"has no label for %s/%s, allowed: a line for each class with samples "
		"of the job",
		dataset->name, quote_name(&quoted, class));
	return -EINVAL;
}

static int label_samples(
	const struct mixing *mixing, const struct dataset_mixed *from, uint32_t *ret)
{
	const struct dataset *dataset = from->dataset;
	auto_free uint32_t *map = map_labels(mixing, dataset);
	if (!map)
		return -ENOMEM;
	for (sample_id id = 0; id < dataset->n_ids; id++) {
		uint32_t label = dataset_label(dataset, id);
		ret[id] = label == LABEL_NONE ? LABEL_NONE : map[label];
		if (ret[id] == LABEL_NONE && roaring_bitmap_contains(from->selection, id))
			return refuse_class(
				mixing, dataset, dataset_class_name(dataset, label));
	}
	return 0;
}

static int count(const struct mixing *mixing)
{
	struct dataset *made = mixing->made;
	made->mixed = calloc(mixing->n, sizeof(struct dataset *));
	made->firsts = calloc(mixing->n, sizeof(*made->firsts));
	if (!made->mixed || !made->firsts)
		return -ENOMEM;
	for (size_t i = 0; i < mixing->n; i++) {
		struct dataset *dataset = mixing->from[i].dataset;
		made->mixed[i] = dataset_hold(dataset);
		made->n_mixed++;
		made->firsts[i] = made->n_ids;
		if (dataset->n_ids > SAMPLE_NONE - 1 - made->n_ids)
			return -EOVERFLOW;
		made->n_ids += dataset->n_ids;
		made->n_samples += dataset->n_samples;
		made->total_bytes += dataset->total_bytes;
	}
	return 0;
}

static int mix(const struct mixing *mixing, const char *name)
{
	struct dataset *made = mixing->made;
	made->name = strdup(name);
	int err = made->name ? count(mixing) : -ENOMEM;
	if (!err) {
		made->labels = calloc((size_t)made->n_ids + 1, sizeof(*made->labels));
		err = made->labels ? name_classes(mixing) : -ENOMEM;
	}
	if (!err)
		classes_check(made);
	for (size_t i = 0; i < mixing->n && !err; i++)
		err = label_samples(
			mixing, &mixing->from[i], made->labels + made->firsts[i]);
	return err;
}

int dataset_mix(const char *name, const struct dataset_mixed *from, size_t n,
	const char *label_table, struct dataset **ret, char **ret_message)
{
	struct label_table *table = NULL;
	struct dataset *made = calloc(1, sizeof(*made));
	*ret_message = NULL;
	if (!made)
		return -ENOMEM;
	atomic_init(&made->references, 1);
	lock_init(&made->lock, LOCK_RANK_DATASET, "dataset connections");
	ensure(pthread_cond_init(&made->paths_made, NULL) == 0);
	made->kind = "mixture";
	int err = label_table ? label_table_read(label_table, &table, ret_message) : 0;
	struct mixing mixing = {.from = from,
		.n = n,
		.made = made,
		.table = table,
		.ret_message = ret_message};
	if (!table)
		mixing.numbered = longest_numbered(&mixing);
	if (!err)
		err = mix(&mixing, name);
	label_table_free(&table);
	if (err)
		dataset_close(&made);
	else
		*ret = made;
	return err;
}

sample_id dataset_first(const struct dataset *dataset, size_t i)
{
	return dataset->firsts[i];
}
