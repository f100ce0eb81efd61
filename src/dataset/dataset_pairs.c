// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_pairs.h"
#include "base/ensure.h"
#include "dataset/dataset_groups.h"
#include "dataset/dataset_map.h"
#include "dataset/dataset_paths.h"
#include "image/sections.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct dataset_pairs {
	struct dataset_pairs *next;
	char from[SECTION_FROM];
	roaring_bitmap_t *seconds;
	sample_id second[]; /* second file's id, indexed by the first file's id */
};

struct path {
	char text[PATH_MAX];
	size_t n;
};

static bool add(struct path *path, const char *text, size_t n)
{
	if (n >= sizeof(path->text) - path->n)
		return false;
	memcpy(path->text + path->n, text, n);
	path->n += n;
	path->text[path->n] = '\0';
	return true;
}

/* Removes the last component of a path that ends with a slash. Returns false if the path is
 * empty. */
static bool leave(struct path *path)
{
	if (path->n == 0)
		return false;
	path->n--; /* the slash */
	while (path->n > 0 && path->text[path->n - 1] != '/')
		path->n--;
	path->text[path->n] = '\0';
	return true;
}

/* Appends the component `name` of `from` to the path, with `stem` in place of {stem}. Returns false
 * if the path becomes too long. */
static bool add_name(
	struct path *path, const char *name, size_t n, const char *stem, size_t n_stem)
{
	static const char place[] = "{stem}";
	const size_t n_place = sizeof(place) - 1;
	while (n > 0) {
		bool is_stem = n >= n_place && memcmp(name, place, n_place) == 0;
		size_t taken = is_stem ? n_place : 1;
		if (!add(path, is_stem ? stem : name, is_stem ? n_stem : 1))
			return false;
		name += taken;
		n -= taken;
	}
	return true;
}

/* Makes the second file's path. Returns false if this path leads out of the dataset, or is too
 * long. */
static bool find_path(const char *first, const char *from, struct path *ret)
{
	const char *name = base_name(first);
	const char *dot = strrchr(name, '.');
	size_t n_stem = dot && dot > name ? (size_t)(dot - name) : strlen(name);
	*ret = (struct path){0};
	if (!add(ret, first, (size_t)(name - first)))
		return false;
	for (;; from++) {
		size_t n = strcspn(from, "/");
		if (n == 2 && memcmp(from, "..", 2) == 0) {
			if (!leave(ret))
				return false;
		} else if (n > 1 || (n == 1 && *from != '.')) {
			if (!add_name(ret, from, n, name, n_stem))
				return false;
			if (from[n] == '/' && !add(ret, "/", 1))
				return false;
		}
		from += n;
		if (*from == '\0')
			return true;
	}
}

static sample_id look_up(const struct dataset_paths *paths, const char *path)
{
	const struct paths_directory *directory = paths_directory(paths, 0);
	const char *slash;
	for (; (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		size_t n = (size_t)(slash - path);
		if (n > NAME_MAX)
			return SAMPLE_NONE;
		memcpy(name, path, n);
		name[n] = '\0';
		uint32_t child = paths_find_child(paths, directory, name);
		if (child == UINT32_MAX)
			return SAMPLE_NONE;
		directory = paths_directory(paths, child);
	}
	uint32_t file = paths_find_file(paths, directory, path, strlen(path));
	return file == UINT32_MAX ? SAMPLE_NONE : paths_sample(paths, file);
}

static sample_id find_second(const struct dataset *dataset,
	const struct dataset_paths *paths, const char *from, sample_id id,
	struct path_text *text)
{
	const char *first = map_path(dataset->map, id, text);
	struct path path;
	if (!first || !find_path(first, from, &path))
		return SAMPLE_NONE;
	sample_id second = look_up(paths, path.text);
	return second == id ? SAMPLE_NONE : second;
}

static void pairs_free(struct dataset_pairs *pairs)
{
	if (pairs && pairs->seconds)
		roaring_bitmap_free(pairs->seconds);
	free(pairs);
}

void dataset_pairs_free(struct dataset_pairs *pairs)
{
	while (pairs) {
		struct dataset_pairs *next = pairs->next;
		pairs_free(pairs);
		pairs = next;
	}
}

static int make(const struct dataset *dataset, const struct dataset_paths *paths,
	const char *from, struct dataset_pairs **ret)
{
	struct dataset_pairs *pairs = calloc(
		1, sizeof(*pairs) + (size_t)dataset->n_ids * sizeof(pairs->second[0]));
	if (pairs)
		pairs->seconds = roaring_bitmap_create();
	if (!pairs || !pairs->seconds) {
		pairs_free(pairs);
		return -ENOMEM;
	}
	struct path_text text = {0};
	snprintf(pairs->from, sizeof(pairs->from), "%s", from);
	for (sample_id id = 0; id < dataset->n_ids; id++) {
		pairs->second[id] = SAMPLE_NONE;
		if (!roaring_bitmap_contains(dataset->present, id))
			continue;
		pairs->second[id] = find_second(dataset, paths, from, id, &text);
		if (pairs->second[id] != SAMPLE_NONE)
			roaring_bitmap_add(pairs->seconds, pairs->second[id]);
	}
	*ret = pairs;
	return 0;
}

static const struct dataset_pairs *pairs_of(
	const struct dataset *dataset, const struct preparation *preparation)
{
	if (!preparation_pair(preparation))
		return NULL;
	const struct dataset_pairs *pairs = atomic_load(&dataset->pairs);
	while (pairs && strcmp(pairs->from, preparation->sections->from) != 0)
		pairs = pairs->next;
	return pairs;
}

int dataset_pair(struct dataset *dataset, const struct preparation *preparation)
{
	const struct dataset_paths *paths;
	struct dataset_pairs *pairs;
	if (preparation->frames)
		return dataset_group(dataset);
	if (!preparation_pair(preparation) || pairs_of(dataset, preparation))
		return 0;
	int err = dataset_paths(dataset, &paths);
	if (!err)
		err = make(dataset, paths, preparation->sections->from, &pairs);
	if (err)
		return err;
	LOCK_SCOPE(&dataset->lock);
	pairs->next = atomic_load(&dataset->pairs);
	atomic_store(&dataset->pairs, pairs);
	return 0;
}

sample_id dataset_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id)
{
	const struct dataset_pairs *pairs = pairs_of(dataset, preparation);
	ensure(id < dataset->n_ids);
	return pairs ? pairs->second[id] : SAMPLE_NONE;
}

