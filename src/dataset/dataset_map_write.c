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

/* A section that is printed into memory. */
struct printed {
	FILE *out;
	uint64_t bytes; /* printed bytes; the memory has fewer if it runs out */
};

static void print(struct printed *section, const void *bytes, size_t n)
{
	fwrite(bytes, 1, n, section->out);
	section->bytes += n;
}

static void print_text(struct printed *section, const char *text)
{
	print(section, text, strlen(text) + 1);
}

static void print_containers(struct printed *section, const struct catalogue *catalogue)
{
	uint64_t name = 0;
	for (size_t i = 0; i < catalogue->n_containers; i++) {
		const struct container *container = &catalogue->containers[i];
		const struct map_container record = {
			container->bytes, container->mtime_ns, name};
		print(section, &record, sizeof(record));
		name += strlen(container->name) + 1;
	}
}

static void print_runs(struct printed *section, const struct catalogue *catalogue)
{
	const struct row *rows = catalogue->rows;
	struct map_run run = {0};
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		if (rows[id].gone)
			continue;
		if (id == 0 || rows[id - 1].gone)
			run.first = (uint32_t)id;
		run.last = (uint32_t)id;
		if (id + 1 == catalogue->n_rows || rows[id + 1].gone)
			print(section, &run, sizeof(run));
	}
}

/* Prints a section of the kind MAP_BYTES. Prints nothing for a column of parts, which comes here
 * only if the map has no parts: the section is empty. */
static void print_section(
	struct printed *out, const struct map_writer *writer, enum map_section section)
{
	const struct catalogue *catalogue = writer->catalogue;
	switch (section) {
	case MAP_ABOUT:
		print_text(out, writer->root);
		print_text(out, writer->rule);
		break;
	case MAP_CLASSES:
		for (size_t i = 0; i < catalogue->n_classes; i++)
			print_text(out, catalogue->classes[i]);
		break;
	case MAP_CONTAINERS:
		print_containers(out, catalogue);
		break;
	case MAP_CONTAINER_NAMES:
		for (size_t i = 0; i < catalogue->n_containers; i++)
			print_text(out, catalogue->containers[i].name);
		break;
	case MAP_PRESENT:
		print_runs(out, catalogue);
		break;
	default:
		break;
	}
}

static uint32_t identity_of(const struct row *row)
{
	uint32_t identity =
		sample_identity(row->path, row->facts.bytes, row->facts.mtime_ns);
	return row->part ? part_identity(identity, &row->part->at) : identity;
}

struct column_of {
	const struct map_writer *writer;
	enum map_section column;
};

/* Returns the row's number in a column. The column MAP_PART_BYTES has the part's size in the
 * container minus the sample's size. If no part is deflated, all these numbers are 0, and packed
 * zeros take no bits. */
static uint64_t value_in(const void *context, size_t id)
{
	static const struct part none = {.container = UINT32_MAX};
	const struct column_of *of = context;
	const struct row *row = &of->writer->catalogue->rows[id];
	const struct facts *facts = &row->facts;
	const struct part *part = row->part ? row->part : &none;
	bool rows_only = of->writer->rows_only;
	switch (of->column) {
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
		return rows_only ? 0 : identity_of(row);
	case MAP_PATH_LENGTHS:
		return rows_only ? 0 : escape_length(row->path);
	case MAP_PART_CONTAINERS:
		return part->container;
	case MAP_PART_OFFSETS:
		return part->at.offset;
	case MAP_PART_BYTES:
		return row->part ? map_zigzag(part->at.stored_bytes - facts->bytes) : 0;
	case MAP_PART_CHECKSUMS:
		return part->at.checksum;
	default:
		return part->at.method;
	}
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
	const struct column_of of = {writer, section};
	struct map_bytes bytes = {0};
	enum map_kind kind = map_kind(section);
	int err;
	if (kind == MAP_COLUMN || (kind == MAP_COLUMN_OR_NONE && writer->parts)) {
		err = pack_make(
			writer->catalogue->n_rows, value_in, &of, &bytes.at, &bytes.n);
	} else {
		char *text = NULL;
		struct printed printed = {.out = open_memstream(&text, &bytes.n)};
		if (printed.out)
			print_section(&printed, writer, section);
		err = printed.out && close_text(printed.out, &text) &&
				      bytes.n == printed.bytes
			      ? 0
			      : -ENOMEM;
		bytes.at = (uint8_t *)text;
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
