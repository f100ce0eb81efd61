// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Parses CSV as Python's csv module does: a quote in the middle of a field is an ordinary
 * character, `"a""b"` is a"b, text after a closing quote belongs to the field, spaces are kept, and
 * a line ends with \n, \r or both. Skips a byte order mark at the beginning. A record is one line,
 * or several lines if a quoted field contains line ends. An empty line gives no record.
 *
 *   Flow: csv_read for each part of the text, which may end anywhere -> csv_end ->
 *         free(reader.text). `field` is called at the end of each field, and `record` at the end
 *         of each record.
 *   Owns: the bytes of the current field, in at most 2 * `most` bytes of memory.
 *   Errors: the error of a callback; -EFBIG: a field is longer than `most`; -EILSEQ: a quote is not
 *           closed; -ENOMEM. Nothing is logged.
 */

struct csv_reader {
	/* The caller sets `field`, `record`, `context` and `most`. text[n] is NUL. */
	int (*field)(void *context, const char *text, size_t n);
	int (*record)(void *context);
	void *context;
	size_t most; /* largest size of a field, in bytes */
	/* The caller may read `line` and `quote_line`. */
	uint64_t line;	     /* line of the last byte that was read, counted from 1 */
	uint64_t quote_line; /* line of the last opening quote */
	/* The rest is private to the reader. */
	enum {
		CSV_RECORD, /* before the first byte of a record */
		CSV_FIELD,
		CSV_PLAIN,
		CSV_QUOTED,
		/* a quote in a quoted field: the field's end, or the first of two quotes */
		CSV_QUOTE,
	} state;
	char *text;
	size_t n, room;
	char last;
};

must_check int csv_read(struct csv_reader *reader, const char *text, size_t n);
must_check int csv_end(struct csv_reader *reader);
