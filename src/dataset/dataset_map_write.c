// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/disk_io.h"
#include "base/escape.h"
#include "base/log.h"
#include "dataset/dataset_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct map_writer {
	int fd;
	bool rows_only; /* makes the small map of map_rows_make */
	bool parts;
	struct map_bytes memory;
	uint64_t end;
	struct map_head head;
	const struct catalogue *catalogue;
	const char *root, *rule;
};

static int write_memory(
	struct map_writer *writer, const uint8_t *bytes, size_t n, uint64_t at)
{
	size_t end = at + n > writer->memory.n ? at + n : writer->memory.n;
	uint8_t *memory = realloc(writer->memory.at, end + 1);
	if (!memory)
		return -ENOMEM;
	memset(memory + writer->memory.n, 0, end - writer->memory.n);
	memcpy(memory + at, bytes, n);
	writer->memory = (struct map_bytes){memory, end};
	return 0;
}

static int put(struct map_writer *writer, const uint8_t *bytes, size_t n, uint64_t at)
{
	size_t done;
	return writer->rows_only
		       ? write_memory(writer, bytes, n, at)
		       : disk_write(writer->fd, bytes, n, at, "dataset.map", &done);
}

static size_t texts_bytes(const struct catalogue *catalogue, enum map_section section)
{
	size_t bytes = 0;
	for (size_t i = 0; section == MAP_CLASSES && i < catalogue->n_classes; i++)
		bytes += strlen(catalogue->classes[i]) + 1;
	for (size_t i = 0; section == MAP_CONTAINER_NAMES && i < catalogue->n_containers;
		i++)
		bytes += strlen(catalogue->containers[i].name) + 1;
	return bytes;
}

static size_t count_runs(const struct catalogue *catalogue)
{
	size_t n = 0;
	for (size_t id = 0; id < catalogue->n_rows; id++)
		n += !catalogue->rows[id].gone &&
		     (id == 0 || catalogue->rows[id - 1].gone);
	return n;
}

static size_t count_bytes(const struct map_writer *writer, enum map_section section)
{
	const struct catalogue *catalogue = writer->catalogue;
	switch (section) {
	case MAP_ABOUT:
		return strlen(writer->root) + strlen(writer->rule) + 2;
	case MAP_CONTAINERS:
		return catalogue->n_containers * sizeof(struct map_container);
	case MAP_PRESENT:
		return count_runs(catalogue) * sizeof(struct map_run);
	default:
		return texts_bytes(catalogue, section);
	}
}

static char *put_text(char *at, const char *text)
{
	return stpcpy(at, text) + 1;
}

static void fill_containers(const struct catalogue *catalogue, struct map_container *ret)
{
	uint64_t name = 0;
	for (size_t i = 0; i < catalogue->n_containers; i++) {
		const struct container *container = &catalogue->containers[i];
		ret[i] = (struct map_container){
			container->bytes, container->mtime_ns, name};
		name += strlen(container->name) + 1;
	}
}

static void fill_runs(const struct catalogue *catalogue, struct map_run *run)
{
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		if (catalogue->rows[id].gone)
			continue;
		if (id == 0 || catalogue->rows[id - 1].gone)
			(run++)->first = (uint32_t)id;
		run[-1].last = (uint32_t)id;
	}
}

static void fill_texts(
	const struct map_writer *writer, enum map_section section, char *at)
{
	const struct catalogue *catalogue = writer->catalogue;
	for (size_t i = 0; section == MAP_CLASSES && i < catalogue->n_classes; i++)
		at = put_text(at, catalogue->classes[i]);
	for (size_t i = 0; section == MAP_CONTAINER_NAMES && i < catalogue->n_containers;
		i++)
		at = put_text(at, catalogue->containers[i].name);
	if (section == MAP_ABOUT)
		put_text(put_text(at, writer->root), writer->rule);
}

static uint32_t identity_of(const struct row *row)
{
	uint32_t identity =
		sample_identity(row->path, row->facts.bytes, row->facts.mtime_ns);
	return row->part ? part_identity(identity, &row->part->at) : identity;
}

/* Returns the row's number in a column MAP_PART_... The column MAP_PART_BYTES has the part's size
 * in the container minus the sample's size. If no part is deflated, all these numbers are 0, and
 * packed zeros take no bits. */
