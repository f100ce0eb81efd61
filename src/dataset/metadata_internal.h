// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

#include <stdio.h>

/*
 * Files of metadata: CSV (metadata_csv.c) and lines of JSON (metadata_jsonl.c). Each file is read
 * twice: first for the columns and their types, then for the values, which are written directly to
 * the catalogue. Mistakes in a file do not prevent the dataset from opening: a column with an
 * unusable name is left out, and a file that can't be read gives no columns.
 */

#define MAX_COLUMNS 256

/* Limits for one file of metadata, in bytes and fields. SQLite can store a row of this size. */
#define MAX_FIELD (64 * 1024)
#define MAX_LINE (512 * 1024)
#define MAX_FIELDS 1024

struct metadata_file {
	const struct scan *scan;
	char *path;	  /* relative to the dataset's directory */
	size_t directory; /* length of the directory in `path`, including its slash */
	const char *label_column; /* NULL: no label is needed */
	/* index of the field that has the label; SIZE_MAX: there is none */
	size_t label;
	bool jsonl;
	off_t bytes;	       /* size of the file when it was found */
	struct timespec mtime; /* mtime of the file when it was found */
	/* the columns of the file; a column whose name can't be used is missing */
	struct column *columns;
	size_t n_columns, columns_capacity;
	char **keys; /* JSON: the name of each field */
	size_t n_keys, keys_capacity;
	/* CSV: number of fields in the first line, which every line must have */
	size_t n_fields;
	/* index of the field file_name; SIZE_MAX: there is none */
	size_t file_name;
	/* number of columns that are left out because their names can't be used; number of columns
	 * that are left out because there are already MAX_COLUMNS */
	size_t bad_columns, left_columns;
	bool usable;
	/* number of lines with more or fewer fields than the first line */
	uint64_t odd_lines;
	uint64_t first_odd;
};

struct field {
	/* offset of the value in the record's text; SIZE_MAX: the record has no value */
	size_t start;
	bool text; /* the value is a text, even if it looks like a number */
};

/* One reading (pass) of a file. The fields of a record are collected until the record is
 * complete. */
struct pass {
	struct metadata_file *file;
	FILE *in;
	uint64_t line; /* number of the current line, for messages */
	/* number of records that were read; in CSV the header counts as a record */
	uint64_t n_records;
	/* texts of the current record's fields, each with a \0 at its end */
	char *text;
	size_t text_used, text_size;
	struct field *fields;
	size_t n_fields, fields_size;
	int (*record)(struct pass *pass);
	/* the members from here on are only used when the values are read */
	struct metadata_line *row;
	const char **values;
	metadata_row *tell;
	void *context;
};

/* Returns the value of field i of the current record; NULL: it has none. */
const char *pass_field(const struct pass *pass, size_t i);
/* Sets field i of the current record. Fields that are skipped before i have no value. */
must_check int pass_keep(
	struct pass *pass, size_t i, const char *text, size_t n, bool is_text);
/* Ends the current record: calls pass->record, and begins the next record. */
must_check int pass_end_record(struct pass *pass);
/* Adds the column of field i. If its name can't be used, warns and leaves out the column. */
must_check int pass_add_column(struct pass *pass, size_t i, const char *name);

/* pass_refuse and pass_too_much log that all columns of the file are left out, and return
 * -EINVAL. */
int pass_refuse(const struct pass *pass, uint64_t line, const char *format, ...)
	printf_like(3, 4);
int pass_too_much(
	const struct pass *pass, const char *what, const char *unit, size_t allowed);

/* metadata_csv_pass and metadata_jsonl_pass read the whole file, and call pass->record for each
 * record. first: true in the first pass, which only finds the columns. */
must_check int metadata_csv_pass(struct pass *pass, bool first);
must_check int metadata_jsonl_pass(struct pass *pass, bool first);

/* metadata_file_columns finds the file's columns, and must be called first. metadata_file_rows then
 * reads the values. Mistakes in the file are only logged. Both return -ENOMEM or the error of a
 * callback; metadata_file_rows also returns -EINVAL if the file can't be read a second time. */
must_check int metadata_file_columns(struct metadata_file *file);
must_check int metadata_file_rows(struct metadata_file *file, size_t n_columns,
	struct metadata_line *row, metadata_row *tell, void *context);
void metadata_file_free(struct metadata_file *file);
