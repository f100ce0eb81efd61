// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/ensure.h"
#include "base/kept.h"
#include "base/log.h"
#include "base/machine.h"
#include "dataset/dataset_map.h"
#include "dataset/source_far.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static const char *reason_of(const struct scan *scan, int err)
{
	return scan->reason ? scan->reason : strerror(-err);
}

static int root_error(const struct scan *scan, const char *path, int err)
{
	const char *expected = scan->source->expected;
	path = scan->missing ? scan->missing : path;
	if (err == -ENOENT && !scan->reason)
		log_error("dataset %s: path %s: does not exist; %s", scan->name, path,
			expected);
	else if (err == -ENOTDIR)
		log_error("dataset %s: path %s: is not a directory; %s", scan->name, path,
			expected);
	else if (err != -EINVAL)
		log_error("dataset %s: path %s: can't be read: %s", scan->name, path,
			reason_of(scan, err));
	else if (scan->missing)
		log_error("dataset %s: path %s: is not a file; %s", scan->name, path,
			expected);
	return err;
}

/* Sets the kind of label, and its field, from a setting such as cls, json:FIELD or csv:COLUMN. */
static void set_label(struct scan *scan, const char *label)
{
	static const char *const kinds[] = {
		"auto", "directory", "cls", "json:", "csv:", "none"};
	for (size_t i = 0; label && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i]);
		if (strncmp(label, kinds[i], n) != 0)
			continue;
		scan->label = (enum label_kind)i;
		scan->label_field = label + n;
	}
}

static int begin_far(const struct dataset_config *config, struct scan *scan)
{
	struct far_error error;
	bool without = config->credentials && strcmp(config->credentials, "none") == 0;
	if (scan->threads > 1)
		scan->threads = SCAN_FAR_THREADS;
	int err = far_begin(scan);
	if (err)
		return err;
	const struct far_place place = {.url = scan->beside,
		.timeout_s = config->timeout_s,
		.endpoint = config->endpoint,
		.region = config->region,
		.profile = config->profile,
		.bucket_names = (enum far_bucket_names)config->bucket_names,
		.requester_pays = config->requester_pays,
		.credentials = without ? NULL : config->credentials,
		.without_credentials = without};
	err = far_configure(&place, &error);
	if (err)
		log_error("dataset %s: %s", scan->name, error.message);
	return err;
}

/* Examines the root. If the root does not exist, examines the directory above it: the path may be a
 * pattern, such as shard-{0..9}.tar. */
static int look_at_root(const char *path, struct looked *ret)
{
	const char *slash = strrchr(path, '/');
	int err = looked_at(AT_FDCWD, path, 0, ret);
	if (err != -ENOENT || !slash || slash == path)
		return err;
	auto_free char *directory = strndup(path, (size_t)(slash - path));
	return directory ? looked_at(AT_FDCWD, directory, 0, ret) : -ENOMEM;
}

/* Returns -EINVAL, logged, if the root is on a mount of joaderfs. A daemon that reads its own mount
 * would wait for itself, and two daemons could wait for each other. A process that replaces a
 * crashed one does not check this, because the crashed process has checked it. */
static int refuse_own_mounts(const struct dataset_config *config, struct scan *scan)
{
	struct looked root;
	int err = own_mounts_read(&scan->own_mounts);
	if (err) {
		log_error("dataset %s: the table of mounts can't be read: %s",
			config->name, strerror(-err));
		return err;
	}
	if ((kept_is_again() && !scan->anew) || far_is(config->path) ||
		look_at_root(config->path, &root) != 0 ||
		!own_mounts_have(&scan->own_mounts, root.device))
		return 0;
	log_error("dataset %s: path %s: is on a mount of joaderfs, allowed: a path "
		  "outside of it",
		config->name, config->path);
	return -EINVAL;
}

