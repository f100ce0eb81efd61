// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/escape.h"
#include "dataset/dataset_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Prints rows as JSON: the columns SHOWN, then the columns of metadata. Leaves out the columns
 * about the file, such as bytes and mtime. */

#define SHOWN "label, class, path"

static void print_character(FILE *out, uint32_t character)
{
	if (character > 0xffff) {
		fprintf(out, "\\u%04x", 0xd7c0 + (character >> 10));
		character = 0xdc00 | (character & 0x3ff);
	}
	fprintf(out, "\\u%04x", character);
}

/* Escapes control characters, so that a terminal never gets them. */
static void print_text(FILE *out, const char *text)
{
	putc('"', out);
	while (*text) {
		uint32_t character;
		unsigned n = utf8_read(text, &character);
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (n == 0)
			fprintf(out, "\\udc%02x", (unsigned char)*text);
		else if (unicode_controls(character))
			print_character(out, character);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
	putc('"', out);
}

/* JSON has no infinity; 1e999 is so large that parsers read it as infinity. */
static void print_real(FILE *out, double value)
{
	char text[NUMBER_TEXT];
	if (value - value != 0) {
		fputs(value < 0 ? "-1e999" : "1e999", out);
		return;
	}
	number_print(value, text);
	fputs(text, out);
}

static void print_value(FILE *out, sqlite3_stmt *row, int column)
{
	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER:
		fprintf(out, "%lld", (long long)sqlite3_column_int64(row, column));
		break;
	case SQLITE_FLOAT:
		print_real(out, sqlite3_column_double(row, column));
		break;
	case SQLITE_TEXT:
		print_text(out, (const char *)sqlite3_column_text(row, column));
		break;
	default:
		fputs("null", out);
		break;
	}
}

/* Label and dataset that are printed for a row of a mixture. */
struct shown {
	uint32_t label;
	const char *dataset;
};

/* Prints a column of SHOWN for a row of a mixture: the label in the mixture, the class, or the path
 * DATASET/PATH. */
static void print_shown(
	FILE *out, sqlite3_stmt *row, int column, const struct shown *shown)
{
	if (column == 0) {
		fprintf(out, "%" PRIu32, shown->label);
	} else if (column == 2) {
		const unsigned char *text = sqlite3_column_text(row, column);
		auto_free char *path =
			aprintf("%s/%s", shown->dataset, text ? (const char *)text : "");
		print_text(out, path ? path : "");
	} else {
		print_value(out, row, column);
	}
}

/* Prints `row`, which has the columns SHOWN, then all columns. shown: NULL if the row is not a
 * mixture's. */
static void print_row(FILE *out, sqlite3_stmt *row, const struct shown *shown)
{
	bool first = true;
	putc('{', out);
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		const char *name = sqlite3_column_name(row, i);
		if (i > 2 && catalogue_reserved_column(name))
			continue;
		fputs(first ? "" : ", ", out);
		print_text(out, name);
		fputs(": ", out);
		if (shown && i <= 2)
			print_shown(out, row, i, shown);
		else
			print_value(out, row, i);
		first = false;
	}
	putc('}', out);
}

static int prepare_row(const struct dataset *dataset, struct connection *connection)
{
	if (connection->row || sqlite3_prepare_v2(connection->db,
				       "SELECT " SHOWN ", * FROM samples WHERE id = ?",
				       -1, &connection->row, NULL) == SQLITE_OK)
		return 0;
	return catalogue_unreadable(dataset->file, connection->db);
}

static int print_sample(const struct dataset *dataset, struct connection *connection,
	sample_id id, const struct shown *shown, FILE *out)
{
	int err = prepare_row(dataset, connection);
	if (err)
		return err;
	sqlite3_bind_int64(connection->row, 1, id);
	if (sqlite3_step(connection->row) == SQLITE_ROW)
		print_row(out, connection->row, shown);
	else
		err = catalogue_unreadable(dataset->file, connection->db);
	sqlite3_reset(connection->row);
	return err;
}

static int print_json(
	struct dataset *dataset, sample_id id, const struct shown *shown, char **ret)
{
	struct connection *connection;
	size_t bytes;
	int err = connection_take(dataset, &connection);
	if (err)
		return err;
	FILE *out = open_memstream(ret, &bytes);
	err = out ? print_sample(dataset, connection, id, shown, out) : -ENOMEM;
	connection_give(dataset, connection);
	if (out && fclose(out) != 0 && !err)
		err = -ENOMEM;
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

int dataset_json(struct dataset *dataset, sample_id id, char **ret)
{
	*ret = NULL;
	if (id >= dataset->n_ids)
		return -ENOENT;
	if (dataset->n_mixed == 0)
		return print_json(dataset, id, NULL, ret);
	sample_id own;
	struct dataset *of = mixed_of(dataset, id, &own);
	const struct shown shown = {dataset_label(dataset, id), of->name};
	return print_json(of, own, &shown, ret);
}

static int measure_rows(
	const struct dataset *dataset, sqlite3_stmt *row, FILE *out, uint32_t *longest)
{
	int code;
	while ((code = sqlite3_step(row)) == SQLITE_ROW) {
		rewind(out);
		print_row(out, row, NULL);
		long bytes = ftell(out);
		if (bytes < 0 || ferror(out))
			return -ENOMEM;
		if ((uint32_t)bytes > *longest)
			*longest = (uint32_t)bytes;
	}
	return code == SQLITE_DONE
		       ? 0
		       : catalogue_unreadable(dataset->file, sqlite3_db_handle(row));
}

static int measure(struct dataset *dataset, sqlite3 *db, uint32_t *longest)
{
	auto_free char *text = NULL;
	auto_statement sqlite3_stmt *row = NULL;
	size_t bytes;
	auto_fclose FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return -ENOMEM;
	return sqlite3_prepare_v2(db, "SELECT " SHOWN ", * FROM samples WHERE NOT gone",
		       -1, &row, NULL) == SQLITE_OK
		       ? measure_rows(dataset, row, out, longest)
		       : catalogue_unreadable(dataset->file, db);
}

static int mixed_json_longest(const struct dataset *dataset, uint32_t *ret)
{
	uint32_t longest, digits = 1;
	*ret = 0;
	for (uint32_t n = dataset->n_classes; n > 9; n /= 10)
		digits++;
	for (size_t i = 0; i < dataset->n_mixed; i++) {
		const char *name = dataset->mixed[i]->name;
		int err = dataset_json_longest(dataset->mixed[i], &longest);
		if (err)
			return err;
		longest += (uint32_t)strlen(name) + 1 + digits;
		*ret = longest > *ret ? longest : *ret;
	}
	return 0;
}

int dataset_json_longest(struct dataset *dataset, uint32_t *ret)
{
	struct connection *connection;
	uint32_t longest = 0;
	*ret = atomic_load(&dataset->longest_json);
	if (*ret)
		return 0;
	if (dataset->n_mixed > 0)
		return mixed_json_longest(dataset, ret);
	int err = connection_take(dataset, &connection);
	if (err)
		return err;
	err = measure(dataset, connection->db, &longest);
	connection_give(dataset, connection);
	if (err)
		return err;
	atomic_store(&dataset->longest_json, longest);
	*ret = longest;
	return 0;
}
