// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/log.h"
#include "dataset/dataset_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Writing a mapped catalogue, one section after the other. */

struct map_writer {
	int fd;
	uint64_t end;
	struct map_head head;
	const struct catalogue *catalogue;
	const char *root, *rule;
};

static int write_all(int fd, const uint8_t *bytes, size_t n, uint64_t offset)
{
	while (n > 0) {
		int err = fault_hit("dataset.map");
		ssize_t done = err ? -1 : pwrite(fd, bytes, n, (off_t)offset);
		if (done < 0 && (err || errno != EINTR))
			return err ? err : -errno;
		if (done == 0)
			return -EIO;
		if (done < 0)
			continue;
		bytes += done;
		n -= (size_t)done;
		offset += (uint64_t)done;
	}
	return 0;
}

/* --- what the sections have --------------------------------------------------------------- */

static size_t texts_bytes(const struct catalogue *catalogue, enum map_section section)
{
	size_t bytes = 0;
	for (size_t i = 0; section == MAP_CLASSES && i < catalogue->n_classes; i++)
		bytes += strlen(catalogue->classes[i]) + 1;
	for (size_t i = 0; section == MAP_CONTAINER_NAMES && i < catalogue->n_containers;
		i++)
		bytes += strlen(catalogue->containers[i].name) + 1;
	for (size_t id = 0; section == MAP_PATHS && id < catalogue->n_rows; id++)
		bytes += strlen(catalogue->rows[id].path) + 1;
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
	case MAP_PARTS:
		return catalogue->n_containers
			       ? catalogue->n_rows * sizeof(struct map_part)
			       : 0;
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

static void fill_offsets(const struct catalogue *catalogue, uint64_t *ret)
{
	uint64_t offset = 0;
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		ret[id] = offset;
		offset += strlen(catalogue->rows[id].path) + 1;
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
	for (size_t id = 0; section == MAP_PATHS && id < catalogue->n_rows; id++)
		at = put_text(at, catalogue->rows[id].path);
	if (section == MAP_ABOUT)
		put_text(put_text(at, writer->root), writer->rule);
}

static struct map_part part_of_row(const struct row *row)
{
	if (!row->part)
		return (struct map_part){.container = UINT32_MAX};
	const struct source_part *at = &row->part->at;
	return (struct map_part){.offset = at->offset,
		.stored_bytes = at->stored_bytes,
		.checksum = at->checksum,
		.container = row->part->container,
		.method = at->method};
}

static uint32_t identity_of(const struct row *row)
{
	uint32_t identity =
		sample_identity(row->path, row->facts.bytes, row->facts.mtime_ns);
	return row->part ? part_identity(identity, &row->part->at) : identity;
}

/* The value of a sample in a column. */
static void fill_value(enum map_section section, const struct row *row, void *ret)
{
	const struct facts *facts = &row->facts;
	switch (section) {
	case MAP_LABELS:
		*(uint32_t *)ret = row->label;
		break;
	case MAP_SIZES:
		*(struct image_size *)ret = (struct image_size){
			facts->image.height, facts->image.width, facts->image.mode};
		break;
	case MAP_ORIENTATIONS:
		*(uint8_t *)ret = facts->orientation;
		break;
	case MAP_FILE_BYTES:
		*(uint64_t *)ret = facts->bytes;
		break;
	case MAP_MTIMES:
		*(int64_t *)ret = facts->mtime_ns;
		break;
	case MAP_IDENTITIES:
		*(uint32_t *)ret = identity_of(row);
		break;
	case MAP_PATH_LENGTHS:
		*(uint16_t *)ret = (uint16_t)escape_length(row->path);
		break;
	case MAP_PARTS:
		*(struct map_part *)ret = part_of_row(row);
		break;
	default:
		ensure(!"a section that is no column");
	}
}

static void fill(const struct map_writer *writer, enum map_section section, uint8_t *ret,
	size_t bytes)
{
	const struct catalogue *catalogue = writer->catalogue;
	size_t n = catalogue->n_rows;
	if (section == MAP_CONTAINERS)
		fill_containers(catalogue, (void *)ret);
	else if (section == MAP_PRESENT)
		fill_runs(catalogue, (void *)ret);
	else if (section == MAP_PATH_OFFSETS)
		fill_offsets(catalogue, (void *)ret);
	else if (map_is_column(section))
		for (size_t id = 0; id < n; id++)
			fill_value(section, &catalogue->rows[id], ret + id * (bytes / n));
	else
		fill_texts(writer, section, (char *)ret);
}

/* --- the file ----------------------------------------------------------------------------- */

static int write_section(struct map_writer *writer, enum map_section section)
{
	bool optional = section == MAP_PARTS;
	size_t bytes = map_is_column(section) && !optional
			       ? writer->catalogue->n_rows * map_element_bytes(section)
			       : count_bytes(writer, section);
	auto_free uint8_t *content = calloc(1, bytes + 1);
	if (!content)
		return -ENOMEM;
	if (bytes > 0)
		fill(writer, section, content, bytes);
	uint64_t at = (writer->end + MAP_ALIGNMENT - 1) / MAP_ALIGNMENT * MAP_ALIGNMENT;
	writer->head.sections[section] = (struct map_place){
		.offset = at, .bytes = bytes, .sum = content_sum(content, bytes)};
	writer->end = at + bytes;
	return write_all(writer->fd, content, bytes, at);
}

static void count_samples(struct map_writer *writer)
{
	const struct catalogue *catalogue = writer->catalogue;
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		if (catalogue->rows[id].gone)
			continue;
		writer->head.n_samples++;
		writer->head.total_bytes += catalogue->rows[id].facts.bytes;
		pixels_count(&writer->head.pixels, catalogue->rows[id].facts.image);
	}
}

