// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/compare.h"
#include "base/log.h"
#include "dataset/source.h"

#include <ctype.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Finds labels in containers. Members whose paths are equal up to the first dot of the
 * name belong together, such as an image and its label (WebDataset's convention). */

#define MAX_CLS 1024
#define MAX_JSON (1 << 20)
#define MAX_LABEL_TEXT 200

/* --- reading labels --------------------------------------------------------------------- */

const char *listing_label(struct listing *listing, const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t n = strlen(text);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	if (n == 0 || n > MAX_LABEL_TEXT || text[0] == '.' || memchr(text, '/', n))
		return NULL;
	return arena_span(&listing->names, text, n);
}

/* Returns a statement that reads the field scan->label_field of a JSON text. */
static sqlite3_stmt *json_reader(struct scan *scan, struct listing *listing)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *statement = NULL;
	char path[256];
	if (listing->json)
		return listing->json;
	snprintf(path, sizeof(path), "$.%s", scan->label_field);
	if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		    NULL) != SQLITE_OK ||
		sqlite3_prepare_v2(db, "SELECT json_extract(?1, ?2)", -1, &statement,
			NULL) != SQLITE_OK ||
		sqlite3_bind_text(statement, 2, path, -1, SQLITE_TRANSIENT) !=
			SQLITE_OK) {
		sqlite3_finalize(statement);
		sqlite3_close(db);
		return NULL;
	}
	return listing->json = statement;
}

/* Returns NULL if the text has no such field, or is not JSON. */
static const char *json_label(
	struct scan *scan, struct listing *listing, const char *text)
{
	sqlite3_stmt *reader = json_reader(scan, listing);
	const char *label = NULL;
	if (!reader)
		return NULL;
	sqlite3_bind_text(reader, 1, text, -1, SQLITE_STATIC);
	if (sqlite3_step(reader) == SQLITE_ROW) {
		const char *value = (const char *)sqlite3_column_text(reader, 0);
		label = value ? listing_label(listing, value) : NULL;
	}
	sqlite3_reset(reader);
	sqlite3_bind_null(reader, 1);
	return label;
}

void listing_free(struct listing *listing)
{
	if (listing->json) {
		sqlite3 *db = sqlite3_db_handle(listing->json);
		sqlite3_finalize(listing->json);
		sqlite3_close(db);
	}
	free(listing->samples);
	free(listing->directories.name);
	arena_free(&listing->members);
	arena_free(&listing->names);
	*listing = (struct listing){0};
}

static bool has_label(const struct scan *scan, const char *ending)
{
	if (scan->label == LABEL_JSON)
		return strcasecmp(ending, "json") == 0;
	return (scan->label == LABEL_AUTO || scan->label == LABEL_CLS) &&
	       strcasecmp(ending, "cls") == 0;
}

static int read_label(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes)
{
	struct scan *scan = container->scan;
	struct listing *listing = container->listing;
	auto_free char *text = NULL;
	bool json = scan->label == LABEL_JSON;
	int err = 0;
	if (bytes <= (json ? MAX_JSON : MAX_CLS))
		err = container_load(container, part, bytes, &text);
	if (err == -EIO)
		return container_refuse(container, part->offset,
			"the label of a sample is damaged: %s", path);
	if (err)
		return err;
	const char *label = NULL;
	if (text)
		label = json ? json_label(scan, listing, text)
			     : listing_label(listing, text);
	if (!label)
		container_issue(container, ISSUE_LABEL, path);
	container->group->label = label;
	container->group->member = arena_text(&container->label_names, path);
	return container->group->member ? 0 : -ENOMEM;
}

/* --- members that belong together -------------------------------------------------------- */

/* Returns the part after the first dot of the name, such as seg.jpg for 7.seg.jpg. */
static const char *whole_ending(const char *path)
{
	const char *dot = strchr(base_name(path), '.');
	return dot ? dot + 1 : "";
}

static int keep_label(struct container_scan *container)
{
	const struct label_group *group = container->group;
	if (!array_make_room(
		    container->labels, container->n_labels, &container->labels_capacity))
		return -ENOMEM;
	container->labels[container->n_labels++] = (struct group_label){
		group->member, group->label, group->first, container->listing->n};
	return 0;
}

