// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * CSV as Python's csv module reads it: a quote in the middle of a field is a character like any
 * other, `"a""b"` is a"b, text after a closing quote belongs to the field, spaces count, and
 * a line ends with \n, \r or both. Empty lines are no records.
 *
 *   Flow: csv_read for each piece of the text -> csv_end -> csv_free. The two callbacks get
 *         fields and records as they end.
 *   Owns: the field that is being read; at most 2 * `most` bytes.
 *   Errors: what a callback returns; -EFBIG: a field is longer than `most`; -EILSEQ: a
 *         quote is not closed; -ENOMEM. Nothing is logged.
 */

struct csv_reader {
	/* The caller sets these. */
	int (*field)(void *context, const char *text, size_t n); /* a NUL follows */
	int (*record)(void *context);
	void *context;
	size_t most;
	/* The caller may read these. */
	uint64_t line;	     /* line of the byte that was read last, from 1 */
	uint64_t quote_line; /* line of the last opening quote */
	/* Only the reader uses these. */
	enum {
		CSV_RECORD, /* before a record */
		CSV_FIELD,
		CSV_PLAIN,
		CSV_QUOTED,
		CSV_QUOTE, /* after a quote in a quoted field: doubled, or the closing one */
	} state;
	char *text;
	size_t n, room;
	char last;
};

must_check int csv_read(struct csv_reader *reader, const char *text, size_t n);
must_check int csv_end(struct csv_reader *reader);
void csv_free(struct csv_reader *reader);
