// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/csv_reader.h"
#include "dataset/dataset_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * metadata.csv is read twice: first for the columns and their types, then for the values,
 * which go straight into the catalogue. A mistake in it never keeps a dataset from being
 * opened: a column that can't be used is left out, and a file that is not CSV gives no
 * columns.
 */

/* The stamp begins with it: another one reads the file anew. */
#define RULES "2"

#define MAX_COLUMNS 256
#define MAX_NAME 64

/* What is read at a time, and what is remembered of a file, is bounded by these. SQLite
 * reads a row of that size. */
#define MAX_FIELD (64 * 1024)
#define MAX_LINE (512 * 1024)
#define MAX_FIELDS 1024
#define AT_ONCE (64 * 1024)
#define MAX_WARNINGS 8 /* about columns */

struct metadata {
	const char *dataset;
	const char *label_column; /* NULL: none is asked for */
	size_t label;		  /* its field; SIZE_MAX: there is none */
	FILE *file;
	char stamp[64];
	struct column *columns;
	size_t n_columns;
	size_t n_fields;  /* of the header line */
	size_t file_name; /* the field with the file's name */
	size_t bad_columns;
	bool usable;
	uint64_t odd_lines; /* lines with another number of fields */
	uint64_t first_odd;
};

/* One pass over the file: fields are gathered until their line is complete. */
struct pass {
	struct metadata *metadata;
	struct csv_reader csv;
	uint64_t n_records; /* with the header */
	char *text;	    /* fields of the current record, each ended by NUL */
	size_t text_used;
	size_t text_size;
	size_t *starts; /* of fields; SIZE_MAX: empty */
	size_t n_starts;
	size_t starts_size;
	const char **values;
	int (*record)(struct pass *pass);
	metadata_row *row;
	void *context;
};

static const char *field(const struct pass *pass, size_t i)
{
	if (i >= pass->n_starts || pass->starts[i] == SIZE_MAX)
		return NULL;
	return pass->text + pass->starts[i];
}

static int too_much(
	const struct pass *pass, const char *where, const char *unit, size_t allowed)
{
	struct grouped limit;
	const char *most = group_digits(&limit, allowed);
	log_warn("dataset %s: metadata.csv:%" PRIu64
		 ": found a %s of more than %s %s, allowed: at most %s; its columns are "
		 "left out",
		pass->metadata->dataset, pass->csv.line, where, most, unit, most);
	return -EINVAL;
}

static int keep_text(struct pass *pass, const char *text, size_t n)
{
	if (pass->text_used + n + 1 > pass->text_size) {
		size_t size = (pass->text_used + n + 1) * 2;
		char *grown = realloc(pass->text, size);
		if (!grown)
			return -ENOMEM;
		pass->text = grown;
		pass->text_size = size;
	}
	memcpy(pass->text + pass->text_used, text, n);
	pass->text[pass->text_used + n] = '\0';
	pass->text_used += n + 1;
	return 0;
}

static int refuse_file(const struct pass *pass, uint64_t line, const char *found)
{
	log_warn("dataset %s: metadata.csv:%" PRIu64
		 ": not valid CSV: found %s; its columns are left out",
		pass->metadata->dataset, line, found);
	return -EINVAL;
}

static int keep_field(void *context, const char *text, size_t n)
{
	struct pass *pass = context;
	if (pass->text_used + n > MAX_LINE)
		return too_much(pass, "line", "bytes", MAX_LINE);
	if (pass->n_starts == MAX_FIELDS)
		return too_much(pass, "line", "fields", MAX_FIELDS);
	if (memchr(text, '\0', n))
		return refuse_file(pass, pass->csv.line, "a zero byte");
	size_t *starts = array_grow(
		pass->starts, pass->n_starts, &pass->starts_size, sizeof(*starts));
	if (!starts)
		return -ENOMEM;
	pass->starts = starts;
	starts[pass->n_starts++] = n ? pass->text_used : SIZE_MAX;
	return n ? keep_text(pass, text, n) : 0;
}

static int end_record(void *context)
{
	struct pass *pass = context;
	int err = pass->record(pass);
	pass->n_records++;
	pass->n_starts = 0;
	pass->text_used = 0;
	return err;
}

static int feed(struct pass *pass)
{
	auto_free char *block = malloc(AT_ONCE);
	FILE *file = pass->metadata->file;
	size_t n;
	bool begins = true;
	int err = block ? 0 : -ENOMEM;
	while (!err && (n = fread(block, 1, AT_ONCE, file)) > 0) {
		bool mark = begins && n >= 3 && memcmp(block, "\xef\xbb\xbf", 3) == 0;
		size_t skip = mark ? 3 : 0; /* a byte order mark */
		err = csv_read(&pass->csv, block + skip, n - skip);
		begins = false;
	}
	if (!err && ferror(file)) {
		log_warn("dataset %s: metadata.csv: can't be read; its columns are left "
			 "out",
			pass->metadata->dataset);
		err = -EINVAL;
	}
	return err ? err : csv_end(&pass->csv);
}

