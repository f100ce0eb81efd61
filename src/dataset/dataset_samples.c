// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "dataset/dataset_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	ID,
	PATH,
	CLASS,
	LABEL,
	BYTES,
	MTIME,
	WIDTH,
	HEIGHT,
	CHANNELS,
	BITS,
	PALETTE,
	GONE,
	N_OWN
};

#define OWN_COLUMNS                                                                      \
	"id INTEGER, path TEXT, class TEXT, label INTEGER, bytes INTEGER,"               \
	" mtime INTEGER, width INTEGER, height INTEGER, channels INTEGER,"               \
	" bits INTEGER, palette INTEGER, gone INTEGER"

struct samples {
	sqlite3_vtab base;
	const struct dataset *dataset;
	bool *inside;
	sqlite3_stmt *described; /* reads a sample's metadata; NULL: no columns */
	sqlite3_int64 of;	 /* sample that `described` read last; -1: none yet */
	bool has;		 /* the sample `of` has metadata */
};

struct attached {
	const struct dataset *dataset;
	bool *inside;
};

struct cursor {
	sqlite3_vtab_cursor base;
	sqlite3_int64 id, end;
	struct path_text path;
};

/* Appends the columns of metadata in `table` to `declaration`, as definitions of columns, and to
 * `query`, as the columns of a SELECT. Adds their number to *ret_n. */
static int list_columns(
	sqlite3 *db, const char *table, FILE *declaration, FILE *query, size_t *ret_n)
{
	auto_statement sqlite3_stmt *statement = NULL;
	auto_free char *sql = aprintf("PRAGMA main.table_info(%s)", table);
	if (!sql)
		return SQLITE_NOMEM;
	int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
	while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 1);
		const char *type = (const char *)sqlite3_column_text(statement, 2);
		code = SQLITE_OK;
		if (!name || catalogue_reserved_column(name))
			continue;
		fprintf(declaration, ", \"%s\" %s", name, type ? type : "");
		fprintf(query, "%s\"%s\"", (*ret_n)++ ? ", " : "SELECT ", name);
	}
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Declares the virtual table, and prepares the query of metadata. The columns of metadata are in
 * the catalogue's table `described`; in catalogues of older versions, in the table `samples`. */
static int declare(sqlite3 *db, struct samples *samples)
{
	static const char *const tables[] = {"described", "samples"};
	auto_free char *declaration = NULL, *query = NULL;
	size_t n = 0, bytes;
	auto_fclose FILE *declared = open_memstream(&declaration, &bytes);
	auto_fclose FILE *asked = open_memstream(&query, &bytes);
	int code = declared && asked ? SQLITE_OK : SQLITE_NOMEM;
	if (code == SQLITE_OK)
		fputs("CREATE TABLE samples (" OWN_COLUMNS, declared);
	for (int i = 0; code == SQLITE_OK && n == 0 && i < 2; i++) {
		code = list_columns(db, tables[i], declared, asked, &n);
		if (n > 0)
			fprintf(asked, " FROM main.%s WHERE id = ?", tables[i]);
	}
	if (code == SQLITE_OK &&
		(fputs(")", declared) < 0 || fflush(declared) != 0 || fflush(asked) != 0))
		code = SQLITE_NOMEM;
	if (code == SQLITE_OK)
		code = sqlite3_declare_vtab(db, declaration);
	if (code == SQLITE_OK && n > 0)
		code = sqlite3_prepare_v2(db, query, -1, &samples->described, NULL);
	return code;
}

static int disconnect(sqlite3_vtab *table)
{
	struct samples *samples = (struct samples *)table;
	sqlite3_finalize(samples->described);
	sqlite3_free(samples);
	return SQLITE_OK;
}

