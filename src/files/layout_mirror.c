// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "files/content_bytes.h"
#include "files/layout.h"
#include "files/layout_mirror.h"
#include "sched/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The layout "mirror": the dataset's own tree and names. A directory is INODE_SHARD; position: its
 * number among the dataset's directories. A sample's position is its index among the selected
 * samples. A file that is no sample is INODE_OTHER; position: its number among all files. A
 * directory is left out if no selected sample and no INODE_OTHER lies below it. If a sample and an
 * INODE_OTHER have the same name, the name leads to the sample. */

/* Returns the length of the name before ".extension"; 0: the name has another ending. */
static size_t bytes_before(const char *name, const char *extension)
{
	size_t n = strlen(name), bytes = strlen(extension);
	if (n < bytes + 2 || name[n - bytes - 1] != '.' ||
		strcmp(name + n - bytes, extension) != 0)
		return 0;
	return n - bytes - 1;
}

static uint32_t find_sample(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n)
{
	uint32_t file = paths_find_file(paths, directory, name, n);
	return paths_other(paths, file) ? UINT32_MAX : file;
}

/* Tells whether a sample keeps its name in the mount, because the extension is NULL, or because the
 * name already ends with the extension. The sample does not keep its name if another sample gets
 * this name when the extension is appended. Returns false if others = show and the extension is
 * not NULL, because replaces_ending decides there. */
static bool keeps_name(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, const char *extension)
{
	if (!extension || paths_show_others(paths))
		return !extension;
	size_t n = bytes_before(name, extension);
	return n > 0 && find_sample(paths, directory, name, n) == UINT32_MAX;
}

#define HASHED 17 /* "~" and 16 digits */

static bool is_too_long(const char *name, const char *extension)
{
	return strlen(name) + 1 + strlen(extension) > NAME_MAX;
}

