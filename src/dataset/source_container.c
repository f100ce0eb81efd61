// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Lists containers with several threads. Reuses the catalogue's samples, and lists only new
 * containers, if all containers of the catalogue still exist with equal sizes and mtimes. */

struct containers {
	struct scan *scan;
	const struct catalogue *catalogue;
	struct listing *listings; /* one per thread */
	/* Array with an element for each container: index in `rows` of the container's first row.
	 * One more element has the number of rows. NULL: all containers are listed. */
	uint32_t *first;
	sample_id *rows; /* ids of the catalogue's samples, sorted by container */
	atomic_size_t next;
	atomic_int error;
};

int container_refuse(
	struct container_scan *container, uint64_t offset, const char *format, ...)
{
	char text[600];
	struct quoted path;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_error("dataset %s: %s: at byte %" PRIu64 ": %s", container->scan->name,
		quote_name(&path, container->path), offset, text);
	return -EINVAL;
}

bool container_has(
	const struct container_scan *container, uint64_t offset, uint64_t bytes)
{
	uint64_t all = container->file->bytes;
	return offset <= all && bytes <= all - offset;
}

/* Size of the buffer. Usually enough for the headers of a member and its image, or for several
 * small members. Smaller reads would save little, because the kernel reads ahead. */
#define BUFFER_BYTES 16384

static ssize_t read_file(
	struct container_scan *container, void *ret, size_t bytes, uint64_t offset)
{
	if (!container->buffer || bytes >= BUFFER_BYTES)
		return pread(container->fd, ret, bytes, (off_t)offset);
	uint64_t into = offset - container->buffered_at;
	if (offset < container->buffered_at || into >= container->buffered) {
		ssize_t n = pread(
			container->fd, container->buffer, BUFFER_BYTES, (off_t)offset);
		container->buffered = n > 0 ? (size_t)n : 0;
		container->buffered_at = offset;
		if (n <= 0)
			return n;
		into = 0;
	}
	size_t left = container->buffered - into;
	size_t n = bytes < left ? bytes : left;
	memcpy(ret, container->buffer + into, n);
	return (ssize_t)n;
}

static ssize_t read_container(void *context, void *ret, size_t bytes, uint64_t offset)
{
	struct container_scan *container = context;
	if (container->window)
		return far_window_read(container->window, ret, bytes, offset);
	return read_file(container, ret, bytes, offset);
}

static const char *why(const struct container_scan *container)
{
	return container->window ? container->window->error.message : strerror(errno);
}

