// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source_far.h"

#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Finds remote tar shards: a single shard, the shards of a pattern such as shard-{00..46}.tar, or
 * the shards in a list. */

#define MOST_SHARDS 1000000
#define MOST_LIST_BYTES ((size_t)128 << 20)

static size_t path_bytes(const char *url)
{
	return strcspn(url, "?#");
}

static bool ends_in(const char *url, const char *ending)
{
	size_t n = path_bytes(url), bytes = strlen(ending);
	return n > bytes && strncasecmp(url + n - bytes, ending, bytes) == 0;
}

static bool is_tar(const char *url)
{
	char name[NAME_MAX + 1];
	size_t n = path_bytes(url), begin = n;
	while (begin > 0 && url[begin - 1] != '/')
		begin--;
	int length = snprintf(name, sizeof(name), "%.*s", (int)(n - begin), url + begin);
	return (size_t)length < sizeof(name) && source_is_tar_name(name);
}

static bool is_list(const char *url)
{
	return ends_in(url, ".txt") || ends_in(url, ".list");
}

const struct source *source_of_url(const char *url)
{
	if (is_tar(url) || is_list(url))
		return &source_far_tar;
	if (ends_in(url, ".csv"))
		return &source_manifest;
	return far_lists(url) ? &source_bucket : NULL;
}

/* Returns the last slash of the URL's path. NULL: no slash follows the server. */
static const char *last_slash(const char *url)
{
	const char *server = strstr(url, "://") + 3, *found = NULL;
	for (const char *at = server; at < url + path_bytes(url); at++)
		if (*at == '/')
			found = at;
	return found;
}

int far_begin(struct scan *scan)
{
	const char *slash = last_slash(scan->root);
	if (!scan->source || (!slash && scan->source != &source_bucket)) {
		log_error(
			"dataset %s: path: found \"%s\", allowed URLs: tar files, as "
			"http://HOST/shards-{000000..000146}.tar; a list of them, .txt; "
			"a manifest of files, .csv; s3://BUCKET/PREFIX, gs:// or az://",
			scan->name, scan->root);
		return -EINVAL;
	}
	if (scan->source == &source_bucket)
		/* Names of objects are relative to the root, which scan->beside already is. */
		return 0;
	free(scan->beside);
	scan->beside = strndup(scan->root, (size_t)(slash - scan->root));
	return scan->beside ? 0 : -ENOMEM;
}

int far_missing(
	struct scan *scan, const char *url, int err, const struct far_error *error)
{
	scan->missing = arena_text(&scan->names, url);
	scan->reason = arena_text(&scan->names, error->message);
	return scan->missing && scan->reason ? (err == -EINVAL ? -EIO : err) : -ENOMEM;
}

void far_sort_containers(struct scan *scan)
{
	struct container *of = scan->containers;
	size_t n = 0;
	containers_sort(scan);
	for (size_t i = 0; i < scan->n_containers; i++)
		if (n == 0 || strcmp(of[n - 1].name, of[i].name) != 0)
			of[n++] = of[i];
	scan->n_containers = n;
}

static int refuse_line(const struct scan *scan, size_t number, const char *line)
{
	struct quoted quoted;
	/* The line may contain a password or a signature; messages must not show it. */
	if (strpbrk(line, "@?"))
		line = "a URL with a user or a query";
	log_error("dataset %s: %s:%zu: found \"%s\", allowed: the URL of a tar file, or "
		  "the name of one beside this list",
		scan->name, scan->root, number, quote_name(&quoted, line));
	return -EINVAL;
}

static bool is_shard(const char *line)
{
	if (!is_tar(line) || strlen(line) >= PATH_MAX / 2 || strchr(line, '@'))
		return false;
	for (const char *at = line; *at; at++)
		if (*at <= ' ' || *at >= 0x7f)
			return false;
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%.*s", (int)path_bytes(line), line);
	return far_is(line) || far_name_of(path) != NAME_LEADS_OUT;
}