static int scan_begin(const struct dataset_config *config, struct scan *scan)
{
	scan->name = config->name;
	scan->extensions = config->extensions;
	scan->follow_outside = config->follow_outside;
	scan->shows_others = config->shows_others;
	scan->trusting = !scan->anew && config->look != LOOK_BEFORE;
	set_label(scan, config->label);
	int err = refuse_own_mounts(config, scan);
	if (err)
		return err;
	scan->source = source_of(config->path);
	scan->root = root_of_path(config->path);
	scan->beside = scan->root ? strdup(scan->root) : NULL;
	scan->far = far_is(config->path);
	scan->rule = aprintf("beside %d %d %d %s %s", scan->follow_outside,
		scan->shows_others, (int)scan->label,
		scan->label_field ? scan->label_field : "", scan->extensions);
	if (!scan->beside || !scan->rule)
		return -ENOMEM;
	return scan->far ? begin_far(config, scan) : 0;
}

/* Version of the rules for listing. A new one makes scans list all containers again. */
#define LISTING "4"

/* Finds the root or its containers, and makes scan->settings. -errno: the root can't be read. */
static int find_root(struct scan *scan)
{
	int err = scan->source->find(scan);
	bool is_directory = !scan->source->index;
	bool beside_none = scan->far && scan->label == LABEL_CSV;
	bool elsewhere = scan->label > LABEL_DIRECTORY && scan->label != LABEL_WITHOUT;
	if (!err && (is_directory || beside_none) && elsewhere) {
		log_error("dataset %s: found a label of %s, and path %s, %s; "
			  "allowed: label = auto, directory or none",
			scan->name, scan->label_field, scan->root,
			scan->far ? "a URL" : "a directory");
		return -EINVAL;
	}
	if (!err && scan->shows_others && (!is_directory || scan->far)) {
		log_error("dataset %s: found others = show, but path %s is not a "
			  "directory; allowed: others = hide",
			scan->name, scan->root);
		return -EINVAL;
	}
	if (is_directory && !scan->far) {
		scan->settings = strdup("");
		return err ? err : scan->settings ? 0 : -ENOMEM;
	}
	if (err)
		return err;
	scan->settings = aprintf(LISTING " %s%s %d %s %s", scan->source->name,
		scan->sharded ? "s" : "", (int)scan->label,
		scan->label_field ? scan->label_field : "", scan->extensions);
	return scan->settings ? 0 : -ENOMEM;
}

static void scan_end(struct scan *scan)
{
	free(scan->root);
	free(scan->real);
	free(scan->beside);
	free(atomic_load(&scan->denied));
	free(scan->containers);
	free(scan->settings);
	free(scan->rule);
	if (scan->listed)
		listing_free(scan->listed);
	free(scan->listed);
	own_mounts_free(&scan->own_mounts);
	arena_free(&scan->names);
}

/* Refuses a tree without images: the path is probably wrong, or a disk is not mounted, and the
 * catalogue would lose all its rows. */
static int check_tree(const struct scan *scan, const struct tree *tree)
{
	for (size_t i = 0; i < tree->n_files; i++)
		if (tree->files[i].present)
			return 0;
	char root_files[100] = "";
	if (tree->root_files)
		snprintf(root_files, sizeof(root_files),
			" (%" PRIu64 " files lie directly in it)", tree->root_files);
	const char *slash = scan->source->index ? "" : "/";
	if (scan->label == LABEL_WITHOUT) {
		log_error("dataset %s: path %s%s: no file with an ending of \"%s\" in it",
			scan->name, scan->root, slash, scan->extensions);
		return -ENOENT;
	}
	if (tree->classes.n == 0) {
		log_error("dataset %s: path %s%s: has no class directories%s%s; %s; "
			  "without classes: label = none",
			scan->name, scan->root, slash, root_files,
			scan->source->index ? " and no labels" : "",
			scan->source->expected);
		return -EINVAL;
	}
	log_error("dataset %s: path %s%s: no file with an ending of \"%s\" in its %zu "
		  "class directories%s; %s",
		scan->name, scan->root, slash, scan->extensions, tree->classes.n,
		root_files, scan->source->expected);
	return -ENOENT;
}

