// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_groups.h"
#include "base/cleanup.h"
#include "base/ensure.h"
#include "dataset/dataset_internal.h"
#include "dataset/dataset_map.h"
#include "dataset/dataset_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct group {
	uint32_t begin; /* index in dataset_groups.files */
	uint32_t n;	/* number of files; 0: the sample is not the first file */
};

struct dataset_groups {
	sample_id *files;  /* sorted by directory, then by name */
	struct group of[]; /* indexed by id */
};

static int compare_numbers(const char *a, size_t n_a, const char *b, size_t n_b)
{
	for (; n_a > 1 && *a == '0'; a++)
		n_a--;
	for (; n_b > 1 && *b == '0'; b++)
		n_b--;
	return n_a == n_b ? memcmp(a, b, n_a) : n_a < n_b ? -1 : 1;
}

static int compare_names(const char *a, const char *b)
{
	const char *all_a = a, *all_b = b;
	while (*a && *b) {
		size_t n_a = strspn(a, "0123456789"), n_b = strspn(b, "0123456789");
		int order = n_a && n_b ? compare_numbers(a, n_a, b, n_b)
				       : (unsigned char)*a - (unsigned char)*b;
		if (order)
			return order;
		a += n_a && n_b ? n_a : 1;
		b += n_a && n_b ? n_b : 1;
	}
	int order = (unsigned char)*a - (unsigned char)*b;
	return order ? order : strcmp(all_a, all_b);
}

static bool same_directory(const char *a, const char *b)
{
	size_t n = directory_bytes(a);
	return n == directory_bytes(b) && memcmp(a, b, n) == 0;
}

struct named {
	const char *path;
	sample_id id;
};

static int compare(const void *a, const void *b)
{
	const char *x = ((const struct named *)a)->path;
	const char *y = ((const struct named *)b)->path;
	size_t n_x = directory_bytes(x), n_y = directory_bytes(y);
	int order = compare_spans(x, n_x, y, n_y);
	return order ? order : compare_names(x + n_x, y + n_y);
}

void dataset_groups_free(struct dataset_groups *groups)
{
	if (groups)
		free(groups->files);
	free(groups);
}

static struct dataset_groups *alloc(const struct dataset *dataset)
{
	struct dataset_groups *groups = calloc(
		1, sizeof(*groups) + (size_t)dataset->n_ids * sizeof(groups->of[0]));
	if (!groups)
		return NULL;
	groups->files = calloc((size_t)dataset->n_ids + 1, sizeof(*groups->files));
	if (groups->files)
		return groups;
	free(groups);
	return NULL;
}

/* Lists the samples. Leaves out those whose files no longer exist, or whose paths are damaged. */
static int list_files(const struct dataset *dataset, struct arena *texts,
	struct named *ret, uint32_t *ret_n)
{
	struct path_text text = {0};
	for (sample_id id = 0; id < dataset->n_ids; id++) {
		if (!roaring_bitmap_contains(dataset->present, id))
			continue;
		const char *path = map_path(dataset->map, id, &text);
		if (!path)
			continue;
		ret[*ret_n] = (struct named){arena_text(texts, path), id};
		if (!ret[(*ret_n)++].path)
			return -ENOMEM;
	}
	return 0;
}

static int make(const struct dataset *dataset, struct dataset_groups *ret)
{
	uint32_t n = 0, begin = 0;
	struct arena texts = {0};
	auto_free struct named *files =
		calloc((size_t)dataset->n_ids + 1, sizeof(*files));
	int err = files ? list_files(dataset, &texts, files, &n) : -ENOMEM;
	if (err)
		n = 0;
	qsort(files, n, sizeof(*files), compare);
	for (uint32_t i = 0; i < n; i++) {
		ret->files[i] = files[i].id;
		if (!same_directory(files[begin].path, files[i].path))
			begin = i;
		struct group *group = &ret->of[files[begin].id];
		group->begin = begin;
		group->n++;
	}
	arena_free(&texts);
	return err;
}

int dataset_group(struct dataset *dataset)
{
	if (atomic_load(&dataset->groups))
		return 0;
	struct dataset_groups *none = NULL, *groups = alloc(dataset);
	int err = groups ? make(dataset, groups) : -ENOMEM;
	if (err) {
		dataset_groups_free(groups);
		return err;
	}
	if (!atomic_compare_exchange_strong(&dataset->groups, &none, groups))
		dataset_groups_free(groups);
	return 0;
}

static struct group group_of(const struct dataset *dataset, sample_id id)
{
	const struct dataset_groups *groups = atomic_load(&dataset->groups);
	ensure(id < dataset->n_ids);
	return groups ? groups->of[id] : (struct group){0};
}

bool dataset_is_later_frame(const struct dataset *dataset, sample_id id)
{
	return atomic_load(&dataset->groups) && group_of(dataset, id).n == 0;
}

sample_id dataset_frame(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i)
{
	const struct dataset_groups *groups = atomic_load(&dataset->groups);
	struct group group = group_of(dataset, id);
	uint32_t frames = preparation->frames;
	if (i >= frames || group.n < frames)
		return SAMPLE_NONE;
	return groups->files[group.begin + (uint32_t)((uint64_t)i * group.n / frames)];
}

static struct tensor_shape prepared(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id)
{
	struct tensor_shape image = dataset_turned_shape(dataset, preparation, id);
	return image.width == 0 ? image : preparation_output(preparation, image);
}

static bool fails_frame(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, sample_id frame,
	char *message)
{
	struct tensor_shape a = prepared(dataset, preparation, id);
	struct tensor_shape b = prepared(dataset, preparation, frame);
	if (b.width && a.width == b.width && a.height == b.height && a.mode == b.mode)
		return false;
	struct path_text text = {0};
	const char *name = dataset_relative(dataset, frame, &text);
	if (message && b.width == 0)
		snprintf(message, PAIR_MESSAGE, "frame %.100s has no readable header",
			name);
	else if (message)
		snprintf(message, PAIR_MESSAGE,
			"frame %.40s becomes %ux%u, %s, the first frame becomes %ux%u, "
			"%s; allowed: one size and kind of pixels",
			name, b.width, b.height, pixel_modes[b.mode].name, a.width,
			a.height, pixel_modes[a.mode].name);
	return true;
}

bool dataset_group_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message)
{
	uint32_t n = group_of(dataset, id).n;
	if (n < preparation->frames && message)
		snprintf(message, PAIR_MESSAGE,
			"its directory has %u files, allowed: at least frames = %u", n,
			preparation->frames);
	if (n < preparation->frames)
		return true;
	for (uint32_t i = 0; i < preparation->frames; i++)
		if (fails_frame(dataset, preparation, id,
			    dataset_frame(dataset, preparation, id, i), message))
			return true;
	return false;
}