static int write_sections(struct map_writer *writer)
{
	const struct catalogue *catalogue = writer->catalogue;
	struct map_head *head = &writer->head;
	int err = 0;
	head->magic = MAP_MAGIC;
	head->version = MAP_VERSION;
	head->head_bytes = sizeof(*head);
	head->n_ids = (uint32_t)catalogue->n_rows;
	head->n_classes = (uint32_t)catalogue->n_classes;
	head->n_containers = (uint32_t)catalogue->n_containers;
	head->edition = catalogue->edition;
	head->labelled = catalogue->labelled;
	head->without_channels = catalogue->without_channels;
	count_samples(writer);
	writer->end = sizeof(*head);
	for (int i = 0; i < MAP_N_SECTIONS && !err; i++)
		err = write_section(writer, (enum map_section)i);
	head->file_bytes = writer->end;
	if (!err && ftruncate(writer->fd, (off_t)writer->end) < 0)
		err = -errno;
	head->sum = map_head_sum(head);
	return err ? err : write_all(writer->fd, (const void *)head, sizeof(*head), 0);
}

/* The file takes its name when all of it is on the disk. */
static int write_file(struct map_writer *writer, const char *name)
{
	auto_free char *beside = NULL;
	if (asprintf(&beside, "%s.new", name) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
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

/* Makes the map in memory; the next engine reads the catalogue again. */
static int write_memory(struct map_writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	writer->head = (struct map_head){.of = writer->head.of};
	writer->fd = memfd_create("joaderfs catalogue", MFD_CLOEXEC);
	return writer->fd < 0 ? -errno : write_sections(writer);
}

int catalogue_map_make(const char *file, const char *root, const char *rule,
	const struct catalogue *catalogue, struct catalogue_map **ret)
{
	struct map_writer writer = {
		.fd = -1, .catalogue = catalogue, .root = root, .rule = rule};
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
		err = write_memory(&writer);
	}
	if (!err)
		err = map_open_fd(writer.fd, name, false, ret);
	if (writer.fd >= 0)
		close(writer.fd);
	return err;
}
