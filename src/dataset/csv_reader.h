// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * CSV as Python's csv module reads it: a quote in the middle of a field is a character like any
 * other, `"a""b"` is a"b, what follows a closing quote belongs to the field, spaces count, and
 * a line ends with \n, \r or both. Lines without anything are no records.
 *
 *   Flow: csv_read for each piece of the text -> csv_end -> csv_free. Fields and records are
 *         told as they end, to the two callbacks.
 *   Owns: the field that is read; no more than `most` bytes and as many again.
 *   Errors: what a callback returns; -EFBIG: a field is longer than `most`; -EILSEQ: a
 *         quote is not closed; -ENOMEM. Nothing is logged.
 */

struct csv_reader {
	/* the caller's */
	int (*field)(void *context, const char *text, size_t n); /* a NUL follows */
	int (*record)(void *context);
	void *context;
	size_t most;
	/* to look at */
	uint64_t line;	     /* of the byte that was read last, from 1 */
	uint64_t quote_line; /* where the last quote was opened */
	/* the reader's */
	enum {
		CSV_RECORD, /* before a record */
		CSV_FIELD,
		CSV_PLAIN,
		CSV_QUOTED,
		CSV_QUOTE, /* in a quoted field: doubled, or the last one */
	} state;
	char *text;
	size_t n, room;
	char last;
};

must_check int csv_read(struct csv_reader *reader, const char *text, size_t n);
must_check int csv_end(struct csv_reader *reader);
void csv_free(struct csv_reader *reader);