int shard_list_read(struct scan *scan, char *text)
{
	char *rest = text, *line;
	int err = 0;
	for (size_t number = 1; !err && (line = strsep(&rest, "\n")); number++) {
		size_t n = strlen(line);
		while (n > 0 && isspace((unsigned char)line[n - 1]))
			line[--n] = '\0';
		if (n == 0 || line[0] == '#')
			continue;
		if (!is_shard(line) || scan->n_containers == MOST_SHARDS)
			return refuse_line(scan, number, line);
		err = containers_add(scan, line, 0, 0);
	}
	if (!err && scan->n_containers == 0) {
		log_error("dataset %s: %s: found no line, allowed: one for each tar file",
			scan->name, scan->root);
		return -EINVAL;
	}
	return err;
}

static int read_list(struct scan *scan)
{
	struct far_object object = {.url = scan->root};
	struct far_error error;
	auto_free char *text = NULL;
	int err = far_text(&object, MOST_LIST_BYTES, &text, &error);
	return err ? far_missing(scan, scan->root, err, &error)
		   : shard_list_read(scan, text);
}

struct looks {
	struct scan *scan;
	atomic_size_t next;
	struct lock lock;
	size_t failed; /* (lock) smallest index of a failed shard; SIZE_MAX: none */
	int err;       /* (lock) the error of this shard */
	struct far_error error; /* (lock) the reason of this error */
};

static void look_failed(
	struct looks *looks, size_t i, int err, const struct far_error *error)
{
	LOCK_SCOPE(&looks->lock);
	if (i > looks->failed)
		return;
	looks->failed = i;
	looks->err = err;
	looks->error = *error;
}

static int look_at(
	struct scan *scan, struct container *container, struct far_error *error)
{
	char url[PATH_MAX];
	uint8_t byte[1];
	size_t n = sizeof(byte);
	int err = scan_beside(scan->beside, container->name, url, sizeof(url));
	struct far_object object = {.url = url};
	*error = (struct far_error){.message = "the URL is too long"};
	if (!err)
		err = far_look(&object, byte, &n, error);
	container->bytes = object.bytes;
	container->mtime_ns = object.mtime_ns;
	return err;
}

static void look_at_some(void *context, unsigned worker)
{
	struct looks *looks = context;
	struct scan *scan = looks->scan;
	size_t i;
	(void)worker;
	while ((i = atomic_fetch_add(&looks->next, 1)) < scan->n_containers) {
		struct far_error error;
		int err = scan_stopped(scan)
				  ? -EINTR
				  : look_at(scan, &scan->containers[i], &error);
		if (err == -EINTR)
			error = (struct far_error){.message = "the scan was stopped"};
		if (err) {
			look_failed(looks, i, err, &error);
			return;
		}
	}
}

static int look_at_all(struct scan *scan)
{
	char url[PATH_MAX];
	struct looks looks = {.scan = scan, .failed = SIZE_MAX};
	lock_init(&looks.lock, LOCK_RANK_DATASET, "far containers");
	parallel_run(scan->threads, look_at_some, &looks);
	lock_destroy(&looks.lock);
	if (looks.failed == SIZE_MAX)
		return 0;
	int err = scan_beside(
		scan->beside, scan->containers[looks.failed].name, url, sizeof(url));
	return err ? err : far_missing(scan, url, looks.err, &looks.error);
}

static int find(struct scan *scan)
{
	const char *name = scan->root + strlen(scan->beside) + 1;
	int err;
	scan->sharded = is_list(scan->root) || strchr(name, '{');
	if (is_list(scan->root))
		err = read_list(scan);
	else
		err = scan->sharded ? containers_add_range(scan, name)
				    : containers_add(scan, name, 0, 0);
	far_sort_containers(scan);
	return err ? err : look_at_all(scan);
}

const struct source source_far_tar = {
	.name = "tar",
	.expected = "expected tar files with images in them",
	.find = find,
	.list = containers_list,
	.index = tar_index,
};