static int connect_to(sqlite3 *db, void *context, int n, const char *const *arguments,
	sqlite3_vtab **ret, char **ret_message)
{
	struct samples *samples = sqlite3_malloc(sizeof(*samples));
	(void)n, (void)arguments, (void)ret_message;
	if (!samples)
		return SQLITE_NOMEM;
	const struct attached *attached = context;
	*samples = (struct samples){
		.dataset = attached->dataset, .inside = attached->inside, .of = -1};
	int code = declare(db, samples);
	if (code != SQLITE_OK)
		return disconnect(&samples->base), code;
	*ret = &samples->base;
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	const struct samples *samples = (const struct samples *)table;
	info->estimatedRows = samples->dataset->n_ids;
	info->estimatedCost = samples->dataset->n_ids + 1.;
	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn > ID || !info->aConstraint[i].usable ||
			info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedRows = 1;
		info->estimatedCost = 1;
		break;
	}
	info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn <= ID &&
				!info->aOrderBy[0].desc;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));
	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct cursor){0};
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int one, const char *text, int n,
	sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)base;
	(void)text, (void)n;
	cursor->id = one ? sqlite3_value_int64(values[0]) : 0;
	cursor->end = ((const struct samples *)base->pVtab)->dataset->n_ids;
	if (cursor->id < 0 || cursor->id > cursor->end)
		cursor->id = cursor->end;
	if (one && cursor->id < cursor->end)
		cursor->end = cursor->id + 1;
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->id++;
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (const struct cursor *)base;
	return cursor->id >= cursor->end;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((const struct cursor *)base)->id;
	return SQLITE_OK;
}

static int give_described(
	sqlite3_context *context, struct samples *samples, sqlite3_int64 id, int column)
{
	if (samples->of != id) {
		samples->of = -1;
		sqlite3_reset(samples->described);
		sqlite3_bind_int64(samples->described, 1, id);
		if (samples->inside)
			*samples->inside = true;
		int code = sqlite3_step(samples->described);
		if (samples->inside)
			*samples->inside = false;
		if (code != SQLITE_ROW && code != SQLITE_DONE)
			return code;
		samples->has = code == SQLITE_ROW;
		samples->of = id;
	}
	if (samples->has)
		sqlite3_result_value(
			context, sqlite3_column_value(samples->described, column));
	return SQLITE_OK;
}

static int give_text(sqlite3_context *context, const struct dataset *dataset,
	struct cursor *cursor, int column)
{
	sample_id id = (sample_id)cursor->id;
	const char *path = map_path(dataset->map, id, &cursor->path);
	if (!path)
		return SQLITE_CORRUPT;
	uint32_t label = dataset_label(dataset, id);
	const char *text = path;
	int n = -1;
	if (column == CLASS && label != LABEL_NONE)
		text = dataset->classes[label];
	else if (column == CLASS)
		n = (int)strcspn(path, "/");
	sqlite3_result_text(context, text, n, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static sqlite3_int64 number_of(const struct dataset *dataset, sample_id id, int column)
{
	struct tensor_shape image = dataset_image_shape(dataset, id);
	bool none = image.width == 0;
	switch (column) {
	case ID:
		return id;
	case LABEL:
		return dataset_label(dataset, id);
	case BYTES:
		return (sqlite3_int64)dataset_file_bytes(dataset, id);
	case MTIME:
		return (int64_t)map_value(dataset->map, MAP_MTIMES, id) / 1000000000;
	case WIDTH:
		return image.width;
	case HEIGHT:
		return image.height;
	case CHANNELS:
		return none ? 0 : tensor_channels(image);
	case BITS:
		return none ? 0 : 8 * (sqlite3_int64)tensor_number_bytes(image);
	case PALETTE:
		return image.mode == PIXELS_P;
	default:
		return !roaring_bitmap_contains(dataset->present, id);
	}
}

static int give(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct samples *samples = (struct samples *)base->pVtab;
	struct cursor *cursor = (struct cursor *)base;
	sample_id id = (sample_id)cursor->id;
	if (column >= N_OWN)
		return give_described(context, samples, cursor->id, column - N_OWN);
	if (column == PATH || column == CLASS)
		return give_text(context, samples->dataset, cursor, column);
	if (column != LABEL || dataset_label(samples->dataset, id) != LABEL_NONE)
		sqlite3_result_int64(context, number_of(samples->dataset, id, column));
	return SQLITE_OK;
}

static const sqlite3_module module = {.xCreate = connect_to,
	.xConnect = connect_to,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = give,
	.xRowid = row_id};

int samples_attach(sqlite3 *db, const struct dataset *dataset, bool *inside)
{
	struct attached *attached = sqlite3_malloc(sizeof(*attached));
	if (!attached)
		return -ENOMEM;
	*attached = (struct attached){dataset, inside};
	/* SQLite takes over `attached`, and frees it even if this call fails. */
	int code = sqlite3_create_module_v2(
		db, "samples_of_dataset", &module, attached, sqlite3_free);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db,
			"PRAGMA temp_store = MEMORY;"
			"CREATE VIRTUAL TABLE temp.samples USING samples_of_dataset",
			NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : catalogue_errno(db);
}