int group_end(struct container_scan *container)
{
	struct listing *listing = container->listing;
	struct label_group *group = container->group;
	const struct scan *scan = container->scan;
	bool any_name = scan->source->any_name && scan->label != LABEL_WITHOUT;
	bool found = any_name;
	int err = group->member ? keep_label(container) : 0;
	for (size_t i = group->first; i < listing->n; i++) {
		struct listed *listed = &listing->samples[i];
		bool is_image = !found && wanted_ending(scan->extensions,
						  whole_ending(listed->member));
		listed->label = group->label;
		listed->aside = !is_image && !any_name;
		found = found || is_image;
	}
	for (size_t i = group->first;
		scan->label == LABEL_WITHOUT && !found && i < listing->n; i++)
		listing->samples[i].aside = false;
	group->first = listing->n;
	group->label = group->member = NULL;
	return err;
}

int group_add(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes, bool *ret_sample)
{
	const struct scan *scan = container->scan;
	struct label_group *group = container->group;
	const char *ending = whole_ending(path);
	size_t n = *ending ? (size_t)(ending - path) - 1 : strlen(path);
	*ret_sample = false;
	if (!span_is(path, n, group->key)) {
		int err = group_end(container);
		if (err)
			return err;
		memcpy(group->key, path, n);
		group->key[n] = '\0';
	}
	if (!scan->source->any_name && has_label(scan, ending))
		return read_label(container, path, part, bytes);
	/* Names in an LMDB file may have any ending. But if label = none, a text beside an image is
	 * no sample, so a name must have no ending, or one of scan->extensions. */
	bool any_name =
		scan->source->any_name && (scan->label != LABEL_WITHOUT || !*ending);
	*ret_sample = any_name || wanted_name(scan->extensions, base_name(path));
	return 0;
}

/* --- labels of metadata ------------------------------------------------------------------- */

struct csv_label {
	const char *name;
	const char *label;
};

struct csv_labels {
	struct csv_label *of;
	size_t n, capacity;
	struct listing *listing; /* the texts of `of` lie in the memory of this listing */
};

static int add_csv_label(void *context, const struct metadata_line *line)
{
	struct csv_labels *labels = context;
	if (!line->labelled)
		return 0;
	const char *name = arena_text(&labels->listing->names, line->file_name);
	if (!name || !array_make_room(labels->of, labels->n, &labels->capacity))
		return -ENOMEM;
	labels->of[labels->n++] = (struct csv_label){
		name, line->label ? listing_label(labels->listing, line->label) : NULL};
	return 0;
}

static int read_csv(struct scan *scan, struct csv_labels *labels)
{
	struct metadata *metadata;
	int err = metadata_open(scan, NULL, &metadata);
	if (err)
		return err;
	if (!metadata) {
		log_error("dataset %s: label = csv:%s: %s has no metadata.csv or "
			  "metadata.jsonl",
			scan->name, scan->label_field, scan->beside);
		return -ENOENT;
	}
	err = metadata_read_columns(metadata);
	if (!err && !metadata_has_label(metadata)) {
		log_error("dataset %s: label = csv:%s: the metadata has no such column",
			scan->name, scan->label_field);
		err = -EINVAL;
	}
	if (!err)
		err = metadata_rows(metadata, add_csv_label, labels);
	metadata_close(&metadata);
	if (!err && labels->n)
		qsort(labels->of, labels->n, sizeof(*labels->of), compare_texts);
	return err;
}

static int take_csv_labels(struct scan *scan, struct listing *listings, size_t n)
{
	struct csv_labels labels = {.listing = &listings[0]};
	int err = read_csv(scan, &labels);
	for (size_t i = 0; !err && labels.n && i < n; i++)
		for (size_t k = 0; k < listings[i].n; k++) {
			struct listed *listed = &listings[i].samples[k];
			struct csv_label key = {listed->member, NULL};
			const struct csv_label *found = bsearch(
				&key, labels.of, labels.n, sizeof(key), compare_texts);
			listed->label = found ? found->label : NULL;
		}
	free(labels.of);
	return err;
}

/* --- paths and classes -------------------------------------------------------------------- */

/* Facts about labels that are numbers. Their class names get leading zeros, so that the byte order
 * of the names is the numeric order. */
struct numbers {
	bool all;      /* all labels are numbers */
	uint32_t most; /* largest number */
	int digits;    /* digits of `most` */
};

/* Returns UINT32_MAX if the label is not a number, or too large. */
static uint32_t number_of(const char *label)
{
	uint32_t number = 0;
	for (const char *at = label; *at; at++) {
		if (!isdigit((unsigned char)*at) || number > MOST_NUMBERED_CLASSES)
			return UINT32_MAX;
		number = number * 10 + (uint32_t)(*at - '0');
	}
	return number < MOST_NUMBERED_CLASSES ? number : UINT32_MAX;
}