/* Writes the catalogue if *changed is true, or if files of metadata have changed. */
static int save(struct scan *scan, const char *file, struct catalogue *catalogue,
	const struct tree *tree, struct metadata *metadata, bool *changed)
{
	int err = 0;
	if (strcmp(metadata_stamp(metadata), catalogue->stamp) != 0) {
		snprintf(catalogue->stamp, sizeof(catalogue->stamp), "%s",
			metadata_stamp(metadata));
		*changed = true;
	}
	if (*changed && metadata)
		err = metadata_read_columns(metadata);
	catalogue->edition += *changed && scan->next;
	if (*changed && !err)
		err = catalogue_write(file, scan, catalogue, metadata, tree);
	return err;
}

static int look_at_tree(
	struct scan *scan, const struct catalogue *catalogue, struct tree *tree)
{
	progress_begin(&scan->progress, scan->name);
	progress_tick(&scan->progress);
	int err = scan->source->list(scan, catalogue, tree);
	if (!err)
		err = scan_match(catalogue, tree);
	if (!err && scan->source->examine)
		err = scan_examine(scan, tree, catalogue);
	progress_end(&scan->progress);
	if (!err)
		issues_log(&tree->issues, scan->name);
	return err;
}

/* Logs that the last scan's catalogue stays in use although `path` can't be read: the samples there
 * may still exist. -EIO: the catalogue's version is too old to be used. */
static int keep_catalogue(const struct scan *scan, const struct catalogue *catalogue,
	const char *path, const char *reason, const char *sample)
{
	struct quoted unseen, known;
	if (catalogue->outdated) {
		log_error("dataset %s: %s/%s %s; until it can be read, the catalogue, "
			  "which is of an older version, can't be updated",
			scan->name, scan->root, quote_name(&unseen, path), reason);
		return -EIO;
	}
	log_warn("dataset %s: %s/%s %s, but the last scan found samples there, such as "
		 "%s: the catalogue of the last scan stays in use; readers of files that "
		 "can't be read get EIO until the files are back",
		scan->name, scan->root, quote_name(&unseen, path), reason,
		quote_name(&known, sample));
	return 0;
}

/* Keeps the catalogue of the last scan in use although the root can't be read. Returns err,
 * logged, if this catalogue has no samples, or if err is -ENOMEM or -EINVAL. */
static int without_root(const struct dataset_config *config, const struct scan *scan,
	const struct catalogue *catalogue, int err)
{
	struct quoted missing;
	char reason[500];
	if (err == -ENOMEM || err == -EINVAL || catalogue->n_rows == 0)
		return root_error(scan, config->path, err);
	if (scan->missing)
		snprintf(reason, sizeof(reason), "can't be read: %s: %s",
			quote_name(&missing, scan->missing), reason_of(scan, err));
	else
		snprintf(reason, sizeof(reason), "can't be read: %s", strerror(-err));
	return keep_catalogue(scan, catalogue, "", reason, catalogue->rows[0].path);
}

/* Returns -EACCES if a server refused the credentials, because the server may then have hidden
 * samples. Otherwise returns err. */
static int check_denied(struct scan *scan, int err)
{
	const char *denied = atomic_load(&scan->denied);
	if (!denied)
		return err;
	scan->missing = scan->root;
	scan->reason = denied;
	return -EACCES;
}

/* Loads the catalogue and scans the tree. root_err: the result of find_root. *ret_seen: whether
 * the scan could see all paths at which the catalogue has samples; otherwise the catalogue must not
 * be updated. */
static int look(const struct dataset_config *config, struct scan *scan, const char *file,
	int root_err, struct catalogue *catalogue, struct tree *tree, bool *ret_seen)
{
	const char *sample, *unseen;
	int err = catalogue_load(file, scan->root, true, catalogue);
	if (err)
		return err;
	*ret_seen = false;
	if (root_err)
		return without_root(config, scan, catalogue, root_err);
	if (catalogue->without_channels && catalogue->n_rows > 0)
		log_info("catalogue %s: is of an older version; joaderfs reads the "
			 "files' headers again",
			file);
	err = check_denied(scan, look_at_tree(scan, catalogue, tree));
	if (err)
		return err == -EACCES ? without_root(config, scan, catalogue, err) : err;
	unseen = scan_unseen(tree, catalogue, &sample);
	if (unseen)
		return keep_catalogue(scan, catalogue, unseen,
			"can't be read, or is empty (if it should be empty, remove it)",
			sample);
	*ret_seen = true;
	err = check_tree(scan, tree);
	if (!err)
		err = tree_find_classes(scan, tree);
	if (!err)
		tree_warn(scan, tree);
	return err;
}