sample_id dataset_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i)
{
	if (preparation->frames)
		return dataset_frame(dataset, preparation, id, i + 1);
	return i == 0 ? dataset_second(dataset, preparation, id) : SAMPLE_NONE;
}

bool dataset_is_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id)
{
	if (preparation->frames)
		return dataset_is_later_frame(dataset, id);
	const struct dataset_pairs *pairs = pairs_of(dataset, preparation);
	return pairs && roaring_bitmap_contains(pairs->seconds, id);
}

static bool same_size(struct tensor_shape a, struct tensor_shape b)
{
	return a.width == b.width && a.height == b.height;
}

/* Tells whether the aspect ratios are equal, apart from rounding by up to a pixel. */
static bool same_form(struct tensor_shape a, struct tensor_shape b)
{
	uint64_t x = (uint64_t)a.width * b.height, y = (uint64_t)a.height * b.width;
	return (x > y ? x - y : y - x) <= (uint64_t)a.width + a.height;
}

struct preparation dataset_preparation_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id)
{
	const struct tensor_section *section = preparation_pair(preparation);
	struct preparation second = section ? section->preparation : *preparation;
	sample_id file = dataset_second(dataset, preparation, id);
	if (!section || file == SAMPLE_NONE)
		return second;
	struct tensor_shape first = dataset_turned_shape(dataset, preparation, id);
	if (same_size(first, dataset_turned_shape(dataset, &second, file)))
		return second;
	struct tensor_shape resized = preparation_resized(preparation, first);
	second.resize_short = second.resize_long = 0;
	second.resize_width = resized.width;
	second.resize_height = resized.height;
	return second;
}

/* Tells whether a resize would mix indices of a palette, which is meaningless. */
static bool mixes_indices(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id)
{
	return preparation->channels == CHANNELS_KEEP &&
	       preparation->filter != FILTER_NEAREST &&
	       dataset_image_shape(dataset, id).mode == PIXELS_P;
}

#define SECOND "its file %.90s "

static bool fails_missing(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message)
{
	struct path_text text = {0};
	const char *first = map_path(dataset->map, id, &text);
	struct path path;
	if (message && first && find_path(first, preparation->sections->from, &path))
		snprintf(message, PAIR_MESSAGE, SECOND "is no image of the dataset",
			path.text);
	else if (message)
		snprintf(message, PAIR_MESSAGE,
			"its second file would lie outside of the dataset");
	return true;
}

bool dataset_pair_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message)
{
	const struct tensor_section *section = preparation_pair(preparation);
	if (preparation->frames)
		return dataset_group_fails(dataset, preparation, id, message);
	if (!section)
		return false;
	sample_id second = dataset_second(dataset, preparation, id);
	if (second == SAMPLE_NONE)
		return fails_missing(dataset, preparation, id, message);
	struct tensor_shape a = dataset_turned_shape(dataset, preparation, id);
	struct tensor_shape b =
		dataset_turned_shape(dataset, &section->preparation, second);
	bool mixes = mixes_indices(dataset, &section->preparation, second);
	if (b.width && (same_size(a, b) || (same_form(a, b) && !mixes)))
		return false;
	struct path_text text = {0};
	const char *name = dataset_relative(dataset, second, &text);
	if (message && b.width == 0)
		snprintf(message, PAIR_MESSAGE, SECOND "has no readable header", name);
	else if (message)
		snprintf(message, PAIR_MESSAGE,
			"is %ux%u, but its file %.56s is %ux%u; allowed: %s", a.width,
			a.height, name, b.width, b.height,
			same_form(a, b) ? "filter = nearest" : "the same shape");
	return true;
}
