// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source_far.h"

#include "base/log.h"
#include "dataset/csv_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A manifest is a CSV with a column `path`, relative to the manifest's directory, and optional
 * columns `label` and `bytes`. */

#define MOST_MANIFEST_BYTES ((size_t)4 << 30)
#define MOST_FIELD_BYTES ((size_t)1 << 20)

enum field { FIELD_PATH, FIELD_LABEL, FIELD_BYTES, N_FIELDS };
static const char *const field_names[N_FIELDS] = {"path", "label", "bytes"};

struct manifest {
	struct scan *scan;
	struct listing *listing;
	size_t column[N_FIELDS]; /* index of each column; SIZE_MAX: no such column */
	char *value[N_FIELDS];	 /* values of the current line */
	size_t at;		 /* column of the next field */
	struct csv_reader csv;
	bool in_header;
	bool differ; /* a label differs from the first directory of its sample's path */
	int err;
};

static void refuse(struct manifest *manifest, const char *value, const char *allowed)
{
	struct quoted quoted;
	if (!manifest->err)
		log_error("dataset %s: %s:%zu: found \"%s\", allowed: %s",
			manifest->scan->name, manifest->scan->root,
			(size_t)manifest->csv.line, quote_name(&quoted, value), allowed);
	manifest->err = -EINVAL;
}

static void take_header(struct manifest *manifest, const char *text)
{
	for (int i = 0; i < N_FIELDS; i++)
		if (strcasecmp(text, field_names[i]) == 0 &&
			manifest->column[i] == SIZE_MAX)
			manifest->column[i] = manifest->at;
}

static int keep_value(struct manifest *manifest, const char *text)
{
	for (int i = 0; i < N_FIELDS; i++)
		if (manifest->at == manifest->column[i]) {
			free(manifest->value[i]);
			manifest->value[i] = strdup(text);
			return manifest->value[i] ? 0 : -ENOMEM;
		}
	return 0;
}

static int take_field(void *context, const char *text, size_t bytes)
{
	struct manifest *manifest = context;
	auto_free char *trimmed = NULL;
	if (strlen(text) != bytes) {
		refuse(manifest, text, "no zero byte");
		return manifest->err;
	}
	while (*text == ' ' || *text == '\t') {
		text++;
		bytes--;
	}
	while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t'))
		bytes--;
	trimmed = strndup(text, bytes);
	if (!trimmed)
		manifest->err = -ENOMEM;
	else if (manifest->in_header)
		take_header(manifest, trimmed);
	else
		manifest->err = keep_value(manifest, trimmed);
	manifest->at++;
	return manifest->err;
}

/* Returns UINT64_MAX if the manifest does not tell the size. */
static uint64_t bytes_of(struct manifest *manifest, const char *text)
{
	char *end;
	if (!text || !text[0])
		return UINT64_MAX;
	errno = 0;
	unsigned long long bytes = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || bytes > INT64_MAX)
		refuse(manifest, text, "a number of bytes");
	return bytes;
}

static int add_file(struct manifest *manifest, const char *path, const char *label_text,
	uint64_t bytes)
{
	struct listing *listing = manifest->listing;
	struct listed *listed = listing_add(listing);
	if (!listed)
		return -ENOMEM;
	listed->member = arena_text(&listing->names, path);
	listed->facts = (struct facts){
		.bytes = bytes, .mtime_ns = FAR_ANY_VERSION, .orientation = 1};
	if (!listed->member)
		return -ENOMEM;
	if (strchr(path, '/') && listing_add_class(listing, path) != 0)
		return -ENOMEM;
	if (!label_text)
		return 0;
	listed->label = listing_label(listing, label_text);
	if (!listed->label)
		issue_add(&listing->issues, ISSUE_LABEL, path, 0);
	size_t n = strcspn(path, "/");
	manifest->differ = manifest->differ || !listed->label || !path[n] ||
			   strlen(listed->label) != n ||
			   strncmp(listed->label, path, n) != 0;
	return 0;
}

static void take_file(struct manifest *manifest)
{
	const char *path = manifest->value[FIELD_PATH];
	const char *label = manifest->value[FIELD_LABEL];
	struct scan *scan = manifest->scan;
	if (!path || !path[0]) {
		refuse(manifest, "", "the path of a file");
		return;
	}
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	if (far_name_of(path) == NAME_LEADS_OUT || strstr(path, "://")) {
		refuse(manifest, path, "a path below the manifest's directory");
		return;
	}
	uint64_t bytes = bytes_of(manifest, manifest->value[FIELD_BYTES]);
	if (manifest->err || far_name_of(path) == NAME_ODD ||
		!wanted_name(scan->extensions, base_name(path)))
		return;
	if (scan->label == LABEL_DIRECTORY || scan->label == LABEL_WITHOUT)
		label = NULL;
	manifest->err = add_file(manifest, path, label, bytes);
}

static void drop_values(struct manifest *manifest)
{
	for (int i = 0; i < N_FIELDS; i++) {
		free(manifest->value[i]);
		manifest->value[i] = NULL;
	}
}

static int take_line(void *context)
{
	struct manifest *manifest = context;
	manifest->at = 0;
	if (manifest->in_header && manifest->column[FIELD_PATH] == SIZE_MAX)
		refuse(manifest, "no such column",
			"a first line that names the columns: path, and perhaps label "
			"and bytes");
	else if (!manifest->in_header)
		take_file(manifest);
	drop_values(manifest);
	manifest->in_header = false;
	return manifest->err;
}

static int parse(struct manifest *manifest, const char *text, size_t bytes)
{
	manifest->csv = (struct csv_reader){.field = take_field,
		.record = take_line,
		.context = manifest,
		.most = MOST_FIELD_BYTES};
	int err = csv_read(&manifest->csv, text, bytes);
	if (!err)
		err = csv_end(&manifest->csv);
	if (err == -EILSEQ)
		refuse(manifest, "a quote that is not closed", "CSV");
	else if (err == -EFBIG)
		refuse(manifest, "a field of more than 1 MiB", "CSV");
	free(manifest->csv.text);
	drop_values(manifest);
	return manifest->err ? manifest->err : err;
}

int manifest_read(struct scan *scan, const char *text, size_t bytes)
{
	struct listing *listing = calloc(1, sizeof(*listing));
	struct manifest manifest = {.scan = scan,
		.listing = listing,
		.column = {SIZE_MAX, SIZE_MAX, SIZE_MAX},
		.in_header = true};
	if (!listing)
		return -ENOMEM;
	scan->listed = listing;
	int err = parse(&manifest, text, bytes);
	/* If each label equals the first directory of its path, directories are the classes. */
	for (size_t i = 0; !err && !manifest.differ && i < listing->n; i++)
		listing->samples[i].label = NULL;
	return err;
}

static int find(struct scan *scan)
{
	struct far_object object = {.url = scan->root};
	struct far_error error;
	auto_free char *text = NULL;
	int err = far_text(&object, MOST_MANIFEST_BYTES, &text, &error);
	if (err)
		return far_missing(scan, scan->root, err, &error);
	err = manifest_read(scan, text, object.bytes);
	return err ? err
		   : containers_add(scan, scan->root + strlen(scan->beside) + 1,
			     object.bytes, object.mtime_ns);
}

const struct source source_manifest = {
	.name = "manifest",
	.expected = "expected a manifest with the columns path, label and bytes",
	.find = find,
	.list = far_files_list,
	.examine = far_file_examine,
};
