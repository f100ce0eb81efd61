// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

#include <stdio.h>

/*
 * Files of metadata: CSV (metadata_csv.c) and lines of JSON (metadata_jsonl.c). Each is read
 * twice: first for the columns and their types, then for the values, which go straight into
 * the catalogue. A dataset opens in spite of mistakes in a file: a column that can't be used is
 * left out, and a file that can't be read gives no columns.
 */

#define MAX_COLUMNS 256

/* Limits of one read, and of the memory that a file takes. SQLite reads a row of this size. */
#define MAX_FIELD (64 * 1024)
#define MAX_LINE (512 * 1024)
#define MAX_FIELDS 1024

struct metadata_file {
	const struct scan *scan;
	char *path;	  /* relative to the dataset's directory */
	size_t directory; /* bytes of the path that are the directory, with its slash */
	const char *label_column; /* NULL: none is asked for */
	size_t label;		  /* field of the label; SIZE_MAX: there is none */
	bool jsonl;
	off_t bytes;		/* size of the file when it was found */
	struct timespec mtime;	/* mtime of the file when it was found */
	struct column *columns; /* columns that can be used */
	size_t n_columns, columns_capacity;
	char **keys; /* JSON: names of fields, by field */
	size_t n_keys, keys_capacity;
	size_t n_fields;  /* CSV: fields of the first line */
	size_t file_name; /* field of the file's name; SIZE_MAX: there is none */
	size_t bad_columns, left_columns; /* can't be used; too many */
	bool usable;
	uint64_t odd_lines; /* lines with another number of fields */
	uint64_t first_odd;
};

struct field {
	size_t start; /* offset in the text of the record; SIZE_MAX: no value */
	bool text;    /* the value is text, even if it looks like a number */
};

/* One pass over a file: fields are gathered until their record is complete. */
struct pass {
	struct metadata_file *file;
	FILE *in;
	uint64_t line;	    /* for messages */
	uint64_t n_records; /* CSV: with the header */
	char *text;	    /* fields of the current record, each ended by NUL */
	size_t text_used, text_size;
	struct field *fields;
	size_t n_fields, fields_size;
	int (*record)(struct pass *pass);
	struct metadata_line *row; /* second pass only, as the next three */
	const char **values;
	metadata_row *tell;
	void *context;
};

/* Returns the value of field i; NULL: none. */
const char *pass_field(const struct pass *pass, size_t i);
/* Sets field i. Fields before it that were not set have no value. */
must_check int pass_keep(
	struct pass *pass, size_t i, const char *text, size_t n, bool is_text);
/* Calls pass->record, and begins the next record. */
must_check int pass_end_record(struct pass *pass);
/* Makes a column of field i, or warns that its name can't be used. */
must_check int pass_add_column(struct pass *pass, size_t i, const char *name);

/* These two warn that the columns of the file are left out, and return -EINVAL. */
int pass_refuse(const struct pass *pass, uint64_t line, const char *format, ...)
	printf_like(3, 4);
int pass_too_much(
	const struct pass *pass, const char *what, const char *unit, size_t allowed);

/* These two read the whole file, and call pass->record for each record. first: find the columns. */
must_check int metadata_csv_pass(struct pass *pass, bool first);
must_check int metadata_jsonl_pass(struct pass *pass, bool first);

/* The next two read one file, in this order. They return -ENOMEM or the error of a callback, and
 * log mistakes in the file; metadata_file_rows returns -EINVAL if it can't read the file again. */
must_check int metadata_file_columns(struct metadata_file *file);
must_check int metadata_file_rows(struct metadata_file *file, size_t n_columns,
	struct metadata_line *row, metadata_row *tell, void *context);
void metadata_file_free(struct metadata_file *file);