static int attach(const struct scan *scan, const char *rule, bool changed,
	const struct catalogue *catalogue, struct dataset *dataset)
{
	struct catalogue_map *map = NULL;
	int err = changed ? -ENOENT
			  : catalogue_map_open(dataset->file, scan->root, true, &map);
	if (!err && strcmp(map_rule(map), rule) != 0)
		map_close(&map);
	if (!map && err != -ENOMEM)
		err = catalogue_map_make(
			dataset->file, scan->root, rule, catalogue, &map);
	return err ? err : map_attach(dataset, map);
}

static int scan_all(const struct dataset_config *config, struct scan *scan,
	const char *state_dir, struct dataset *dataset, bool *ret_changed)
{
	struct catalogue catalogue = {0};
	struct tree tree = {0};
	struct catalogue_map *map = NULL;
	struct metadata *metadata = NULL;
	bool seen = false;
	auto_free char *file = catalogue_file(state_dir, config->name, "");
	if (!file)
		return -ENOMEM;
	int err = find_root(scan);
	bool current =
		!err && (scan->next || !scan->anew) && catalogue_is_current(scan, file);
	if (current && scan->next)
		return 0;
	if (current && catalogue_map_open(file, scan->root, true, &map) == 0)
		return map_attach(dataset, map);
	err = look(config, scan, file, err, &catalogue, &tree, &seen);
	if (!err && !seen && scan->anew)
		err = -EIO;
	if (!err && seen)
		err = metadata_open(scan, &tree, &metadata);
	tree.described = metadata != NULL;
	if (!err && seen)
		err = catalogue_update(scan, &catalogue, &tree, ret_changed);
	bool only_form =
		!*ret_changed && catalogue.with_table && !catalogue.without_channels;
	*ret_changed =
		*ret_changed || catalogue.outdated || (seen && catalogue.with_table);
	catalogue.without_channels = catalogue.without_channels && !seen;
	if (!err && seen) {
		err = save(scan, dataset->file, &catalogue, &tree, metadata, ret_changed);
		if (err == -ENOSPC && only_form) {
			/* The new file would only have been a smaller form of the same catalogue,
			 * so the catalogue can stay as it is. */
			err = 0;
			*ret_changed = false;
		}
	}
	metadata_close(&metadata);
	tree_free(&tree);
	if (!err && (*ret_changed || !scan->next))
		err = attach(
			scan, seen ? scan->rule : "", *ret_changed, &catalogue, dataset);
	catalogue_free(&catalogue);
	return err;
}

/* Replaces a map that is missing or damaged. -ENOENT: the catalogue is not usable. */
static int map_again(
	const struct scan *scan, const char *file, struct catalogue_map **ret)
{
	struct catalogue catalogue;
	int err = catalogue_load(file, scan->root, true, &catalogue);
	if (err)
		return err;
	if (catalogue.n_rows == 0 || catalogue.outdated)
		err = -ENOENT;
	else
		err = catalogue_map_make(file, scan->root, "", &catalogue, ret);
	catalogue_free(&catalogue);
	return err;
}

/* Opens the map, without a scan. -ENOENT: the dataset has to be scanned. */
static int open_as_it_is(struct scan *scan, struct dataset *dataset)
{
	struct catalogue_map *map = NULL;
	/* A kept edition must not change. After a crash, readers must not wait for a scan. */
	bool must = !scan->anew && (scan->kept || kept_is_again());
	if (!must && !scan->trusting)
		return -ENOENT;
	int err = catalogue_map_open(dataset->file, scan->root, !kept_is_again(), &map);
	if (err == -ENOENT || err == -EILSEQ)
		err = must ? map_again(scan, dataset->file, &map) : -ENOENT;
	if (!err && !must && strcmp(map_rule(map), scan->rule) != 0) {
		map_close(&map);
		err = -ENOENT;
	}
	if (err)
		return err == -ENOENT && scan->kept ? -EINVAL : err;
	/* An unreadable source is no error here; reads of its samples will fail. */
	err = scan->far ? 0 : find_root(scan);
	err = err == -ENOMEM ? err : 0;
	if (err)
		map_close(&map);
	dataset->unseen = !must;
	return err ? err : map_attach(dataset, map);
}

