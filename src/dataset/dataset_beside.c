// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "dataset/dataset_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Reads from the catalogue: facts about files beside samples, and columns of metadata. */

/* An SQL query, in which ?1 is `number` and ?2 is `text`; `row` gets each row. */
struct query {
	const char *sql;
	sqlite3_int64 number;
	const char *text;
	catalogue_row *row;
	void *context;
	bool if_beside; /* no rows if the catalogue is too old to have the table `beside` */
};

static int run_in(struct dataset *dataset, sqlite3 *db, const struct query *query)
{
	auto_statement sqlite3_stmt *statement = NULL;
	bool has = true;
	int code = SQLITE_DONE, err = 0;
	if ((query->if_beside && catalogue_has_table(db, "beside", &has) != 0) ||
		(has && sqlite3_prepare_v2(db, query->sql, -1, &statement, NULL)))
		return catalogue_unreadable(dataset->file, db);
	if (!has)
		return 0;
	sqlite3_bind_int64(statement, 1, query->number);
	sqlite3_bind_text(statement, 2, query->text, -1, SQLITE_STATIC);
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW)
		err = query->row(query->context, statement);
	if (!err && code != SQLITE_DONE)
		err = catalogue_unreadable(dataset->file, db);
	return err;
}

static int run(struct dataset *dataset, const struct query *query)
{
	struct connection *connection;
	int err = connection_take(dataset, &connection);
	if (err)
		return err;
	err = run_in(dataset, connection->db, query);
	connection_give(dataset, connection);
	return err;
}

/* Runs the query in the dataset, or in each dataset of a mixture. *first: the first id of the
 * dataset in which the query runs. */
static int run_all(struct dataset *dataset, const struct query *query, sample_id *first)
{
	int err = 0;
	for (size_t i = 0; !err && i < dataset->n_mixed; i++) {
		*first = dataset->firsts[i];
		err = run(dataset->mixed[i], query);
	}
	return dataset->n_mixed > 0 ? err : run(dataset, query);
}

struct found_beside {
	char *name; /* NULL: there is no such file */
	struct beside is;
};

static int take_beside(void *context, sqlite3_stmt *row)
{
	struct found_beside *found = context;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	int method = sqlite3_column_int(row, 6);
	if (found->name || method < PART_PLAIN || method > PART_DEFLATED)
		return -EIO;
	found->is = (struct beside){.bytes = (uint64_t)sqlite3_column_int64(row, 1),
		.mtime_ns = sqlite3_column_int64(row, 2),
		.at = {.offset = (uint64_t)sqlite3_column_int64(row, 3),
			.stored_bytes = (uint64_t)sqlite3_column_int64(row, 4),
			.checksum = (uint32_t)sqlite3_column_int64(row, 5),
			.method = (enum source_method)method}};
	found->name = name ? strdup(name) : NULL;
	return found->name ? 0 : -ENOMEM;
}

static int rename_sample(struct dataset_sample *sample, const char *name)
{
	/* The path of a remote file is a URL, in which the relative name begins at sample->plain.
	 * sample->relative is another text, behind the URL, so its distance from sample->path is no
	 * offset in the URL. */
	bool far = sample->plain > 0;
	size_t relative = far ? sample->plain : (size_t)(sample->relative - sample->path);
	const char *slash = strrchr(sample->path + relative, '/');
	size_t directory = slash ? (size_t)(slash + 1 - sample->path) : relative;
	char *path = aprintf("%.*s%s", (int)directory, sample->path, name);
	if (!path)
		return -ENOMEM;
	free(sample->path);
	sample->path = path;
	sample->relative = path + relative;
	return 0;
}

static int find_beside(struct dataset *dataset, sample_id id, const char *ending,
	struct found_beside *ret)
{
	*ret = (struct found_beside){0};
	return run(dataset,
		&(struct query){.sql = "SELECT name, bytes, mtime_ns, part_offset, "
				       "part_bytes, part_checksum, part_method "
				       "FROM beside WHERE id = ?1 AND ending = ?2",
			.number = id,
			.text = ending,
			.row = take_beside,
			.context = ret});
}