static int run_pass(struct pass *pass)
{
	pass->csv = (struct csv_reader){.field = keep_field,
		.record = end_record,
		.context = pass,
		.most = MAX_FIELD};
	rewind(pass->metadata->file);
	int err = feed(pass);
	if (err == -EFBIG)
		err = too_much(pass, "field", "bytes", MAX_FIELD);
	if (err == -EILSEQ)
		err = refuse_file(
			pass, pass->csv.quote_line, "a quote that is not closed");
	csv_free(&pass->csv);
	free(pass->text);
	free(pass->starts);
	return err;
}

static bool identifier(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	return strlen(name) <= MAX_NAME;
}

static bool has_column(const struct metadata *metadata, const char *name)
{
	for (size_t i = 0; i < metadata->n_columns; i++)
		if (strcasecmp(metadata->columns[i].name, name) == 0)
			return true;
	return false;
}

/* Why the column can't be used, or NULL. */
static const char *column_problem(const struct metadata *metadata, const char *name)
{
	if (!name)
		return "has no name";
	if (!identifier(name))
		return "is not a plain name (letters, digits and _, at most 64)";
	if (catalogue_reserved_column(name))
		return "is a name that every dataset has already";
	if (has_column(metadata, name))
		return "is there twice";
	return NULL;
}

static void warn_of_column(
	struct pass *pass, size_t index, const char *name, const char *problem)
{
	struct metadata *metadata = pass->metadata;
	struct quoted quoted;
	if (metadata->bad_columns++ < MAX_WARNINGS)
		log_warn("dataset %s: metadata.csv:%" PRIu64 ": column %zu, \"%s\", %s; "
			 "it is left out",
			metadata->dataset, pass->csv.line, index + 1,
			quote_name(&quoted, name ? name : ""), problem);
}

static int add_column(struct pass *pass, size_t index)
{
	struct metadata *metadata = pass->metadata;
	const char *name = field(pass, index);
	const char *problem = column_problem(metadata, name);
	if (name && metadata->label_column && metadata->label == SIZE_MAX &&
		strcmp(name, metadata->label_column) == 0) {
		metadata->label = index;
		if (catalogue_reserved_column(name))
			return 0;
	}
	if (problem) {
		warn_of_column(pass, index, name, problem);
		return 0;
	}
	char *copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	metadata->columns[metadata->n_columns++] = (struct column){.name = copy,
		.field = index,
		.type = COLUMN_INTEGER,
		.style = NUMBER_ANY_STYLE};
	return 0;
}

static int add_columns(struct pass *pass)
{
	struct metadata *metadata = pass->metadata;
	size_t i;
	int err = 0;
	for (i = 0; !err && i < pass->n_starts; i++) {
		if (i == metadata->file_name)
			continue;
		if (metadata->n_columns == MAX_COLUMNS)
			break;
		err = add_column(pass, i);
	}
	if (!err && i < pass->n_starts)
		log_warn("dataset %s: metadata.csv:%" PRIu64
			 ": found %zu columns beside file_name, allowed: at most %d; "
			 "those after \"%s\" are left out",
			metadata->dataset, pass->csv.line, pass->n_starts - 1,
			MAX_COLUMNS, metadata->columns[MAX_COLUMNS - 1].name);
	if (metadata->bad_columns > MAX_WARNINGS)
		log_warn("dataset %s: metadata.csv:%" PRIu64
			 ": %zu columns can't be used, the first %d were named",
			metadata->dataset, pass->csv.line, metadata->bad_columns,
			MAX_WARNINGS);
	return err;
}

static int read_header(struct pass *pass)
{
	struct metadata *metadata = pass->metadata;
	size_t file_name = SIZE_MAX;
	for (size_t i = 0; i < pass->n_starts && file_name == SIZE_MAX; i++)
		if (field(pass, i) && strcmp(field(pass, i), "file_name") == 0)
			file_name = i;
	if (file_name == SIZE_MAX) {
		log_warn("dataset %s: metadata.csv:%" PRIu64 ": the first line has no "
			 "column file_name; the file is left out",
			metadata->dataset, pass->csv.line);
		return -EINVAL;
	}
	metadata->file_name = file_name;
	metadata->n_fields = pass->n_starts;
	metadata->columns = calloc(MAX_COLUMNS, sizeof(*metadata->columns));
	return metadata->columns ? add_columns(pass) : -ENOMEM;
}

static void note_fields(struct pass *pass)
{
	struct metadata *metadata = pass->metadata;
	if (pass->n_starts != metadata->n_fields && metadata->odd_lines++ == 0)
		metadata->first_odd = pass->csv.line;
}

/* A column is text from the first value on that would not come back from a number. */
static void note_value(struct pass *pass, struct column *column, const char *value)
{
	struct quoted name, text;
	if (column->type == COLUMN_TEXT)
		return;
	number_note(&column->style, value);
	if (column->type == COLUMN_INTEGER && !number_is_integer(value))
		column->type = COLUMN_REAL;
	if (column->type == COLUMN_INTEGER || column->style.ways)
		return;
	column->type = COLUMN_TEXT;
	if (number_is(value))
		log_info("dataset %s: metadata.csv:%" PRIu64
			 ": column %s is text: as a number, \"%s\" would not come back "
			 "as it is (numbers are compared by cast(%s as real))",
			pass->metadata->dataset, pass->csv.line,
			quote_name(&name, column->name), quote_name(&text, value),
			name.text);
}

