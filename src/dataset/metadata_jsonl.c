// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/metadata_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Each line is a JSON object, which SQLite parses. A number keeps its text from the
 * file; true, false and nested values become their JSON texts. */

#define READ                                                                             \
	"SELECT key, CASE WHEN type IN ('integer', 'real') AND key GLOB '[A-Za-z_]*'"    \
	" AND key NOT GLOB '*[^A-Za-z0-9_]*' THEN ?1 -> key"                             \
	" WHEN type IN ('true', 'false') THEN type ELSE value END,"                      \
	" type IN ('integer', 'real') FROM json_each("                                   \
	"CASE WHEN json_valid(?1) AND json_type(?1) = 'object' THEN ?1 ELSE '-' END)"

struct jsonl {
	struct pass *pass;
	sqlite3 *db;
	sqlite3_stmt *read;
	char *line;
	size_t n, room;
	/* last line in which each field had a value, to find a key that a line has twice */
	uint64_t *lines;
	size_t lines_room;
	bool first;
};

static int find_key(struct jsonl *jsonl, const char *key, size_t *ret)
{
	struct pass *pass = jsonl->pass;
	struct metadata_file *file = pass->file;
	for (size_t i = 0; i < file->n_keys; i++) {
		/* Lines usually have the same keys in the same order. */
		*ret = (pass->n_fields + i) % file->n_keys;
		if (strcmp(file->keys[*ret], key) == 0)
			return 0;
	}
	*ret = SIZE_MAX;
	if (!jsonl->first)
		return 0;
	if (file->n_keys == MAX_FIELDS)
		return pass_too_much(pass, "file", "keys", MAX_FIELDS);
	if (!array_make_room(file->keys, file->n_keys, &file->keys_capacity) ||
		!(file->keys[file->n_keys] = strdup(key)))
		return -ENOMEM;
	*ret = file->n_keys++;
	if (strcmp(key, "file_name") == 0)
		file->file_name = *ret;
	else
		return pass_add_column(pass, *ret, key);
	return 0;
}

static int note_once(struct jsonl *jsonl, size_t field, const char *key)
{
	struct quoted quoted;
	while (field >= jsonl->lines_room) {
		size_t room = jsonl->lines_room;
		if (!array_make_room(jsonl->lines, room, &jsonl->lines_room))
			return -ENOMEM;
		memset(jsonl->lines + room, 0,
			(jsonl->lines_room - room) * sizeof(*jsonl->lines));
	}
	if (jsonl->lines[field] == jsonl->pass->line)
		return pass_refuse(jsonl->pass, jsonl->pass->line,
			"found the key \"%s\" twice", quote_name(&quoted, key));
	jsonl->lines[field] = jsonl->pass->line;
	return 0;
}

static int keep_value(struct jsonl *jsonl)
{
	struct pass *pass = jsonl->pass;
	size_t field;
	const char *key = (const char *)sqlite3_column_text(jsonl->read, 0);
	const char *value = (const char *)sqlite3_column_text(jsonl->read, 1);
	size_t n = (size_t)sqlite3_column_bytes(jsonl->read, 1);
	if (!key || (!value && sqlite3_column_type(jsonl->read, 1) != SQLITE_NULL))
		return -ENOMEM;
	int err = find_key(jsonl, key, &field);
	if (err || field == SIZE_MAX)
		return err;
	err = note_once(jsonl, field, key);
	if (err)
		return err;
	if (n > MAX_FIELD)
		return pass_too_much(pass, "value", "bytes", MAX_FIELD);
	return pass_keep(pass, field, value, n, !sqlite3_column_int(jsonl->read, 2));
}

/* Tells whether the line has a zero byte, at which SQLite would stop parsing. */
static bool has_zero(const struct jsonl *jsonl)
{
	if (memchr(jsonl->line, '\0', jsonl->n))
		return true;
	for (const char *at = jsonl->line; (at = strchr(at, '\\')); at += at[1] ? 2 : 1)
		if (strncmp(at, "\\u0000", 6) == 0)
			return true;
	return false;
}

static int take_line(struct jsonl *jsonl)
{
	struct pass *pass = jsonl->pass;
	int code = SQLITE_DONE, err = 0;
	jsonl->line[jsonl->n] = '\0';
	if (has_zero(jsonl))
		return pass_refuse(pass, pass->line, "found a zero byte");
	if (jsonl->line[strspn(jsonl->line, " \t\r")] == '\0')
		return 0;
	sqlite3_bind_text(jsonl->read, 1, jsonl->line, (int)jsonl->n, SQLITE_STATIC);
	while (!err && (code = sqlite3_step(jsonl->read)) == SQLITE_ROW)
		err = keep_value(jsonl);
	sqlite3_reset(jsonl->read);
	if (err)
		return err;
	if (code == SQLITE_NOMEM)
		return -ENOMEM;
	if (code != SQLITE_DONE)
		return pass_refuse(
			pass, pass->line, "not valid: expected an object of JSON");
	if (!pass_field(pass, pass->file->file_name))
		return pass_refuse(pass, pass->line, "has no file_name");
	return pass_end_record(pass);
}

static int add_byte(struct jsonl *jsonl, int c)
{
	if (!array_make_room(jsonl->line, jsonl->n + 1, &jsonl->room))
		return -ENOMEM;
	if (jsonl->n == MAX_LINE)
		return pass_too_much(jsonl->pass, "line", "bytes", MAX_LINE);
	jsonl->line[jsonl->n++] = (char)c;
	return 0;
}

static int read_lines(struct jsonl *jsonl)
{
	struct pass *pass = jsonl->pass;
	static const char mark[] = "\xef\xbb\xbf";
	int c, err = 0;
	pass->line = 1;
	while (!err && (c = getc_unlocked(pass->in)) != EOF) {
		if (c != '\n') {
			err = add_byte(jsonl, c);
			if (pass->line == 1 && jsonl->n == 3 &&
				memcmp(jsonl->line, mark, 3) == 0)
				jsonl->n = 0;
			continue;
		}
		err = jsonl->n ? take_line(jsonl) : 0;
		jsonl->n = 0;
		pass->line += !err;
	}
	return !err && jsonl->n && !ferror(pass->in) ? take_line(jsonl) : err;
}

int metadata_jsonl_pass(struct pass *pass, bool first)
{
	struct jsonl jsonl = {.pass = pass, .first = first};
	int err = -ENOMEM;
	if (sqlite3_open_v2(":memory:", &jsonl.db,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
		sqlite3_prepare_v2(jsonl.db, READ, -1, &jsonl.read, NULL) == SQLITE_OK)
		err = read_lines(&jsonl);
	sqlite3_finalize(jsonl.read);
	sqlite3_close(jsonl.db);
	free(jsonl.line);
	free(jsonl.lines);
	return err;
}
