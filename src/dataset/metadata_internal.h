// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

#include <stdio.h>

/*
 * Files of metadata: CSV (metadata_csv.c) and lines of JSON (metadata_jsonl.c). Each file is read
 * twice: for the columns and their types, then for the values, which go directly to the catalogue.
 * A column with an unusable name, or a file that can't be read, is left out.
 */

#define MAX_COLUMNS 256

/* Limits: bytes in a field, bytes in a line, fields in a line. SQLite can store the row of any
 * line within these limits. */
#define MAX_FIELD (64 * 1024)
#define MAX_LINE (512 * 1024)
#define MAX_FIELDS 1024

struct metadata_file {
	const struct scan *scan;
	char *path;	  /* relative to scan->beside */
	size_t directory; /* length of the directory in `path`, including its slash */
	const char *label_column; /* the column with labels; NULL: none is needed */
	size_t label;		  /* index of the label's field; SIZE_MAX: none */
	bool jsonl;
	off_t bytes;		/* size when the file was found */
	struct timespec mtime;	/* mtime when the file was found */
	struct column *columns; /* the columns whose names can be used */
	size_t n_columns, columns_capacity;
	char **keys; /* JSON: the name of each field */
	size_t n_keys, keys_capacity;
	size_t n_fields;  /* CSV: fields of the first line; valid lines have as many */
	size_t file_name; /* index of the field file_name; SIZE_MAX: none */
	/* columns that are left out. bad_columns: their names can't be used. left_columns: there
	 * are MAX_COLUMNS other columns already. */
	size_t bad_columns, left_columns;
	bool usable;
	uint64_t odd_lines; /* lines with more or fewer fields than the first */
	uint64_t first_odd;
};

struct field {
	size_t start; /* offset in pass->text; SIZE_MAX: no value */
	bool text;    /* the value is a text, even if it looks like a number */
};

/* One reading of a file. It collects a record's fields until the record is complete. */
struct pass {
	struct metadata_file *file;
	FILE *in;
	uint64_t line;	    /* number of the current line, for messages */
	uint64_t n_records; /* records that were read; CSV's header counts */
	char *text;	    /* the current record's texts, each ended by \0 */
	size_t text_used, text_size;
	struct field *fields;
	size_t n_fields, fields_size;
	int (*record)(struct pass *pass);
	/* the rest is only used when the values are read */
	struct metadata_line *row;
	const char **values;
	metadata_row *tell;
	void *context;
};

/* Returns NULL if the current record has no value in field i. */
const char *pass_field(const struct pass *pass, size_t i);
/* Sets field i of the current record to the first n bytes of `text`; NULL: no value. Fields before
 * i that were not set have no value. */
must_check int pass_keep(
	struct pass *pass, size_t i, const char *text, size_t n, bool is_text);
/* Ends the current record: calls pass->record, and begins the next one. */
must_check int pass_end_record(struct pass *pass);
/* Adds the column of field i. If `name` can't be used, only warns. */
must_check int pass_add_column(struct pass *pass, size_t i, const char *name);

/* Finds the column with this name. Ignores case. NULL: there is none. */
struct column *column_find(struct column *columns, size_t n, const char *name);
/* Logs why the file's columns are left out. Returns -EINVAL. */
int pass_refuse(const struct pass *pass, uint64_t line, const char *format, ...)
	printf_like(3, 4);
/* Works like pass_refuse, for a line, field or the like that is larger than allowed. */
int pass_too_much(
	const struct pass *pass, const char *what, const char *unit, size_t allowed);

/* Reads the file, and calls pass->record for each record. first: also finds the file's columns. */
must_check int metadata_csv_pass(struct pass *pass, bool first);
must_check int metadata_jsonl_pass(struct pass *pass, bool first);

/* Finds the columns and their types. Mistakes in the file are only logged. -ENOMEM */
must_check int metadata_file_columns(struct metadata_file *file);
/* Calls `tell` for each record. metadata_file_columns must be called first. n_columns: number of
 * columns of all files. -EINVAL, logged: the file can't be read again. -ENOMEM, or the error of a
 * call. */
must_check int metadata_file_rows(struct metadata_file *file, size_t n_columns,
	struct metadata_line *row, metadata_row *tell, void *context);
void metadata_file_free(struct metadata_file *file);