static uint64_t value_of_part(enum map_section column, const struct row *row)
{
	if (!row->part)
		return column == MAP_PART_CONTAINERS ? UINT32_MAX : 0;
	const struct source_part *at = &row->part->at;
	switch (column) {
	case MAP_PART_CONTAINERS:
		return row->part->container;
	case MAP_PART_OFFSETS:
		return at->offset;
	case MAP_PART_BYTES:
		return map_zigzag(at->stored_bytes - row->facts.bytes);
	case MAP_PART_CHECKSUMS:
		return at->checksum;
	default:
		return at->method;
	}
}

static uint64_t value_of(enum map_section column, const struct row *row)
{
	const struct facts *facts = &row->facts;
	switch (column) {
	case MAP_LABELS:
		return row->label;
	case MAP_HEIGHTS:
		return facts->image.height;
	case MAP_WIDTHS:
		return facts->image.width;
	case MAP_MODES:
		return facts->image.mode;
	case MAP_ORIENTATIONS:
		return facts->orientation;
	case MAP_STATES:
		return (facts->probed ? ROW_PROBED : 0) | (row->gone ? ROW_GONE : 0);
	case MAP_FILE_BYTES:
		return facts->bytes;
	case MAP_MTIMES:
		return (uint64_t)facts->mtime_ns;
	case MAP_IDENTITIES:
		return identity_of(row);
	case MAP_PATH_LENGTHS:
		return escape_length(row->path);
	default:
		return value_of_part(column, row);
	}
}

struct column_of {
	const struct catalogue *catalogue;
	enum map_section column;
	bool rows_only;
};

static uint64_t value_in(const void *context, size_t id)
{
	const struct column_of *of = context;
	bool follows = of->column == MAP_IDENTITIES || of->column == MAP_PATH_LENGTHS;
	if (of->rows_only && follows)
		return 0;
	return value_of(of->column, &of->catalogue->rows[id]);
}

static void fill(const struct map_writer *writer, enum map_section section, uint8_t *ret)
{
	if (section == MAP_CONTAINERS)
		fill_containers(writer->catalogue, (void *)ret);
	else if (section == MAP_PRESENT)
		fill_runs(writer->catalogue, (void *)ret);
	else
		fill_texts(writer, section, (char *)ret);
}

static int write_bytes(
	struct map_writer *writer, enum map_section section, struct map_bytes bytes)
{
	uint64_t at = (writer->end + MAP_ALIGNMENT - 1) / MAP_ALIGNMENT * MAP_ALIGNMENT;
	writer->head.sections[section] = (struct map_place){
		.offset = at, .bytes = bytes.n, .sum = content_sum(bytes.at, bytes.n)};
	writer->end = at + bytes.n;
	return put(writer, bytes.at, bytes.n, at);
}

static int write_section(struct map_writer *writer, enum map_section section)
{
	const struct catalogue *catalogue = writer->catalogue;
	const struct column_of of = {catalogue, section, writer->rows_only};
	struct map_bytes bytes = {0};
	bool none = map_kind(section) == MAP_COLUMN_OR_NONE && !writer->parts;
	int err = 0;
	if (map_kind(section) == MAP_BYTES || none) {
		bytes.n = none ? 0 : count_bytes(writer, section);
		bytes.at = calloc(1, bytes.n + 1);
		if (bytes.at && bytes.n)
			fill(writer, section, bytes.at);
		err = bytes.at ? 0 : -ENOMEM;
	} else {
		err = pack_make(catalogue->n_rows, value_in, &of, &bytes.at, &bytes.n);
	}
	if (!err)
		err = write_bytes(writer, section, bytes);
	free(bytes.at);
	return err;
}

static int write_paths(struct map_writer *writer)
{
	struct map_bytes groups = {0}, paths = {0};
	int err = map_paths_make(writer->catalogue, &groups, &paths);
	if (!err)
		err = write_bytes(writer, MAP_PATH_GROUPS, groups);
	if (!err)
		err = write_bytes(writer, MAP_PATHS, paths);
	free(groups.at);
	free(paths.at);
	return err;
}