static struct numbers look_at_labels(
	const struct listing *listings, size_t n, bool *ret_any)
{
	struct numbers numbers = {.all = true, .digits = 1};
	*ret_any = false;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < listings[i].n; k++) {
			const struct listed *listed = &listings[i].samples[k];
			if (!listed->label || listed->aside)
				continue;
			uint32_t number = number_of(listed->label);
			*ret_any = true;
			if (number == UINT32_MAX)
				numbers.all = false;
			else if (number > numbers.most)
				numbers.most = number;
		}
	for (uint32_t most = numbers.most; most > 9; most /= 10)
		numbers.digits++;
	return numbers;
}

#define LABEL_NUMBER 24

static void print_number(const struct numbers *numbers, uint32_t number, char *ret)
{
	char digits[LABEL_NUMBER];
	int n = snprintf(digits, sizeof(digits), "%u", number);
	memset(ret, '0', LABEL_NUMBER);
	strcpy(ret + (n < numbers->digits ? numbers->digits - n : 0), digits);
}

/* Prints a shard's name as a directory: without scheme and .tar, with _ for slashes. */
static int print_shard(
	const struct scan *scan, const struct listed *listed, char ret[NAME_MAX + 2])
{
	const char *name = scan->containers[listed->part->container].name;
	const char *host = far_is(name) ? strstr(name, "://") : NULL;
	if (host)
		name = host + 3;
	size_t n = scan->far ? strcspn(name, "?") : strlen(name);
	n -= strlen(".tar");
	if (n > NAME_MAX - 1)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < n; i++)
		ret[i] = name[i] == '/' ? '_' : name[i];
	strcpy(ret + n, "/");
	return 0;
}

/* Returns <class>/<shard>/<member>. Leaves out the class if scan->labelled is false, and the shard
 * if scan->sharded is false: several shards may have members of the same name. NULL: the path is
 * too long, or there is no memory. */
static const char *path_of(const struct scan *scan, const struct numbers *numbers,
	const struct listed *listed, struct tree *tree)
{
	char path[PATH_MAX], label[MAX_LABEL_TEXT + 1] = "", shard[NAME_MAX + 2] = "";
	if (!scan->labelled && !scan->sharded)
		return listed->member;
	if (scan->labelled && numbers->all)
		print_number(numbers, number_of(listed->label), label);
	else if (scan->labelled)
		snprintf(label, sizeof(label), "%s", listed->label);
	if (scan->sharded && print_shard(scan, listed, shard) != 0)
		return NULL;
	int n = snprintf(path, sizeof(path), "%s%s%s%s", label, *label ? "/" : "", shard,
		listed->member);
	return (size_t)n < sizeof(path) ? arena_text(&tree->names, path) : NULL;
}

static int add_numbers(const struct numbers *numbers, struct tree *tree)
{
	int err = 0;
	for (uint32_t i = 0; !err && i <= numbers->most; i++) {
		char name[LABEL_NUMBER];
		print_number(numbers, i, name);
		const char *copy = arena_text(&tree->names, name);
		err = copy ? name_list_add(&tree->classes, copy) : -ENOMEM;
	}
	return err;
}

/* Makes the path of a listed sample. *ret is NULL if the sample must be left out. */
static int make_path(const struct scan *scan, const struct numbers *numbers,
	const struct listed *listed, struct tree *tree, const char **ret)
{
	*ret = NULL;
	if (!scan->labelled && scan->label != LABEL_WITHOUT) {
		bool in_class = strchr(listed->member, '/') != NULL;
		tree->root_files += !in_class;
		*ret = in_class ? listed->member : NULL;
		return 0;
	}
	if (listed->aside)
		return 0;
	if (scan->labelled && !listed->label) {
		issue_add(&tree->issues, ISSUE_UNLABELLED, listed->member, 0);
		return 0;
	}
	*ret = path_of(scan, numbers, listed, tree);
	int err = *ret ? 0 : -ENOMEM;
	if (!err && scan->labelled && !numbers->all)
		err = name_list_add(&tree->classes, listed->label);
	return err;
}

static uint32_t container_of(const struct listed *listed)
{
	return listed->part ? listed->part->container : 0;
}

static const struct listed *last_of(const struct listing *listing)
{
	return listing->n > 0 ? &listing->samples[listing->n - 1] : NULL;
}

/* Returns the listing that has the last container. NULL: all listings are empty. */
static struct listing *last_listing(struct listing *listings, size_t n)
{
	struct listing *found = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct listed *last = last_of(&listings[i]);
		if (last && (!found || container_of(last) > container_of(last_of(found))))
			found = &listings[i];
	}
	return found;
}

