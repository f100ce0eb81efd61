// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/own_directory.h"
#include "dataset/dataset_internal.h"
#include "image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Writes a complete new file, and renames it over the old file. No process reads the new file
 * before the rename, so SQLite needs no journal, and the file is synced only at the end. */

struct writer {
	const struct scan *scan;
	const struct catalogue *catalogue;
	const struct tree *tree;
	struct metadata *metadata; /* NULL: none */
	sqlite3 *db;
	sqlite3_stmt *update;
	size_t n_columns;
	/* 1 + the number of the file of metadata whose columns `update` writes; 0: none yet */
	size_t updated;
	/* An element for each sample in tree->files: 1 + the number of the last file of metadata
	 * that describes this sample; 0: none. */
	uint32_t *described;
	uint64_t unknown;
	uint64_t repeated;
	struct quoted first_unknown;
	struct quoted first_repeated;
};

/* Runs the SQL that sqlite3_mprintf makes from `format`, in which %Q stands for a quoted text. */
static int execute(struct writer *writer, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *sql = sqlite3_vmprintf(format, args);
	va_end(args);
	if (!sql)
		return -ENOMEM;
	int code = sqlite3_exec(writer->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return code == SQLITE_OK ? 0 : catalogue_errno(writer->db);
}

static int prepare(struct writer *writer, const char *sql, sqlite3_stmt **ret)
{
	if (sqlite3_prepare_v2(writer->db, sql, -1, ret, NULL) == SQLITE_OK)
		return 0;
	return catalogue_errno(writer->db);
}

/* Runs a statement that returns no rows, and resets it. */
static int run(struct writer *writer, sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);
	int err = code == SQLITE_DONE ? 0 : catalogue_errno(writer->db);
	sqlite3_reset(statement);
	return err;
}

/* Names of columns are quoted, since a name may be a keyword of SQL. */
static int create_described(struct writer *writer)
{
	static const char *const types[] = {"INTEGER", "REAL", "TEXT"};
	auto_free char *sql = NULL;
	size_t size, n = 0;
	const struct column *columns = NULL;
	if (writer->metadata)
		columns = metadata_columns(writer->metadata, &n);
	writer->n_columns = n;
	if (n == 0)
		return 0;
	FILE *out = open_memstream(&sql, &size);
	if (!out)
		return -ENOMEM;
	fputs("CREATE TABLE described (id INTEGER PRIMARY KEY", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, ", \"%s\" %s", columns[i].name, types[columns[i].type]);
	fputs(")", out);
	return fclose(out) == 0 ? execute(writer, "%s", sql) : -ENOMEM;
}

static int write_about(struct writer *writer)
{
	const struct catalogue *catalogue = writer->catalogue;
	return execute(writer, "INSERT INTO about VALUES (%Q, %Q, %Q, %d, %Q)",
		writer->scan->root, catalogue->stamp, catalogue->settings,
		catalogue->labelled, image_readers());
}

static int write_classes(struct writer *writer)
{
	auto_statement sqlite3_stmt *statement = NULL;
	int err = prepare(writer, "INSERT INTO classes VALUES (?, ?)", &statement);
	for (size_t i = 0; !err && i < writer->catalogue->n_classes; i++) {
		const char *name = writer->catalogue->classes[i];
		sqlite3_bind_int64(statement, 1, (sqlite3_int64)i);
		sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
		err = run(writer, statement);
	}
	return err;
}

static int write_containers(struct writer *writer)
{
	auto_statement sqlite3_stmt *statement = NULL;
	int err =
		prepare(writer, "INSERT INTO containers VALUES (?, ?, ?, ?)", &statement);
	for (size_t i = 0; !err && i < writer->catalogue->n_containers; i++) {
		const struct container *container = &writer->catalogue->containers[i];
		sqlite3_bind_int64(statement, 1, (sqlite3_int64)i);
		sqlite3_bind_text(statement, 2, container->name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(statement, 3, (sqlite3_int64)container->bytes);
		sqlite3_bind_int64(statement, 4, container->mtime_ns);
		err = run(writer, statement);
	}
	return err;
}

/* Makes the SQL statement writer->update. The statement writes the columns of the metadata file
 * from which `line` comes. */
static int prepare_update(struct writer *writer, const struct metadata_line *line)
{
	size_t n, n_set = 0;
	const struct column *columns = metadata_columns(writer->metadata, &n);
	auto_free char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);
	if (!out)
		return -ENOMEM;
	sqlite3_finalize(writer->update);
	writer->update = NULL;
	writer->updated = line->file + 1;
	fputs("INSERT INTO described (id", out);
	for (size_t i = 0; i < n; i++)
		if (line->has[i])
			fprintf(out, ", \"%s\"", columns[i].name);
	fputs(") VALUES (?1", out);
	for (size_t i = 0; i < n; i++)
		if (line->has[i])
			fprintf(out, ", ?%zu", i + 2);
	fputs(") ON CONFLICT (id) DO UPDATE SET ", out);
	for (size_t i = 0; i < n; i++)
		if (line->has[i])
			fprintf(out, "%s\"%s\" = ?%zu", n_set++ ? ", " : "",
				columns[i].name, i + 2);
	if (fclose(out) != 0)
		return -ENOMEM;
	return n_set ? prepare(writer, sql, &writer->update) : 0;
}