static int read_types(struct pass *pass)
{
	struct metadata *metadata = pass->metadata;
	if (pass->n_records == 0)
		return read_header(pass);
	note_fields(pass);
	for (size_t i = 0; i < metadata->n_columns; i++) {
		struct column *column = &metadata->columns[i];
		const char *value = field(pass, column->field);
		if (!value)
			continue;
		note_value(pass, column, value);
		column->seen = true;
	}
	return 0;
}

int metadata_read_columns(struct metadata *metadata)
{
	struct pass pass = {.metadata = metadata, .record = read_types};
	int err = run_pass(&pass);
	metadata->usable = !err && pass.n_records > 0;
	if (err || !metadata->usable)
		return err == -EINVAL ? 0 : err;
	for (size_t i = 0; i < metadata->n_columns; i++)
		if (!metadata->columns[i].seen)
			metadata->columns[i].type = COLUMN_TEXT;
	if (metadata->odd_lines)
		log_warn("dataset %s: metadata.csv: %" PRIu64
			 " lines have another number "
			 "of fields than the first line's %zu; the first: line %" PRIu64,
			metadata->dataset, metadata->odd_lines, metadata->n_fields,
			metadata->first_odd);
	return 0;
}

const struct column *metadata_columns(const struct metadata *metadata, size_t *ret_n)
{
	*ret_n = metadata->usable ? metadata->n_columns : 0;
	return metadata->columns;
}

static int give_row(struct pass *pass)
{
	const struct metadata *metadata = pass->metadata;
	const char *file_name = field(pass, metadata->file_name);
	if (pass->n_records == 0)
		return 0;
	for (size_t i = 0; i < metadata->n_columns; i++)
		pass->values[i] = field(pass, metadata->columns[i].field);
	const char *label = field(pass, metadata->label);
	return pass->row(pass->context, file_name ? file_name : "", pass->values, label);
}

bool metadata_has_label(const struct metadata *metadata)
{
	return metadata->usable && metadata->label != SIZE_MAX;
}

int metadata_rows(struct metadata *metadata, metadata_row *row, void *context)
{
	struct pass pass = {.metadata = metadata, .record = give_row};
	if (!metadata->usable)
		return 0;
	pass.row = row;
	pass.context = context;
	pass.values = calloc(MAX_COLUMNS, sizeof(*pass.values));
	if (!pass.values)
		return -ENOMEM;
	int err = run_pass(&pass);
	free(pass.values);
	return err;
}

static int open_file(const struct scan *scan, struct metadata *metadata)
{
	char path[PATH_MAX];
	struct stat status;
	int n = snprintf(path, sizeof(path), "%s/metadata.csv", scan->beside);
	if ((size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	if (scan->real && !scan_inside(scan, "metadata.csv"))
		return -EXDEV;
	metadata->file = fopen(path, "re");
	if (!metadata->file || fstat(fileno(metadata->file), &status) < 0)
		return -errno;
	snprintf(metadata->stamp, sizeof(metadata->stamp), RULES " %lld %lld.%09ld",
		(long long)status.st_size, (long long)status.st_mtim.tv_sec,
		status.st_mtim.tv_nsec);
	return 0;
}

/* The walk of a directory finds it there; beside containers nothing else does. */
static void warn_of_jsonl(const struct scan *scan)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/metadata.jsonl", scan->beside);
	if (!scan->real && (size_t)n < sizeof(path) && access(path, F_OK) == 0)
		log_warn("dataset %s: metadata.jsonl in %s is not read; metadata.csv is",
			scan->name, scan->beside);
}

int metadata_open(const struct scan *scan, struct metadata **ret)
{
	*ret = NULL;
	if (scan->far)
		return 0;
	warn_of_jsonl(scan);
	struct metadata *metadata = calloc(1, sizeof(*metadata));
	if (!metadata)
		return -ENOMEM;
	metadata->dataset = scan->name;
	metadata->label = SIZE_MAX;
	if (scan->label == LABEL_CSV)
		metadata->label_column = scan->label_field;
	int err = open_file(scan, metadata);
	if (!err) {
		*ret = metadata;
		return 0;
	}
	if (err == -EXDEV)
		log_warn("dataset %s: metadata.csv leads out of the tree; it is left out "
			 "(symlinks = follow allows it)",
			scan->name);
	else if (err != -ENOENT)
		log_warn("dataset %s: metadata.csv: can't be read: %s; it is left out",
			scan->name, strerror(-err));
	metadata_close(&metadata);
	return 0;
}

void metadata_close(struct metadata **metadata)
{
	struct metadata *old = *metadata;
	*metadata = NULL;
	if (!old)
		return;
	if (old->file)
		fclose(old->file);
	for (size_t i = 0; i < old->n_columns; i++)
		free(old->columns[i].name);
	free(old->columns);
	free(old);
}

const char *metadata_stamp(const struct metadata *metadata)
{
	return metadata ? metadata->stamp : "";
}
