// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/csv_reader.h"
#include "base/array_grow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int add(struct csv_reader *reader, char c)
{
	if (reader->n == reader->most)
		return -EFBIG;
	if (!array_make_room(reader->text, reader->n + 1, &reader->room))
		return -ENOMEM;
	reader->text[reader->n++] = c;
	return 0;
}

static int end_field(struct csv_reader *reader)
{
	static char empty[] = "";
	char *text = reader->n ? reader->text : empty;
	size_t n = reader->n;
	text[n] = '\0';
	reader->n = 0;
	reader->state = CSV_FIELD;
	return reader->field(reader->context, text, n);
}

static int end_record(struct csv_reader *reader)
{
	int err = end_field(reader);
	reader->state = CSV_RECORD;
	return err ? err : reader->record(reader->context);
}

static bool is_end(char c)
{
	return c == '\n' || c == '\r';
}

static int take_outside(struct csv_reader *reader, char c)
{
	if (is_end(c))
		return reader->state == CSV_RECORD ? 0 : end_record(reader);
	if (c == ',')
		return end_field(reader);
	if (c == '"' && (reader->state == CSV_RECORD || reader->state == CSV_FIELD)) {
		reader->state = CSV_QUOTED;
		reader->quote_line = reader->line;
		return 0;
	}
	reader->state = CSV_PLAIN;
	return add(reader, c);
}

static int take(struct csv_reader *reader, char c)
{
	if (reader->state == CSV_QUOTED && c == '"') {
		reader->state = CSV_QUOTE;
		return 0;
	}
	if (reader->state == CSV_QUOTE && c == '"')
		reader->state = CSV_QUOTED;
	return reader->state == CSV_QUOTED ? add(reader, c) : take_outside(reader, c);
}

static void count_lines(struct csv_reader *reader, char c)
{
	bool begins = reader->last == '\n' || (reader->last == '\r' && c != '\n');
	reader->line += reader->line == 0 || begins;
	reader->last = c;
}

int csv_read(struct csv_reader *reader, const char *text, size_t n)
{
	int err = 0;
	bool mark = reader->line == 0 && n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
	for (size_t i = mark ? 3 : 0; !err && i < n; i++) {
		count_lines(reader, text[i]);
		err = take(reader, text[i]);
	}
	return err;
}

int csv_end(struct csv_reader *reader)
{
	if (reader->state == CSV_QUOTED)
		return -EILSEQ;
	return reader->state == CSV_RECORD ? 0 : end_record(reader);
}