int dataset_beside(struct dataset *dataset, sample_id id, const char *ending,
	struct dataset_sample *ret)
{
	struct found_beside found;
	*ret = (struct dataset_sample){0};
	if (id >= dataset->n_ids)
		return -ENOENT;
	if (dataset->n_mixed > 0) {
		dataset = mixed_of(dataset, id, &id);
		return dataset_beside(dataset, id, ending, ret);
	}
	int err = find_beside(dataset, id, ending, &found);
	auto_free char *name = found.name;
	if (!err && !name)
		err = -ENOENT;
	if (!err)
		err = dataset_get(dataset, id, ret);
	if (!err)
		err = rename_sample(ret, name);
	if (err) {
		dataset_sample_free(ret);
		return err;
	}
	uint64_t container_bytes = ret->part.container_bytes;
	ret->part = found.is.at;
	ret->part.container_bytes = container_bytes;
	ret->bytes = found.is.bytes;
	ret->mtime_ns = found.is.mtime_ns;
	return 0;
}

static int take_text(void *context, sqlite3_stmt *row)
{
	char **ret = context, number[NUMBER_TEXT];
	const char *text = number;
	switch (sqlite3_column_type(row, 0)) {
	case SQLITE_NULL:
		return 0;
	case SQLITE_FLOAT:
		number_print(sqlite3_column_double(row, 0), number);
		break;
	default:
		text = (const char *)sqlite3_column_text(row, 0);
	}
	*ret = text ? strdup(text) : NULL;
	return *ret ? 0 : -ENOMEM;
}

/* Returns the SQL text of a query that reads `column`; NULL: no memory. The caller frees the text.
 * dataset_column must allow the column. */
static char *column_query(const char *begin, const char *column, const char *end)
{
	return aprintf("SELECT %s\"%s\" FROM samples WHERE %s", begin, column, end);
}

int dataset_text(struct dataset *dataset, sample_id id, const char *column, char **ret)
{
	*ret = NULL;
	if (id >= dataset->n_ids)
		return -ENOENT;
	if (dataset->n_mixed > 0)
		dataset = mixed_of(dataset, id, &id);
	auto_free char *sql = column_query("", column, "id = ?1");
	const struct query query = {
		.sql = sql, .number = id, .row = take_text, .context = ret};
	int err = sql ? run(dataset, &query) : -ENOMEM;
	return err || *ret ? err : -ENOENT;
}

/* Tells whether the column is class, path, or a column of metadata. */
static bool may_be_asked(const char *column)
{
	return !catalogue_reserved_column(column) || strcasecmp(column, "class") == 0 ||
	       strcasecmp(column, "path") == 0;
}

bool dataset_column(struct dataset *dataset, const char *column)
{
	bool has = false;
	for (size_t i = 0; i < dataset->n_mixed; i++)
		if (!dataset_column(dataset->mixed[i], column))
			return false;
	if (dataset->n_mixed > 0 || !may_be_asked(column))
		return dataset->n_mixed > 0;
	return run(dataset,
		       &(struct query){
			       .sql = "SELECT 1 FROM pragma_table_info('samples') "
				      "WHERE name = ?2 COLLATE NOCASE AND ?1 = ?1",
			       .text = column,
			       .row = catalogue_note_row,
			       .context = &has}) == 0 &&
	       has;
}

static int print_column(void *context, sqlite3_stmt *row)
{
	FILE *out = context;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	if (name && may_be_asked(name))
		fprintf(out, "%s%s", ftell(out) > 0 ? ", " : "", name);
	return 0;
}

int dataset_columns(struct dataset *dataset, char **ret)
{
	size_t size;
	*ret = NULL;
	if (dataset->n_mixed > 0)
		return dataset_columns(dataset->mixed[0], ret);
	FILE *out = open_memstream(ret, &size);
	if (!out)
		return -ENOMEM;
	int err = run(dataset,
		&(struct query){.sql = "SELECT name FROM pragma_table_info('samples') "
				       "WHERE ?1 = ?1",
			.row = print_column,
			.context = out});
	return fclose(out) == 0 ? err : -ENOMEM;
}

struct counting {
	const roaring_bitmap_t *selection;
	sample_id first; /* a mixture: first id of the dataset being read; otherwise 0 */
	sample_id next;	 /* 1 + the id of the last counted row */
	struct dataset_besides *ret;
};