/* Cuts the name between characters; appends "~", a hash of the whole name, and the extension. */
static void print_short(const char *name, const char *extension, char ret[MIRROR_NAME])
{
	int least = (int)(NAME_MAX - HASHED - 1 - strlen(extension)) - 3, n = least + 3;
	while (n > least && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	snprintf(ret, MIRROR_NAME, "%.*s~%016" PRIx64 ".%s", n, name, dataset_hash(name),
		extension);
}

/* Tells whether the extension replaces the name's ending (tulip.png becomes tulip.jpg). The ending
 * stays if another sample of the directory is called "tulip", or "tulip" with another ending. */
static bool replaces_ending(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, const char *extension)
{
	const char *dot = strrchr(name, '.');
	size_t n = dot ? (size_t)(dot - name) : 0;
	return extension && n > 0 && paths_show_others(paths) &&
	       n + 1 + strlen(extension) <= NAME_MAX &&
	       paths_find_stem(paths, directory, name, n) != UINT32_MAX &&
	       find_sample(paths, directory, name, n) == UINT32_MAX;
}

void mirror_print(const struct dataset_paths *paths,
	const struct paths_directory *directory, uint32_t file, const char *extension,
	char ret[MIRROR_NAME])
{
	const char *name = paths_name(paths, file);
	if (replaces_ending(paths, directory, name, extension))
		snprintf(ret, MIRROR_NAME, "%.*s.%s", (int)(strrchr(name, '.') - name),
			name, extension);
	else if (keeps_name(paths, directory, name, extension))
		snprintf(ret, MIRROR_NAME, "%s", name);
	else if (is_too_long(name, extension))
		print_short(name, extension, ret);
	else
		snprintf(ret, MIRROR_NAME, "%s.%s", name, extension);
}

static uint32_t find_replaced(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *extension, const char *name)
{
	size_t n = extension ? bytes_before(name, extension) : 0;
	uint32_t file = n && paths_show_others(paths)
				? paths_find_stem(paths, directory, name, n)
				: UINT32_MAX;
	if (file == UINT32_MAX ||
		!replaces_ending(paths, directory, paths_name(paths, file), extension))
		return UINT32_MAX;
	return file;
}

static uint32_t find_whole(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *extension, const char *name)
{
	if (keeps_name(paths, directory, name, extension))
		return find_sample(paths, directory, name, strlen(name));
	size_t n = bytes_before(name, extension);
	uint32_t file = n ? find_sample(paths, directory, name, n) : UINT32_MAX;
	if (file == UINT32_MAX ||
		replaces_ending(paths, directory, paths_name(paths, file), extension) ||
		keeps_name(paths, directory, paths_name(paths, file), extension))
		return UINT32_MAX;
	return file;
}

/* Finds a file by its shortened name (print_short). Compares all names of the directory that are
 * too long. This is slow, but such names are rare. */
static uint32_t find_short(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *extension, const char *name)
{
	char shown[MIRROR_NAME];
	for (uint32_t i = 0; i < directory->n_files; i++) {
		uint32_t file = directory->first_file + i;
		if (paths_other(paths, file) ||
			!is_too_long(paths_name(paths, file), extension))
			continue;
		mirror_print(paths, directory, file, extension, shown);
		if (strcmp(shown, name) == 0)
			return file;
	}
	return UINT32_MAX;
}

uint32_t mirror_find(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *extension, const char *name)
{
	size_t n = strlen(name);
	if (n > NAME_MAX)
		return UINT32_MAX;
	uint32_t file = find_replaced(paths, directory, extension, name);
	if (file == UINT32_MAX)
		file = find_whole(paths, directory, extension, name);
	if (file != UINT32_MAX || !extension || n < NAME_MAX - 3)
		return file;
	return find_short(paths, directory, extension, name);
}

/* Returns the extension that files get in the mount; NULL: they keep their names. */
static const char *shown_extension(enum sample_format format, const char *extension)
{
	return format == FORMAT_SOURCE ? NULL : extension;
}

static const char *extension_of(
	struct sched_job *job, const struct dataset_paths *paths, uint32_t file)
{
	const struct job_config *config = sched_job_config(job);
	const struct job_section *section = NULL;
	if (config->n_sections) {
		auto_edition *edition = sched_edition(job, 0);
		section = content_section(
			config, edition->dataset, paths_sample(paths, file));
	}
	return section ? shown_extension(section->format, section->extension)
		       : shown_extension(config->format, config->extension);
}

/* Finds a sample by its name in the mount, if the configuration gives the sample's file this
 * `extension`. Returns the number of the source file; UINT32_MAX: there is none. */
static uint32_t find_with(struct sched_job *job, const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *extension, const char *name)
{
	uint32_t file = mirror_find(paths, directory, extension, name);
	if (file == UINT32_MAX)
		return file;
	const char *own = extension_of(job, paths, file);
	return own == extension || (own && extension && strcmp(own, extension) == 0)
		       ? file
		       : UINT32_MAX;
}

/* Returns the dataset's paths, which were made when the job was added. */
static const struct dataset_paths *paths_of(struct sched_job *job)
{
	auto_edition *edition = sched_edition(job, 0);
	const struct dataset_paths *paths = NULL;
	int err = dataset_paths(edition->dataset, &paths);
	return err ? NULL : paths;
}

static bool is_selected(
	struct sched_job *job, const struct dataset_paths *paths, uint32_t file)
{
	auto_edition *edition = sched_edition(job, 0);
	return roaring_bitmap_contains(edition->selection, paths_sample(paths, file));
}

static bool is_shown(struct sched_job *job, const struct dataset_paths *paths,
	const struct paths_directory *directory)
{
	for (uint32_t i = 0; i < directory->n_below; i++)
		if (is_selected(job, paths, directory->first_file + i) ||
			paths_other(paths, directory->first_file + i))
			return true;
	return false;
}

static const struct paths_directory *directory_of(
	const struct dataset_paths *paths, struct inode inode)
{
	return paths_directory(paths, inode.kind == INODE_SHARD ? inode.position : 0);
}

static struct inode sample_inode(
	struct sched_job *job, struct inode directory, sample_id sample)
{
	auto_edition *edition = sched_edition(job, 0);
	uint64_t rank = roaring_bitmap_rank(edition->selection, sample);
	return layout_inode(directory, INODE_SAMPLE, (uint32_t)rank - 1);
}

/* Finds a selected sample by its name in the mount. UINT32_MAX: there is none. */
static uint32_t find_selected(struct sched_job *job, const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name)
{
	const struct job_config *config = sched_job_config(job);
	const char *extension = shown_extension(config->format, config->extension);
	uint32_t file = find_with(job, paths, directory, extension, name);
	for (size_t i = 0; file == UINT32_MAX && i < config->n_sections; i++) {
		const struct job_section *section = &config->sections[i];
		extension = shown_extension(section->format, section->extension);
		file = find_with(job, paths, directory, extension, name);
	}
	return file != UINT32_MAX && is_selected(job, paths, file) ? file : UINT32_MAX;
}

static uint64_t entries(struct sched_job *job, struct inode inode)
{
	const struct dataset_paths *paths = paths_of(job);
	if (!paths)
		return 0;
	const struct paths_directory *directory = directory_of(paths, inode);
	return (uint64_t)directory->n_files + directory->n_children;
}

static bool child_entry(struct sched_job *job, const struct dataset_paths *paths,
	struct inode inode, uint32_t child, struct layout_entry *ret)
{
	const struct paths_directory *directory = paths_directory(paths, child);
	if (!is_shown(job, paths, directory))
		return false;
	ret->inode = layout_inode(inode, INODE_SHARD, child);
	snprintf(ret->name, sizeof(ret->name), "%s", directory->name);
	return true;
}

static bool entry(struct sched_job *job, struct inode inode, uint64_t number,
	struct layout_entry *ret)
{
	const struct dataset_paths *paths = paths_of(job);
	if (!paths)
		return false;
	const struct paths_directory *directory = directory_of(paths, inode);
	if (number >= directory->n_files) {
		uint32_t i = (uint32_t)number - directory->n_files;
		return child_entry(job, paths, inode,
			paths_child(paths, directory->first_child + i), ret);
	}
	uint32_t file = directory->first_file + (uint32_t)number;
	if (paths_other(paths, file)) {
		const char *name = paths_name(paths, file);
		ret->inode = layout_inode(inode, INODE_OTHER, file);
		snprintf(ret->name, sizeof(ret->name), "%s", name);
		return find_selected(job, paths, directory, name) == UINT32_MAX;
	}
	if (!is_selected(job, paths, file))
		return false;
	ret->inode = sample_inode(job, inode, paths_sample(paths, file));
	mirror_print(paths, directory, file, extension_of(job, paths, file), ret->name);
	return true;
}

static int lookup(
	struct sched_job *job, struct inode inode, const char *name, struct inode *ret)
{
	const struct dataset_paths *paths = paths_of(job);
	if (!paths)
		return -ENOMEM;
	const struct paths_directory *directory = directory_of(paths, inode);
	uint32_t file = find_selected(job, paths, directory, name);
	if (file != UINT32_MAX) {
		*ret = sample_inode(job, inode, paths_sample(paths, file));
		return 0;
	}
	file = paths_find_file(paths, directory, name, strlen(name));
	if (paths_other(paths, file)) {
		*ret = layout_inode(inode, INODE_OTHER, file);
		return 0;
	}
	uint32_t child = paths_find_child(paths, directory, name);
	if (child == UINT32_MAX || !is_shown(job, paths, paths_directory(paths, child)))
		return -ENOENT;
	*ret = layout_inode(inode, INODE_SHARD, child);
	return 0;
}

static bool exists(struct sched_job *job, struct inode inode)
{
	auto_edition *edition = sched_edition(job, 0);
	const struct dataset_paths *paths = paths_of(job);
	if (inode.kind == INODE_SAMPLE)
		return inode.position < edition->samples;
	if (inode.kind == INODE_OTHER)
		return paths && paths_other(paths, inode.position);
	return paths && inode.kind == INODE_SHARD && inode.position > 0 &&
	       inode.position < paths_directories(paths) &&
	       is_shown(job, paths, directory_of(paths, inode));
}

static uint32_t subdirectories(struct sched_job *job, struct inode inode)
{
	const struct dataset_paths *paths = paths_of(job);
	uint32_t n = 0;
	if (!paths)
		return 0;
	const struct paths_directory *directory = directory_of(paths, inode);
	for (uint32_t i = 0; i < directory->n_children; i++) {
		uint32_t child = paths_child(paths, directory->first_child + i);
		n += is_shown(job, paths, paths_directory(paths, child));
	}
	return n;
}

int mirror_other(struct sched_job *job, struct inode inode, struct mirror_other *ret)
{
	auto_edition *edition = sched_edition(job, 0);
	const struct dataset_paths *paths = paths_of(job);
	const struct paths_other *other =
		paths ? paths_other(paths, inode.position) : NULL;
	if (!other)
		return -ENOENT;
	const char *boundary = dataset_boundary(edition->dataset);
	*ret = (struct mirror_other){.bytes = other->bytes, .mtime_ns = other->mtime_ns};
	ret->boundary = boundary ? strdup(boundary) : NULL;
	ret->path = aprintf("%s/%s", dataset_source(edition->dataset), other->path);
	if (ret->path && (ret->boundary || !boundary))
		return 0;
	mirror_other_free(ret);
	return -ENOMEM;
}

void mirror_other_free(struct mirror_other *other)
{
	free(other->path);
	free(other->boundary);
	*other = (struct mirror_other){0};
}

static bool size(
	struct sizes *sizes, struct sched_job *job, struct inode file, uint64_t *ret)
{
	if (file.kind != INODE_OTHER)
		return sizes_of_position(sizes, job, file, ret);
	const struct dataset_paths *paths = paths_of(job);
	const struct paths_other *other =
		paths ? paths_other(paths, file.position) : NULL;
	*ret = other ? other->bytes : 0;
	return other != NULL;
}

const struct layout layout_mirror = {
	.entries = entries,
	.entry = entry,
	.lookup = lookup,
	.exists = exists,
	.subdirectories = subdirectories,
	.size = size,
};