static int write_shapes(struct map_writer *writer)
{
	struct map_bytes shapes = {0};
	int err = map_shapes_make(writer->catalogue, &shapes);
	if (!err)
		err = write_bytes(writer, MAP_SHAPES, shapes);
	free(shapes.at);
	return err;
}

static void count_samples(struct map_writer *writer)
{
	const struct catalogue *catalogue = writer->catalogue;
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		if (catalogue->rows[id].gone)
			continue;
		writer->head.n_samples++;
		writer->head.total_bytes += catalogue->rows[id].facts.bytes;
		if (!writer->rows_only)
			writer->head.identities += sample_scatter(
				(sample_id)id, identity_of(&catalogue->rows[id]));
		pixels_count(&writer->head.pixels, catalogue->rows[id].facts.image);
	}
}

static int write_sections(struct map_writer *writer)
{
	const struct catalogue *catalogue = writer->catalogue;
	struct map_head *head = &writer->head;
	int err = 0;
	head->magic = MAP_MAGIC;
	head->version = writer->rows_only ? MAP_WITHOUT_SHAPES : MAP_VERSION;
	head->head_bytes = writer->rows_only ? MAP_HEAD_WITHOUT_SHAPES : sizeof(*head);
	head->n_ids = (uint32_t)catalogue->n_rows;
	head->n_classes = (uint32_t)catalogue->n_classes;
	head->n_containers = (uint32_t)catalogue->n_containers;
	head->edition = catalogue->edition;
	head->labelled = catalogue->labelled;
	head->without_channels = catalogue->without_channels;
	count_samples(writer);
	writer->end = head->head_bytes;
	for (int i = 0; i < MAP_PATH_GROUPS && !err; i++)
		err = write_section(writer, (enum map_section)i);
	if (!err)
		err = write_paths(writer);
	if (!err && !writer->rows_only)
		err = write_shapes(writer);
	head->file_bytes = writer->end;
	if (!err && !writer->rows_only && ftruncate(writer->fd, (off_t)writer->end) < 0)
		err = -errno;
	head->sum = map_head_sum(head);
	return err ? err : put(writer, (const void *)head, head->head_bytes, 0);
}

static int write_file(struct map_writer *writer, const char *name)
{
	auto_free char *beside = aprintf("%s.new", name);
	if (!beside)
		return -ENOMEM;
	writer->fd = open(beside, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (writer->fd < 0)
		return -errno;
	int err = write_sections(writer);
	if (!err && fsync(writer->fd) < 0)
		err = -errno;
	if (!err && rename(beside, name) < 0)
		err = -errno;
	if (!err)
		return catalogue_sync_directory(name);
	(void)unlink(beside);
	return err;
}

/* Writes a map for this process only. The next process has to make a map again. */
static int write_unnamed(struct map_writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	writer->head = (struct map_head){.of = writer->head.of};
	writer->fd = memfd_create("joaderfs catalogue", MFD_CLOEXEC);
	return writer->fd < 0 ? -errno : write_sections(writer);
}

int map_rows_make(const struct catalogue *rows, bool parts, struct map_bytes *ret)
{
	struct map_writer writer = {.fd = -1,
		.rows_only = true,
		.parts = parts,
		.catalogue = rows,
		.root = "",
		.rule = ""};
	int err = write_sections(&writer);
	if (err)
		free(writer.memory.at);
	else
		*ret = writer.memory;
	return err;
}

int catalogue_map_make(const char *file, const char *root, const char *rule,
	const struct catalogue *catalogue, struct catalogue_map **ret)
{
	struct map_writer writer = {.fd = -1,
		.parts = catalogue->n_containers > 0,
		.catalogue = catalogue,
		.root = root,
		.rule = rule};
	auto_free char *name = catalogue_map_file(file);
	*ret = NULL;
	if (!name)
		return -ENOMEM;
	int err = map_pair_of(file, &writer.head.of);
	if (!err)
		err = write_file(&writer, name);
	if (err && err != -ENOMEM) {
		log_warn("catalogue %s: can't be written: %s; the next start reads %s "
			 "instead, which takes longer",
			name, strerror(-err), file);
		err = write_unnamed(&writer);
	}
	if (!err)
		err = map_open_fd(writer.fd, name, false, ret);
	if (writer.fd >= 0)
		close(writer.fd);
	return err;
}