static int compare_key(const void *key, const void *found)
{
	return path_compare(key, ((const struct found *)found)->path);
}

static struct found *find_file(const struct writer *writer, const char *file_name)
{
	const struct tree *tree = writer->tree;
	struct found *found = bsearch(
		file_name, tree->files, tree->n_files, sizeof(*found), compare_key);
	return found && found->present ? found : NULL;
}

static int describe(void *context, const struct metadata_line *line)
{
	struct writer *writer = context;
	const struct found *found = find_file(writer, line->file_name);
	int err = scan_stopped(writer->scan) ? -EINTR : 0;
	if (!err && writer->updated != line->file + 1)
		err = prepare_update(writer, line);
	if (err)
		return err;
	if (!found) {
		if (writer->unknown++ == 0)
			quote_name(&writer->first_unknown, line->file_name);
		return 0;
	}
	uint32_t *described = &writer->described[found - writer->tree->files];
	if (*described == line->file + 1 && writer->repeated++ == 0)
		quote_name(&writer->first_repeated, line->file_name);
	*described = (uint32_t)line->file + 1;
	if (!writer->update)
		return 0;
	for (size_t i = 0; i < writer->n_columns; i++)
		if (line->has[i])
			sqlite3_bind_text(writer->update, (int)i + 2, line->values[i], -1,
				SQLITE_STATIC);
	sqlite3_bind_int64(writer->update, 1, found->id);
	return run(writer, writer->update);
}

static int write_metadata(struct writer *writer)
{
	if (!writer->metadata)
		return 0;
	writer->described = calloc(writer->tree->n_files + 1, sizeof(*writer->described));
	if (!writer->described)
		return -ENOMEM;
	int err = metadata_rows(writer->metadata, describe, writer);
	const char *name = writer->scan->name;
	if (!err && writer->unknown)
		log_warn("dataset %s: metadata: %" PRIu64
			 " lines name files that are no samples of the dataset; the "
			 "first: %s",
			name, writer->unknown, writer->first_unknown.text);
	if (!err && writer->repeated)
		log_warn("dataset %s: metadata: %" PRIu64
			 " lines name a file again; its last line counts; the first: %s",
			name, writer->repeated, writer->first_repeated.text);
	return err;
}

static int write_edition(struct writer *writer)
{
	if (writer->catalogue->edition == 0)
		return 0;
	return execute(writer,
		"CREATE TABLE edition (number INTEGER NOT NULL);"
		"INSERT INTO edition VALUES (%u)",
		writer->catalogue->edition);
}

static int write_others(struct writer *writer)
{
	const struct tree *tree = writer->tree;
	auto_statement sqlite3_stmt *statement = NULL;
	if (!writer->scan->shows_others)
		return 0;
	int err = execute(writer, "CREATE TABLE others (path TEXT NOT NULL,"
				  " bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL)");
	if (!err)
		err = prepare(writer, "INSERT INTO others VALUES (?, ?, ?)", &statement);
	for (size_t i = 0; !err && i < tree->n_others; i++) {
		const struct found *other = &tree->others[i];
		sqlite3_bind_text(statement, 1, other->path, -1, SQLITE_STATIC);
		sqlite3_bind_int64(statement, 2, (sqlite3_int64)other->facts.bytes);
		sqlite3_bind_int64(statement, 3, other->facts.mtime_ns);
		err = run(writer, statement);
	}
	return err;
}

static int write_beside_row(
	struct writer *writer, sqlite3_stmt *statement, const struct beside *beside)
{
	const sqlite3_int64 numbers[] = {(sqlite3_int64)beside->bytes, beside->mtime_ns,
		(sqlite3_int64)beside->at.offset, (sqlite3_int64)beside->at.stored_bytes,
		beside->at.checksum, beside->at.method};
	sqlite3_bind_text(statement, 2, beside->ending, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 3, beside->name, -1, SQLITE_STATIC);
	for (int i = 0; i < 6; i++)
		sqlite3_bind_int64(statement, 4 + i, numbers[i]);
	return run(writer, statement);
}

