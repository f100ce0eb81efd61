// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

#include <stdio.h>

/*
 * Files of metadata: CSV (metadata_csv.c) and lines of JSON (metadata_jsonl.c). Each file is read
 * twice: first for the columns and their types, then for the values, which are written directly to
 * the catalogue. Mistakes in a file do not prevent the dataset from opening: a column that can't be
 * used is left out, and a file that can't be read gives no columns.
 */

#define MAX_COLUMNS 256

/* Limits of a read, and of the memory for one file. SQLite can store a row of this size. */
#define MAX_FIELD (64 * 1024)
#define MAX_LINE (512 * 1024)
#define MAX_FIELDS 1024

struct metadata_file {
	const struct scan *scan;
	char *path;	  /* relative to the dataset's directory */
	size_t directory; /* length of the directory in `path`, including its slash */
	const char *label_column; /* NULL: no label is needed */
	size_t label; /* index of the field with the label; SIZE_MAX: there is none */
	bool jsonl;
	off_t bytes;		/* size of the file when it was found */
	struct timespec mtime;	/* mtime of the file when it was found */
	struct column *columns; /* columns that can be used */
	size_t n_columns, columns_capacity;
	char **keys; /* JSON: the name of each field */
	size_t n_keys, keys_capacity;
	size_t n_fields; /* CSV: number of fields in the first line */
	/* index of the field with the file's name; SIZE_MAX: there is none */
	size_t file_name;
	/* number of columns that can't be used; that are too many */
	size_t bad_columns, left_columns;
	bool usable;
	uint64_t odd_lines; /* number of lines with another number of fields */
	uint64_t first_odd;
};

struct field {
	size_t start; /* offset in the record's text; SIZE_MAX: no value */
	bool text;    /* the value is a text, even if it looks like a number */
};

/* One pass over a file. Fields are collected until their record is complete. */
struct pass {
	struct metadata_file *file;
	FILE *in;
	uint64_t line;	    /* for messages */
	uint64_t n_records; /* CSV: including the header */
	char *text;	    /* the fields of the current record, each ended by \0 */
	size_t text_used, text_size;
	struct field *fields;
	size_t n_fields, fields_size;
	int (*record)(struct pass *pass);
	struct metadata_line *row; /* used only in the second pass, like the next three */
	const char **values;
	metadata_row *tell;
	void *context;
};

/* Returns the value of field i; NULL: none. */
const char *pass_field(const struct pass *pass, size_t i);
/* Sets field i. Earlier fields that were not set have no value. */
must_check int pass_keep(
	struct pass *pass, size_t i, const char *text, size_t n, bool is_text);
/* Calls pass->record, and begins the next record. */
must_check int pass_end_record(struct pass *pass);
/* Makes a column from field i, or warns that its name can't be used. */
must_check int pass_add_column(struct pass *pass, size_t i, const char *name);

/* Both functions warn that the columns of the file are left out, and return -EINVAL. */
int pass_refuse(const struct pass *pass, uint64_t line, const char *format, ...)
	printf_like(3, 4);
int pass_too_much(
	const struct pass *pass, const char *what, const char *unit, size_t allowed);

/* Both functions read the whole file, and call pass->record for each record. first: the pass finds
 * the columns. */
must_check int metadata_csv_pass(struct pass *pass, bool first);
must_check int metadata_jsonl_pass(struct pass *pass, bool first);

/* metadata_file_columns and then metadata_file_rows read a file. They return -ENOMEM or the error
 * of a callback, and log mistakes in the file. metadata_file_rows returns -EINVAL if it can't read
 * the file again. */
must_check int metadata_file_columns(struct metadata_file *file);
must_check int metadata_file_rows(struct metadata_file *file, size_t n_columns,
	struct metadata_line *row, metadata_row *tell, void *context);
void metadata_file_free(struct metadata_file *file);
