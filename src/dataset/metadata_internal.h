// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

#include <stdio.h>

/*
 * Files of metadata: CSV (metadata_csv.c) and lines of JSON (metadata_jsonl.c). Each is read
 * twice: first for the columns and their types, then for the values, which go straight into
 * the catalogue. A mistake in a file never keeps a dataset from being opened: a column
 * that can't be used is left out, and a file that can't be read gives no columns.
 */

#define MAX_COLUMNS 256

/* What is read at a time, and what is remembered of a file, is bounded by these. SQLite
 * reads a row of that size. */
#define MAX_FIELD (64 * 1024)
#define MAX_LINE (512 * 1024)
#define MAX_FIELDS 1024

struct metadata_file {
	const struct scan *scan;
	char *path;	  /* relative to the dataset's directory */
	size_t directory; /* how many bytes of it are the directory, with its slash */
	const char *label_column; /* NULL: none is asked for */
	size_t label;		  /* its field; SIZE_MAX: there is none */
	bool jsonl;
	off_t bytes; /* of the file, and its time, as they were when it was found */
	struct timespec mtime;
	struct column *columns; /* that can be used */
	size_t n_columns, columns_capacity;
	char **keys; /* names of fields, of JSON; the index is that of the field */
	size_t n_keys, keys_capacity;
	size_t n_fields;  /* of CSV's first line */
	size_t file_name; /* the field with the file's name; SIZE_MAX: there is none */
	size_t bad_columns, left_columns;
	bool usable;
	uint64_t odd_lines; /* lines with another number of fields */
	uint64_t first_odd;
};

struct field {
	size_t start; /* in the text of the record; SIZE_MAX: it has no value */
	bool text;    /* no number, whatever it looks like */
};

/* One pass over a file: fields are gathered until their record is complete. */
struct pass {
	struct metadata_file *file;
	FILE *in;
	uint64_t line;	    /* for messages */
	uint64_t n_records; /* of CSV with the header */
	char *text;	    /* fields of the current record, each ended by NUL */
	size_t text_used, text_size;
	struct field *fields;
	size_t n_fields, fields_size;
	int (*record)(struct pass *pass);
	struct metadata_line *row; /* of the second pass */
	const char **values;
	metadata_row *tell;
	void *context;
};

/* The value; NULL: none. */
const char *pass_field(const struct pass *pass, size_t i);
/* Sets field i, and those before it that were not set to nothing. */
must_check int pass_keep(
	struct pass *pass, size_t i, const char *text, size_t n, bool is_text);
must_check int pass_end_record(struct pass *pass);
/* Field i becomes a column if it can. */
must_check int pass_add_column(struct pass *pass, size_t i, const char *name);

/* Warn that the file is left out, and return -EINVAL. */
int pass_refuse(const struct pass *pass, uint64_t line, const char *format, ...)
	printf_like(3, 4);
int pass_too_much(
	const struct pass *pass, const char *what, const char *unit, size_t allowed);

/* Read the whole file, and call pass->record for each record. first: for the columns. */
must_check int metadata_csv_pass(struct pass *pass, bool first);
must_check int metadata_jsonl_pass(struct pass *pass, bool first);

/* One file, in this order. -ENOMEM, or what a callback returns; what is wrong in the file
 * is logged. */
must_check int metadata_file_columns(struct metadata_file *file);
must_check int metadata_file_rows(struct metadata_file *file, size_t n_columns,
	struct metadata_line *row, metadata_row *tell, void *context);
void metadata_file_free(struct metadata_file *file);