/* Moves the samples of the listing's last container to tree->files, from the last sample to the
 * first. Decrements *at before each sample, which then becomes tree->files[*at]. Frees the samples'
 * memory in the listing. */
static int take_container(struct scan *scan, const struct numbers *numbers,
	struct listing *listing, struct tree *tree, size_t *at)
{
	uint32_t container = container_of(last_of(listing));
	const struct listed *listed;
	int err = 0;
	while (!err && (listed = last_of(listing)) && container_of(listed) == container) {
		const char *path;
		err = make_path(scan, numbers, listed, tree, &path);
		if (!err && path)
			tree->files[--*at] = (struct found){.path = path,
				.id = SAMPLE_NONE,
				.present = true,
				.facts = listed->facts,
				.part = listed->part,
				.beside = listed->beside};
		listing->samples =
			array_shrink(listing->samples, listing->n--, sizeof(*listed));
	}
	return err;
}

/* Fills tree->files in the order of containers and members. */
static int add_found(struct scan *scan, const struct numbers *numbers,
	struct listing *listings, size_t n, struct tree *tree)
{
	struct listing *listing;
	size_t samples = 0;
	int err = 0;
	for (size_t i = 0; i < n; i++)
		samples += listings[i].n;
	size_t at = samples;
	tree->files = calloc(samples + 1, sizeof(*tree->files));
	if (!tree->files)
		return -ENOMEM;
	while (!err && (listing = last_listing(listings, n)))
		err = take_container(scan, numbers, listing, tree, &at);
	tree->n_files = samples - at;
	if (at > 0)
		memmove(tree->files, tree->files + at,
			tree->n_files * sizeof(*tree->files));
	return err;
}

/* Passes the memory of the members' paths to the tree if these paths are the paths of samples.
 * Otherwise frees this memory. */
static void end_members(
	const struct scan *scan, struct listing *listing, struct tree *tree)
{
	if (!scan->labelled && !(scan->label == LABEL_WITHOUT && scan->sharded)) {
		arena_join(&tree->names, &listing->members);
		return;
	}
	arena_free(&listing->members);
	/* Gives the freed blocks back to the system. free() could not do this, because other blocks
	 * lie between them. */
	malloc_trim(0);
}

/* Keeps the first of several files with the same path; the others become issues. */
static void remove_equal_files(const struct scan *scan, struct tree *tree)
{
	size_t n = 0;
	files_sort(tree->files, tree->n_files, scan->threads);
	for (size_t i = 0; i < tree->n_files; i++) {
		if (n > 0 && strcmp(tree->files[n - 1].path, tree->files[i].path) == 0)
			issue_add(&tree->issues, ISSUE_TWICE, tree->files[i].path, 0);
		else
			tree->files[n++] = tree->files[i];
	}
	tree->n_files = n;
}

#define MANY_CLASSES 1000

/* Warns of labels that are probably captions, measurements or keys, and not classes. */
static void warn_of_many(const struct scan *scan, const struct tree *tree)
{
	struct grouped classes, samples;
	if (tree->classes.n <= MANY_CLASSES || tree->classes.n <= tree->n_files / 2)
		return;
	log_warn("dataset %s: its labels have %s values in %s samples, too many for "
		 "classes; label = none makes one class of all samples",
		scan->name, group_digits(&classes, tree->classes.n),
		group_digits(&samples, tree->n_files));
}

int listings_join(struct scan *scan, struct listing *listings, size_t n, struct tree *ret)
{
	bool any;
	int err = scan->label == LABEL_CSV ? take_csv_labels(scan, listings, n) : 0;
	struct numbers numbers = look_at_labels(listings, n, &any);
	scan->labelled = scan->label == LABEL_AUTO ? any
						   : scan->label != LABEL_DIRECTORY &&
							     scan->label != LABEL_WITHOUT;
	*ret = (struct tree){0};
	if (!err)
		err = add_found(scan, &numbers, listings, n, ret);
	for (size_t i = 0; !err && i < n; i++) {
		struct listing *listing = &listings[i];
		end_members(scan, listing, ret);
		for (size_t k = 0; !err && !scan->labelled && k < listing->directories.n;
			k++)
			err = name_list_add(&ret->classes, listing->directories.name[k]);
		issues_join(&ret->issues, &listing->issues);
	}
	if (!err && any && scan->labelled && numbers.all)
		err = add_numbers(&numbers, ret);
	for (size_t i = 0; i < n; i++)
		arena_join(&ret->names, &listings[i].names);
	if (err)
		tree_free(ret);
	name_list_sort(&ret->classes);
	remove_equal_files(scan, ret);
	if (!err && scan->labelled)
		warn_of_many(scan, ret);
	return err;
}
