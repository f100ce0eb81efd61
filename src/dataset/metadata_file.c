// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/metadata_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define MAX_NAME 64
#define MAX_WARNINGS 8 /* at most so many warnings about columns per file */

const char *pass_field(const struct pass *pass, size_t i)
{
	if (i >= pass->n_fields || pass->fields[i].start == SIZE_MAX)
		return NULL;
	return pass->text + pass->fields[i].start;
}

int pass_refuse(const struct pass *pass, uint64_t line, const char *format, ...)
{
	char text[600];
	struct quoted path;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_warn("dataset %s: %s:%" PRIu64 ": %s; its columns are left out",
		pass->file->scan->name, quote_name(&path, pass->file->path), line, text);
	return -EINVAL;
}

int pass_too_much(
	const struct pass *pass, const char *what, const char *unit, size_t allowed)
{
	struct grouped limit;
	const char *most = group_digits(&limit, allowed);
	return pass_refuse(pass, pass->line,
		"found a %s of more than %s %s, allowed: at most %s", what, most, unit,
		most);
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

int pass_keep(struct pass *pass, size_t i, const char *text, size_t n, bool is_text)
{
	if (pass->text_used + n > MAX_LINE)
		return pass_too_much(pass, "line", "bytes", MAX_LINE);
	if (i >= MAX_FIELDS)
		return pass_too_much(pass, "line", "fields", MAX_FIELDS);
	while (pass->n_fields <= i) {
		if (!array_make_room(pass->fields, pass->n_fields, &pass->fields_size))
			return -ENOMEM;
		pass->fields[pass->n_fields++].start = SIZE_MAX;
	}
	if (!text)
		return 0;
	pass->fields[i] = (struct field){pass->text_used, is_text};
	return keep_text(pass, text, n);
}

int pass_end_record(struct pass *pass)
{
	int err = pass->record(pass);
	pass->n_records++;
	pass->n_fields = pass->text_used = 0;
	return err;
}

/* Returns -EINVAL, logged, if the file can't be read, or has changed since the scan found it. */
static int open_file(struct pass *pass)
{
	const struct metadata_file *file = pass->file;
	char path[PATH_MAX];
	struct stat st;
	struct quoted quoted;
	int err = scan_beside(file->scan->beside, file->path, path, sizeof(path));
	if (!err && (!(pass->in = fopen(path, "re")) || fstat(fileno(pass->in), &st) < 0))
		err = -errno;
	if (!err && st.st_size == file->bytes &&
		st.st_mtim.tv_sec == file->mtime.tv_sec &&
		st.st_mtim.tv_nsec == file->mtime.tv_nsec)
		return 0;
	log_warn("dataset %s: %s: %s%s; it is left out", file->scan->name,
		quote_name(&quoted, file->path),
		err ? "can't be read: " : "changed while it was read",
		err ? strerror(-err) : "");
	return -EINVAL;
}

static int run_pass(struct pass *pass, bool first)
{
	struct quoted path;
	int err = open_file(pass);
	if (!err)
		err = pass->file->jsonl ? metadata_jsonl_pass(pass, first)
					: metadata_csv_pass(pass, first);
	if (!err && ferror(pass->in)) {
		log_warn("dataset %s: %s: can't be read; its columns are left out",
			pass->file->scan->name, quote_name(&path, pass->file->path));
		err = -EINVAL;
	}
	if (pass->in)
		fclose(pass->in);
	free(pass->text);
	free(pass->fields);
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

struct column *column_find(struct column *columns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(columns[i].name, name) == 0)
			return &columns[i];
	return NULL;
}

static const char *column_problem(const struct metadata_file *file, const char *name)
{
	if (!name || !*name)
		return "has no name";
	if (!identifier(name))
		return "is not a plain name (letters, digits and _, at most 64)";
	if (catalogue_reserved_column(name))
		return "is the name of a column that every dataset has";
	if (column_find(file->columns, file->n_columns, name))
		return "occurs twice";
	return NULL;
}

static void warn_of_column(
	struct pass *pass, size_t index, const char *name, const char *problem)
{
	struct metadata_file *file = pass->file;
	struct quoted quoted, path;
	if (file->bad_columns++ < MAX_WARNINGS)
		log_warn("dataset %s: %s:%" PRIu64 ": column %zu, \"%s\", %s; "
			 "it is left out",
			file->scan->name, quote_name(&path, file->path), pass->line,
			index + 1, quote_name(&quoted, name ? name : ""), problem);
}

int pass_add_column(struct pass *pass, size_t index, const char *name)
{
	struct metadata_file *file = pass->file;
	if (file->n_columns == MAX_COLUMNS) {
		file->left_columns++;
		return 0;
	}
	const char *problem = column_problem(file, name);
	if (name && file->label_column && file->label == SIZE_MAX &&
		strcmp(name, file->label_column) == 0) {
		file->label = index;
		if (catalogue_reserved_column(name))
			return 0;
	}
	if (problem) {
		warn_of_column(pass, index, name, problem);
		return 0;
	}
	char *copy = strdup(name);
	if (!copy || !array_make_room(
			     file->columns, file->n_columns, &file->columns_capacity)) {
		free(copy);
		return -ENOMEM;
	}
	file->columns[file->n_columns++] = (struct column){.name = copy,
		.field = index,
		.type = COLUMN_INTEGER,
		.style = NUMBER_ANY_STYLE};
	return 0;
}

static void warn_of_columns(const struct metadata_file *file)
{
	struct quoted path;
	if (file->left_columns)
		log_warn("dataset %s: %s: found %zu columns beside file_name, allowed: "
			 "at most %d; those after \"%s\" are left out",
			file->scan->name, quote_name(&path, file->path),
			file->n_columns + file->bad_columns + file->left_columns,
			MAX_COLUMNS, file->columns[MAX_COLUMNS - 1].name);
	if (file->bad_columns > MAX_WARNINGS)
		log_warn("dataset %s: %s: %zu columns can't be used; only the first %d "
			 "are named here",
			file->scan->name, quote_name(&path, file->path),
			file->bad_columns, MAX_WARNINGS);
}

/* A column has numbers only if each value, parsed and printed again, gives the same text. */
static void note_value(
	struct pass *pass, struct column *column, const char *value, bool is_text)
{
	struct quoted name, text, path;
	if (column->type == COLUMN_TEXT)
		return;
	number_note(&column->style, value);
	if (column->type == COLUMN_INTEGER && !number_is_integer(value))
		column->type = COLUMN_REAL;
	if (!is_text && (column->type == COLUMN_INTEGER || column->style.ways))
		return;
	column->type = COLUMN_TEXT;
	if (!is_text && number_is(value))
		log_info("dataset %s: %s:%" PRIu64
			 ": column %s is text, since a number would not keep \"%s\" as "
			 "it is written (cast(%s as real) compares as numbers)",
			pass->file->scan->name, quote_name(&path, pass->file->path),
			pass->line, quote_name(&name, column->name),
			quote_name(&text, value), name.text);
}

static int read_types(struct pass *pass)
{
	struct metadata_file *file = pass->file;
	for (size_t i = 0; i < file->n_columns; i++) {
		struct column *column = &file->columns[i];
		const char *value = pass_field(pass, column->field);
		if (!value)
			continue;
		note_value(pass, column, value, pass->fields[column->field].text);
		column->seen = true;
	}
	return 0;
}

int metadata_file_columns(struct metadata_file *file)
{
	struct pass pass = {.file = file, .record = read_types};
	int err = run_pass(&pass, true);
	file->usable = !err && pass.n_records > 0;
	if (err)
		return err == -EINVAL ? 0 : err;
	warn_of_columns(file);
	return 0;
}

/* Prepends the directory of the file of metadata to `name`. Returns "" if the path is too long. */
static const char *whole_name(
	const struct metadata_file *file, const char *name, char *ret)
{
	while (strncmp(name, "./", 2) == 0)
		name += 2;
	int n = snprintf(ret, PATH_MAX, "%.*s%s", (int)file->directory, file->path, name);
	return n < PATH_MAX ? ret : "";
}

static int give_row(struct pass *pass)
{
	const struct metadata_file *file = pass->file;
	const char *file_name = pass_field(pass, file->file_name);
	char name[PATH_MAX];
	for (size_t i = 0; i < file->n_columns; i++)
		pass->values[file->columns[i].number] =
			pass_field(pass, file->columns[i].field);
	pass->row->file_name = file_name ? whole_name(file, file_name, name) : "";
	pass->row->label = pass_field(pass, file->label);
	return pass->tell(pass->context, pass->row);
}

int metadata_file_rows(struct metadata_file *file, size_t n_columns,
	struct metadata_line *row, metadata_row *tell, void *context)
{
	auto_free const char **values = calloc(n_columns + 1, sizeof(*values));
	auto_free bool *has = calloc(n_columns + 1, sizeof(*has));
	if (!values || !has)
		return -ENOMEM;
	for (size_t i = 0; i < file->n_columns; i++)
		has[file->columns[i].number] = true;
	row->values = values;
	row->has = has;
	row->labelled = file->label != SIZE_MAX;
	struct pass pass = {.file = file,
		.record = give_row,
		.row = row,
		.values = values,
		.tell = tell,
		.context = context};
	return run_pass(&pass, false);
}

void metadata_file_free(struct metadata_file *file)
{
	for (size_t i = 0; i < file->n_columns; i++)
		free(file->columns[i].name);
	for (size_t i = 0; i < file->n_keys; i++)
		free(file->keys[i]);
	free(file->keys);
	free(file->columns);
	free(file->path);
}