static int fill(const struct dataset_config *config, struct scan *scan,
	const char *state_dir, struct dataset *dataset, bool *ret_changed)
{
	int err = scan_begin(config, scan);
	if (err)
		return err;
	dataset->name = strdup(config->name);
	dataset->source = strdup(config->path);
	dataset->root = strdup(scan->root);
	dataset->files[0] = scan->kept ? strdup(scan->kept)
				       : catalogue_file(state_dir, config->name,
						 scan->next ? NEXT : "");
	dataset->file = dataset->files[0];
	dataset->provisional = scan->next;
	dataset->follow_outside = config->follow_outside;
	if (!dataset->name || !dataset->source || !dataset->root || !dataset->file)
		return -ENOMEM;
	dataset->kind = scan->source->name;
	err = open_as_it_is(scan, dataset);
	if (err == -ENOENT)
		err = scan_all(config, scan, state_dir, dataset, ret_changed);
	dataset->beside = strdup(scan->beside);
	return err || dataset->beside ? err : -ENOMEM;
}

static int open_by_scan(const struct dataset_config *config, const char *state_dir,
	struct scan scan, struct dataset **ret)
{
	ensure(config->extensions && scan.threads > 0 && !strchr(config->name, '/'));
	*ret = NULL;
	struct dataset *dataset = calloc(1, sizeof(*dataset));
	if (!dataset)
		return -ENOMEM;
	atomic_init(&dataset->references, 1);
	lock_init(&dataset->lock, LOCK_RANK_DATASET, "dataset connections");
	ensure(pthread_cond_init(&dataset->paths_made, NULL) == 0);
	bool changed = false;
	int err = fill(config, &scan, state_dir, dataset, &changed);
	scan_end(&scan);
	/* Gives the scan's freed memory, 100 bytes per sample, back to the system. */
	malloc_trim(0);
	if (err || (scan.next && !changed)) {
		dataset_close(&dataset);
		return err;
	}
	struct grouped samples, classes;
	log_info("dataset %s: %s samples in %s classes", dataset->name,
		group_digits(&samples, dataset->n_samples),
		group_digits(&classes, dataset->n_classes));
	char pixels[DATASET_PIXELS_TEXT];
	if (dataset_pixels_print(&dataset->pixels, pixels))
		log_info("dataset %s: has images %s", dataset->name, pixels);
	*ret = dataset;
	return 0;
}

int dataset_open_threads(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, unsigned threads, struct dataset **ret)
{
	return open_by_scan(
		config, state_dir, (struct scan){.threads = threads, .stop = stop}, ret);
}

int dataset_open(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, struct dataset **ret)
{
	return dataset_open_threads(config, state_dir, stop, machine_cpus(""), ret);
}

int dataset_scan_anew(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, struct dataset **ret)
{
	return open_by_scan(config, state_dir,
		(struct scan){.threads = machine_cpus(""), .stop = stop, .anew = true},
		ret);
}

int dataset_scan_next(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, struct dataset **ret)
{
	return open_by_scan(config, state_dir,
		(struct scan){.threads = machine_cpus(""),
			.stop = stop,
			.anew = true,
			.next = true},
		ret);
}

int dataset_open_kept(const struct dataset_config *config, const char *state_dir,
	uint32_t number, struct dataset **ret)
{
	auto_free char *file = catalogue_kept_file(state_dir, config->name, number);
	*ret = NULL;
	if (!file)
		return -ENOMEM;
	return open_by_scan(
		config, state_dir, (struct scan){.threads = 1, .kept = file}, ret);
}