static int write_beside(struct writer *writer)
{
	const struct catalogue *catalogue = writer->catalogue;
	auto_statement sqlite3_stmt *statement = NULL;
	int err = execute(writer,
		"CREATE TABLE beside (id INTEGER NOT NULL, ending TEXT NOT NULL,"
		" name TEXT NOT NULL, bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
		" part_offset INTEGER NOT NULL, part_bytes INTEGER NOT NULL,"
		" part_checksum INTEGER NOT NULL, part_method INTEGER NOT NULL,"
		" PRIMARY KEY (id, ending)) WITHOUT ROWID");
	if (!err)
		err = prepare(writer, "INSERT INTO beside VALUES (?,?,?,?,?,?,?,?,?)",
			&statement);
	for (size_t id = 0; !err && id < catalogue->n_rows; id++) {
		const struct beside *beside = catalogue->rows[id].beside;
		sqlite3_bind_int64(statement, 1, (sqlite3_int64)id);
		for (; !err && beside; beside = beside->next)
			err = write_beside_row(writer, statement, beside);
		if (!err && scan_stopped(writer->scan))
			err = -EINTR;
	}
	return err;
}

static int write_content(struct writer *writer)
{
	int err = execute(writer,
		"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -32000;"
		"PRAGMA encoding = 'UTF-8'; PRAGMA application_id = %d;"
		"PRAGMA user_version = %d; BEGIN;"
		"CREATE TABLE about (source TEXT NOT NULL, metadata TEXT NOT NULL,"
		" settings TEXT NOT NULL, labelled INTEGER NOT NULL,"
		" readers TEXT NOT NULL);"
		"CREATE TABLE containers (number INTEGER PRIMARY KEY, name TEXT NOT NULL,"
		" bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL);"
		"CREATE TABLE classes (label INTEGER PRIMARY KEY, name TEXT NOT NULL)",
		CATALOGUE_APPLICATION, CATALOGUE_VERSION);
	if (!err)
		err = create_described(writer);
	if (!err)
		err = write_about(writer);
	if (!err)
		err = write_edition(writer);
	if (!err)
		err = write_classes(writer);
	if (!err)
		err = write_containers(writer);
	if (!err)
		err = write_others(writer);
	if (!err)
		err = rows_write(writer->db, writer->scan, writer->catalogue);
	if (!err)
		err = write_beside(writer);
	if (!err)
		err = write_metadata(writer);
	if (!err)
		err = execute(writer, "COMMIT");
	return err;
}

static int write_file(struct writer *writer, const char *file)
{
	/* If the file can't be created, open tells why, but SQLite would not. */
	auto_close int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	int code = sqlite3_open_v2(file, &writer->db, flags, NULL);
	int err = code == SQLITE_OK ? write_content(writer)
		  : writer->db	    ? catalogue_errno(writer->db)
				    : -ENOMEM;
	sqlite3_finalize(writer->update);
	if (sqlite3_close(writer->db) != SQLITE_OK)
		ensure(!"a statement of the catalogue's writer is still open");
	free(writer->described);
	if (!err && fsync(fd) < 0)
		err = -errno;
	return err;
}

/* Creates <state> and <state>/datasets. */
static int make_directories(const char *file)
{
	auto_free char *path = strdup(file);
	if (!path)
		return -ENOMEM;
	char *datasets = strrchr(path, '/');
	*datasets = '\0';
	char *state = strrchr(path, '/');
	*state = '\0';
	int err = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
	*state = '/';
	return err ? err : own_directory(path, false);
}

static int remove_ending(const char *file, const char *ending)
{
	auto_free char *path = aprintf("%s%s", file, ending);
	if (!path)
		return -ENOMEM;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

/* The old catalogue must not be lost: saved states of trainings refer to its ids. */
static int keep_unusable(const char *file)
{
	auto_free char *kept = aprintf("%s.unusable", file);
	if (!kept)
		return -ENOMEM;
	if (rename(file, kept) == 0)
		return 0;
	int err = -errno;
	log_error("catalogue %s: can't be renamed to %s: %s", file, kept, strerror(-err));
	return err;
}

/* Removes the old catalogue's journals, which SQLite would apply to the new one. */
static int make_way(const char *file, bool unusable)
{
	int err = unusable ? keep_unusable(file) : 0;
	if (!err)
		err = remove_ending(file, "-journal");
	return err ? err : remove_ending(file, "-wal");
}

static int replace(struct writer *writer, const char *file, const char *new_file)
{
	int err = write_file(writer, new_file);
	if (!err)
		err = make_way(file, writer->catalogue->unusable);
	if (!err && rename(new_file, file) < 0)
		err = -errno;
	if (err)
		unlink(new_file);
	return err ? err : catalogue_sync_directory(file);
}

int catalogue_write(const char *file, const struct scan *scan,
	const struct catalogue *catalogue, struct metadata *metadata,
	const struct tree *tree)
{
	struct writer writer = {.scan = scan, .catalogue = catalogue};
	writer.metadata = metadata;
	writer.tree = tree;
	auto_free char *new_file = aprintf("%s.new", file);
	if (!new_file)
		return -ENOMEM;
	int err = make_directories(file);
	if (!err)
		err = remove_ending(file, ".new");
	if (!err)
		err = replace(&writer, file, new_file);
	if (err && err != -EINTR)
		log_error("dataset %s: the catalogue %s can't be written: %s; the old "
			  "catalogue is unchanged",
			scan->name, file, strerror(-err));
	return err;
}