int container_read(
	struct container_scan *container, uint64_t offset, void *ret, size_t bytes)
{
	size_t done = 0;
	if (!container_has(container, offset, bytes))
		return container_refuse(container, offset,
			"it is truncated: %zu bytes are expected here, but the file has "
			"only %" PRIu64 " in all",
			bytes, container->file->bytes);
	while (done < bytes) {
		ssize_t n = read_container(
			container, (char *)ret + done, bytes - done, offset + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return container_refuse(container, offset, "can't be read: %s",
				n < 0 ? why(container) : "it has become shorter");
		done += (size_t)n;
	}
	return 0;
}

int container_load(struct container_scan *container, const struct source_part *part,
	uint64_t bytes, char **ret)
{
	auto_free uint8_t *stored = NULL;
	char *data = malloc(bytes + 1);
	*ret = NULL;
	if (!data)
		return -ENOMEM;
	int err = 0;
	if (part->method != PART_DEFLATED) {
		err = container_read(container, part->offset, data, bytes);
	} else if (!(stored = malloc(part->stored_bytes + 1))) {
		err = -ENOMEM;
	} else {
		err = container_read(container, part->offset, stored, part->stored_bytes);
		if (!err)
			err = source_unpack(part, stored, (uint8_t *)data, bytes);
	}
	if (!err)
		err = source_check(part, (const uint8_t *)data, bytes);
	data[err ? 0 : bytes] = '\0';
	if (err)
		free(data);
	else
		*ret = data;
	return err;
}

void container_issue(
	struct container_scan *container, enum issue_kind kind, const char *name)
{
	char text[PATH_MAX];
	snprintf(text, sizeof(text), "%s: %s", container->file->name, name);
	issue_add(&container->listing->issues, kind, text, 0);
}

int container_clean_name(struct container_scan *container, uint64_t offset,
	const char *name, char ret[PATH_MAX])
{
	struct quoted quoted;
	size_t used = 0;
	bool usable = true;
	if (name[0] == '/')
		return container_refuse(container, offset,
			"the name of a member begins with /: %s",
			quote_name(&quoted, name));
	for (const char *at = name; *at;) {
		size_t n = strcspn(at, "/");
		if (span_is(at, n, ".."))
			return container_refuse(container, offset,
				"the name of a member leads out of it: %s",
				quote_name(&quoted, name));
		if (n > 0 && !span_is(at, n, ".")) {
			usable = usable && !hidden_name(at, n) && n <= NAME_MAX - 8 &&
				 used + n + 2 < PATH_MAX / 2;
			if (usable) {
				if (used)
					ret[used++] = '/';
				memcpy(ret + used, at, n);
				used += n;
			}
		}
		at += n + (at[n] == '/');
	}
	ret[used] = '\0';
	return usable && used > 0 ? 0 : 1;
}

int listing_add_class(struct listing *listing, const char *path)
{
	return name_list_add_class(&listing->directories, &listing->names, path);
}

struct listed *listing_add(struct listing *listing)
{
	if (!array_make_room(listing->samples, listing->n, &listing->capacity))
		return NULL;
	listing->samples[listing->n] = (struct listed){0};
	return &listing->samples[listing->n++];
}

static void probe(struct container_scan *container, struct listed *listed)
{
	struct facts *facts = &listed->facts;
	int err = probe_part(read_container, container, &listed->part->at, facts->bytes,
		&facts->image, &facts->orientation);
	facts->probed = !err;
	if (!facts->image.width || !facts->image.height)
		container_issue(container, ISSUE_HEADER, listed->member);
	atomic_fetch_add_explicit(
		&container->scan->progress.headers, 1, memory_order_relaxed);
}

static int add_sample(struct container_scan *container, const char *path,
	const struct source_part *at, uint64_t bytes)
{
	struct listing *listing = container->listing;
	struct listed *listed = listing_add(listing);
	struct part *part = arena_alloc(&listing->names, sizeof(*part));
	if (!listed || !part)
		return -ENOMEM;
	*part = (struct part){.container = container->number, .at = *at};
	part->at.container_bytes = container->file->bytes;
	listed->part = part;
	listed->member = arena_text(&listing->members, path);
	if (!listed->member)
		return -ENOMEM;
	listed->facts = (struct facts){
		.bytes = bytes, .mtime_ns = container->file->mtime_ns, .orientation = 1};
	probe(container, listed);
	atomic_fetch_add_explicit(
		&container->scan->progress.files, 1, memory_order_relaxed);
	progress_tick(&container->scan->progress);
	return scan_stopped(container->scan) ? -EINTR : 0;
}

int container_member(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes)
{
	bool sample;
	if (metadata_name(base_name(path)))
		container_issue(container, ISSUE_METADATA, path);
	int err = strchr(path, '/') ? listing_add_class(container->listing, path) : 0;
	if (!err)
		err = group_add(container, path, part, bytes, &sample);
	if (!err && sample)
		return add_sample(container, path, part, bytes);
	if (err || !beside_wanted(path))
		return err;
	const struct beside facts = {
		.bytes = bytes, .mtime_ns = container->file->mtime_ns, .at = *part};
	return beside_add(&container->beside, &container->listing->names, path, &facts);
}

int container_end(struct container_scan *container)
{
	int err = group_end(container);
	if (!err)
		err = container_replace(container);
	if (!err)
		err = listing_find_beside(
			container->listing, container->first, &container->beside);
	if (err)
		return err;
	return scan_stopped(container->scan) ? -EINTR : 0;
}

/* Removes the class and the shard from a sample's path. */
static const char *member_of(const struct scan *scan, const char *path)
{
	const char *slash = strchr(path, '/');
	if (slash && scan->sharded)
		slash = strchr(slash + 1, '/');
	return slash ? slash + 1 : path;
}

static int reuse_row(
	struct container_scan *container, const struct row *row, bool labelled)
{
	const struct scan *scan = container->scan;
	struct listing *listing = container->listing;
	struct listed *listed = listing_add(listing);
	struct part *part = arena_alloc(&listing->names, sizeof(*part));
	if (!listed || !part)
		return -ENOMEM;
	*part = (struct part){.container = container->number, .at = row->part->at};
	*listed = (struct listed){.member = row->path,
		.part = part,
		.beside = row->beside,
		.facts = row->facts};
	if (labelled) {
		listed->label =
			arena_span(&listing->names, row->path, strcspn(row->path, "/"));
		if (!listed->label)
			return -ENOMEM;
		listed->member = member_of(scan, row->path);
	}
	if (scan->label == LABEL_WITHOUT && scan->sharded)
		listed->member = strchr(row->path, '/') + 1;
	if (!listed->facts.probed)
		probe(container, listed);
	return 0;
}

static int reuse(struct containers *all, struct container_scan *container)
{
	uint32_t first = all->first[container->number];
	uint32_t end = all->first[container->number + 1];
	int err = 0;
	for (uint32_t i = first; !err && i < end; i++)
		err = reuse_row(container, &all->catalogue->rows[all->rows[i]],
			all->catalogue->labelled);
	return err;
}

/* Sets ret_new[i] to the index in scan->containers of the catalogue's container i. Returns false if
 * a container has changed or is missing, if the settings have changed, or if the catalogue has no
 * containers. */
static bool match_containers(
	const struct scan *scan, const struct catalogue *catalogue, uint32_t *ret_new)
{
	size_t k = 0;
	for (size_t i = 0; i < catalogue->n_containers; i++) {
		const struct container *old = &catalogue->containers[i];
		while (k < scan->n_containers &&
			strcmp(scan->containers[k].name, old->name) < 0)
			k++;
		if (k == scan->n_containers ||
			!container_equal(&scan->containers[k], old))
			return false;
		ret_new[i] = (uint32_t)k++;
	}
	return catalogue->n_containers > 0 &&
	       strcmp(catalogue->settings, scan->settings) == 0;
}

/* Sorts the catalogue's rows by container (a counting sort). new: from match_containers. */
static int sort_rows(struct containers *all, const uint32_t *new)
{
	const struct catalogue *catalogue = all->catalogue;
	size_t n = all->scan->n_containers;
	all->first = calloc(n + 2, sizeof(*all->first));
	all->rows = calloc(catalogue->n_rows + 1, sizeof(*all->rows));
	if (!all->first || !all->rows)
		return -ENOMEM;
	for (size_t id = 0; id < catalogue->n_rows; id++)
		if (!catalogue->rows[id].gone && catalogue->rows[id].part)
			all->first[new[catalogue->rows[id].part->container] + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		all->first[i] += all->first[i - 1];
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		const struct row *row = &catalogue->rows[id];
		if (!row->gone && row->part)
			all->rows[all->first[new[row->part->container] + 1]++] =
				(sample_id)id;
	}
	return 0;
}

static int find_known(struct containers *all)
{
	auto_free uint32_t *new = calloc(all->catalogue->n_containers + 1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	return match_containers(all->scan, all->catalogue, new) ? sort_rows(all, new) : 0;
}

static bool is_known(const struct containers *all, size_t number)
{
	return all->first && all->first[number] < all->first[number + 1];
}

static int list_opened(struct containers *all, struct container_scan *container)
{
	int err = is_known(all, container->number) ? reuse(all, container)
						   : all->scan->source->index(container);
	free(container->labels);
	arena_free(&container->label_names);
	free(container->beside.of);
	return err;
}

static int list_far(struct containers *all, struct container_scan *container)
{
	const struct container *file = container->file;
	struct far_window window = {.object = {.url = container->path,
					    .bytes = file->bytes,
					    .mtime_ns = file->mtime_ns},
		.denied = &all->scan->denied};
	container->window = &window;
	int err = list_opened(all, container);
	container->window = NULL;
	free(window.data);
	return err;
}

static int list_one(struct containers *all, size_t number, struct listing *listing)
{
	struct scan *scan = all->scan;
	const struct container *file = &scan->containers[number];
	struct label_group group = {.first = listing->n};
	char path[PATH_MAX];
	int err = scan_beside(scan->beside, file->name, path, sizeof(path));
	if (err)
		return err;
	struct container_scan container = {.scan = scan,
		.file = file,
		.path = path,
		.number = (uint32_t)number,
		.listing = listing,
		.first = listing->n,
		.group = &group};
	if (scan->far)
		return list_far(all, &container);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	container.fd = fd;
	if (fd < 0)
		return container_refuse(
			&container, 0, "can't be read: %s", strerror(errno));
	auto_free uint8_t *buffer = malloc(BUFFER_BYTES);
	container.buffer = buffer;
	return list_opened(all, &container);
}

static void list_some(void *context, unsigned worker)
{
	struct containers *all = context;
	size_t number;
	while (atomic_load(&all->error) == 0 &&
		(number = atomic_fetch_add(&all->next, 1)) < all->scan->n_containers) {
		int err = list_one(all, number, &all->listings[worker]);
		int none = 0;
		if (err)
			atomic_compare_exchange_strong(&all->error, &none, err);
	}
}

static int list_all(struct containers *all, struct tree *ret)
{
	struct scan *scan = all->scan;
	all->listings = calloc(scan->threads, sizeof(*all->listings));
	if (!all->listings)
		return -ENOMEM;
	parallel_run(scan->threads, list_some, all);
	int err = atomic_load(&all->error);
	if (!err)
		err = listings_join(scan, all->listings, scan->threads, ret);
	for (unsigned i = 0; i < scan->threads; i++)
		listing_free(&all->listings[i]);
	free(all->listings);
	return err;
}

int containers_list(
	struct scan *scan, const struct catalogue *catalogue, struct tree *ret)
{
	struct containers all = {.scan = scan, .catalogue = catalogue};
	int err = find_known(&all);
	bool known = all.first != NULL;
	if (!err)
		err = list_all(&all, ret);
	free(all.first);
	free(all.rows);
	if (!err && known && scan->labelled != catalogue->labelled) {
		tree_free(ret);
		all = (struct containers){.scan = scan, .catalogue = catalogue};
		err = list_all(&all, ret);
	}
	return err;
}
