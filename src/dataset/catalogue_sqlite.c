// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/dataset_catalogue.h"

#include <errno.h>
#include <string.h>

int catalogue_errno(sqlite3 *db)
{
	int os = sqlite3_system_errno(db);
	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		return os ? -os : -EIO;
	default:
		return -EIO;
	}
}

static const char *const hidden_columns[] = {"exif_orientation", "mtime_ns", "probed",
	"gone", "part_container", "part_offset", "part_bytes", "part_checksum",
	"part_method"};
static const char *const reserved_columns[] = {"id", "path", "class", "label", "bytes",
	"mtime", "width", "height", "channels", "bits", "palette", "rowid", "oid",
	"_rowid_", "file_name"};

bool catalogue_hidden_column(const char *name)
{
	return names_have(
		hidden_columns, sizeof(hidden_columns) / sizeof(*hidden_columns), name);
}

bool catalogue_reserved_column(const char *name)
{
	return catalogue_hidden_column(name) ||
	       names_have(reserved_columns,
		       sizeof(reserved_columns) / sizeof(*reserved_columns), name);
}

int catalogue_open_read(const char *file, sqlite3 **ret)
{
	*ret = NULL;
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
	if (sqlite3_open_v2(file, ret, flags, NULL) != SQLITE_OK) {
		int err = *ret ? catalogue_errno(*ret) : -ENOMEM;
		if (err != -ENOENT)
			log_error("catalogue %s: can't be opened: %s", file,
				strerror(-err));
		sqlite3_close(*ret);
		*ret = NULL;
		return err;
	}
	/* The file never changes, so the connection locks it only once, and keeps the lock. The
	 * file is not mapped into memory: SIGBUS would end the process if the storage failed. */
	sqlite3_exec(*ret, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL);
	return 0;
}

/* Tells whether SQLite's last error came from the content of the file, and not from a failure to
 * read the file. */
static bool content_error(sqlite3 *db)
{
	int code = sqlite3_errcode(db) & 0xff;
	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
	       code == SQLITE_SCHEMA;
}

int catalogue_each(sqlite3 *db, const char *sql, catalogue_row *row, void *context)
{
	auto_statement sqlite3_stmt *statement = NULL;
	int err = 0, code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
	if (code == SQLITE_OK)
		while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW)
			err = row(context, statement);
	if (err || code == SQLITE_DONE)
		return err;
	return content_error(db) ? -EILSEQ : catalogue_errno(db);
}

int catalogue_note_row(void *context, sqlite3_stmt *row)
{
	(void)row;
	*(bool *)context = true;
	return 0;
}

int catalogue_has_table(sqlite3 *db, const char *name, bool *ret)
{
	char sql[100];
	snprintf(sql, sizeof(sql), "SELECT 1 FROM sqlite_master WHERE name = '%s'", name);
	*ret = false;
	return catalogue_each(db, sql, catalogue_note_row, ret);
}

int catalogue_unreadable(const char *file, sqlite3 *db)
{
	int err = catalogue_errno(db);
	log_error("catalogue %s: can't be read: %s", file, sqlite3_errmsg(db));
	return err ? err : -EIO;
}