static void note_missing(struct counting *counting, sample_id id)
{
	/* Rows have ascending ids, so a selected id from counting->next to id - 1 has no row: the
	 * sample has no file or text. */
	roaring_uint32_iterator_t at;
	roaring_init_iterator(counting->selection, &at);
	if (counting->ret->missing == SAMPLE_NONE &&
		roaring_move_uint32_iterator_equalorlarger(&at, counting->next) &&
		at.current_value < id)
		counting->ret->missing = at.current_value;
	counting->next = id + 1;
}

static int count_row(void *context, sqlite3_stmt *row)
{
	struct counting *counting = context;
	struct dataset_besides *ret = counting->ret;
	sample_id id = counting->first + (sample_id)sqlite3_column_int64(row, 0);
	char number[NUMBER_TEXT];
	uint64_t bytes;
	if (!roaring_bitmap_contains(counting->selection, id))
		return 0;
	note_missing(counting, id);
	if (sqlite3_column_type(row, 1) == SQLITE_FLOAT) {
		number_print(sqlite3_column_double(row, 1), number);
		bytes = strlen(number);
	} else if (sqlite3_column_text(row, 1)) {
		bytes = (uint64_t)sqlite3_column_bytes(row, 1);
	} else {
		bytes = 0;
	}
	if (sqlite3_column_count(row) > 2)
		bytes = (uint64_t)sqlite3_column_int64(row, 2);
	if (ret->n++ == 0 || bytes > ret->most_bytes) {
		ret->most = id;
		ret->most_bytes = bytes;
	}
	return 0;
}

static int count_all(struct dataset *dataset, const roaring_bitmap_t *selection,
	struct query query, struct dataset_besides *ret)
{
	struct counting counting = {.selection = selection, .ret = ret};
	*ret = (struct dataset_besides){.missing = SAMPLE_NONE, .most = SAMPLE_NONE};
	query.row = count_row;
	query.context = &counting;
	int err = run_all(dataset, &query, &counting.first);
	note_missing(&counting, SAMPLE_NONE);
	return err;
}

int dataset_besides(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *ending, struct dataset_besides *ret)
{
	const struct query query = {
		.sql = "SELECT id, NULL, bytes FROM beside WHERE ?1 = ?1 AND ending = ?2 "
		       "ORDER BY id",
		.text = ending,
		.if_beside = true};
	return count_all(dataset, selection, query, ret);
}

int dataset_texts(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, struct dataset_besides *ret)
{
	auto_free char *end = aprintf("\"%s\" IS NOT NULL ORDER BY id", column);
	if (!end)
		return -ENOMEM;
	auto_free char *sql = column_query("id, ", column, end);
	const struct query query = {.sql = sql};
	return sql ? count_all(dataset, selection, query, ret) : -ENOMEM;
}

struct numbering {
	const roaring_bitmap_t *selection;
	sample_id first;
	float *ret; /* the number of a sample is stored at ret[id * each] */
	size_t each;
	struct dataset_odd_number *odd;
};

static int take_number(void *context, sqlite3_stmt *row)
{
	struct numbering *numbering = context;
	sample_id id = numbering->first + (sample_id)sqlite3_column_int64(row, 0);
	int type = sqlite3_column_type(row, 1);
	const char *text = (const char *)sqlite3_column_text(row, 1);
	if (!roaring_bitmap_contains(numbering->selection, id))
		return 0;
	float number = (float)sqlite3_column_double(row, 1);
	if (type == SQLITE_NULL || (type == SQLITE_TEXT && !number_is(text)) ||
		!isfinite(number)) {
		struct dataset_odd_number *odd = numbering->odd;
		odd->sample = id;
		snprintf(odd->found, sizeof(odd->found), "%s", text ? text : "");
		return -EDOM;
	}
	numbering->ret[id * numbering->each] = number;
	return 0;
}

int dataset_numbers(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, size_t each, float *ret, struct dataset_odd_number *ret_odd)
{
	struct numbering numbering = {
		.selection = selection, .ret = ret, .each = each, .odd = ret_odd};
	auto_free char *sql = column_query("id, ", column, "NOT gone ORDER BY id");
	const struct query query = {
		.sql = sql, .row = take_number, .context = &numbering};
	return sql ? run_all(dataset, &query, &numbering.first) : -ENOMEM;
}
