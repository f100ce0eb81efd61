// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/csv_reader.h"
#include "dataset/metadata_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE (64 * 1024)

struct csv {
	struct pass *pass;
	struct csv_reader reader;
	bool first;
};

static int keep_field(void *context, const char *text, size_t n)
{
	struct csv *csv = context;
	struct pass *pass = csv->pass;
	pass->line = csv->reader.line;
	if (memchr(text, '\0', n))
		return pass_refuse(pass, pass->line, "not valid CSV: found a zero byte");
	return pass_keep(pass, pass->n_fields, n ? text : NULL, n, false);
}

static int read_header(struct pass *pass)
{
	struct metadata_file *file = pass->file;
	size_t file_name = SIZE_MAX;
	for (size_t i = 0; i < pass->n_fields && file_name == SIZE_MAX; i++)
		if (pass_field(pass, i) && strcmp(pass_field(pass, i), "file_name") == 0)
			file_name = i;
	if (file_name == SIZE_MAX)
		return pass_refuse(
			pass, pass->line, "the first line has no column file_name");
	file->file_name = file_name;
	file->n_fields = pass->n_fields;
	int err = 0;
	for (size_t i = 0; !err && i < pass->n_fields; i++)
		if (i != file_name)
			err = pass_add_column(pass, i, pass_field(pass, i));
	return err;
}

static int end_record(void *context)
{
	struct csv *csv = context;
	struct pass *pass = csv->pass;
	struct metadata_file *file = pass->file;
	pass->line = csv->reader.line;
	if (pass->n_records > 0) {
		if (csv->first && pass->n_fields != file->n_fields &&
			file->odd_lines++ == 0)
			file->first_odd = pass->line;
		return pass_end_record(pass);
	}
	int err = csv->first ? read_header(pass) : 0;
	pass->n_records++;
	pass->n_fields = pass->text_used = 0;
	return err;
}

static int feed(struct csv *csv)
{
	auto_free char *block = malloc(AT_ONCE);
	size_t n;
	int err = block ? 0 : -ENOMEM;
	while (!err && (n = fread(block, 1, AT_ONCE, csv->pass->in)) > 0)
		err = csv_read(&csv->reader, block, n);
	return err || ferror(csv->pass->in) ? err : csv_end(&csv->reader);
}

int metadata_csv_pass(struct pass *pass, bool first)
{
	struct csv csv = {.pass = pass, .first = first};
	const struct metadata_file *file = pass->file;
	csv.reader = (struct csv_reader){.field = keep_field,
		.record = end_record,
		.context = &csv,
		.most = MAX_FIELD};
	int err = feed(&csv);
	pass->line = csv.reader.line;
	if (err == -EFBIG)
		err = pass_too_much(pass, "field", "bytes", MAX_FIELD);
	if (err == -EILSEQ)
		err = pass_refuse(pass, csv.reader.quote_line,
			"not valid CSV: found a quote that is not closed");
	free(csv.reader.text);
	struct quoted path;
	if (!err && first && file->odd_lines)
		log_warn("dataset %s: %s: %" PRIu64
			 " lines do not have the %zu fields of the first line; the first "
			 "of them: line %" PRIu64,
			file->scan->name, quote_name(&path, file->path), file->odd_lines,
			file->n_fields, file->first_odd);
	return err;
}
