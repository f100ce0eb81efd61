// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/bitmap.h"
#include "base/log.h"
#include "dataset/dataset_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Selects samples by a predicate: an SQL expression, between parentheses in a SELECT. Three guards
 * make it harmless. The text must not close the parenthesis, or begin a comment or another
 * statement. SQLite's authorizer only allows the columns of a row and listed functions. A limit
 * ends the SELECT after too many steps of SQLite's virtual machine.
 */

#define STEPS_BASE 100000
#define STEPS_PER_ROW 1000
#define SPACE " \t\r\n\f\v"
#define NO_SUBQUERIES "subqueries are not allowed"
#define STEPS_AT_ONCE 1000 /* SQLite's steps between two calls of count_steps */

static const char *const functions[] = {"abs", "ceil", "ceiling", "coalesce", "floor",
	"glob", "hash", "ifnull", "iif", "instr", "json_array_length", "json_extract",
	"length", "like", "lower", "ltrim", "max", "min", "mod", "nullif", "round",
	"rtrim", "sign", "substr", "substring", "trim", "typeof", "unicode", "upper"};

struct guard {
	bool inside; /* `samples` itself reads metadata: all is allowed */
	int selects;
	int64_t steps_left;
	char message[200]; /* reason of a refusal; "": none */
};

static printf_like(2, 3) int refuse(struct guard *guard, const char *format, ...)
{
	va_list args;
	if (guard->message[0])
		return SQLITE_DENY;
	va_start(args, format);
	vsnprintf(guard->message, sizeof(guard->message), format, args);
	va_end(args);
	return SQLITE_DENY;
}

static int authorize(void *context, int action, const char *first, const char *second,
	const char *database, const char *trigger)
{
	struct guard *guard = context;
	(void)database, (void)trigger;
	if (guard->inside)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
		if (guard->selects++ == 0)
			return SQLITE_OK;
		return refuse(guard, NO_SUBQUERIES);
	case SQLITE_READ:
		if (strcasecmp(first, "samples") != 0)
			return refuse(guard, "table %s is not allowed", first);
		if (catalogue_hidden_column(second))
			return refuse(guard, "no such column: %s", second);
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		if (names_have(functions, sizeof(functions) / sizeof(*functions), second))
			return SQLITE_OK;
		return refuse(guard, "function %s() is not allowed", second);
	default:
		return refuse(guard, "only an expression is allowed");
	}
}

static int count_steps(void *context)
{
	struct guard *guard = context;
	guard->steps_left -= STEPS_AT_ONCE;
	if (guard->steps_left > 0)
		return 0;
	refuse(guard, "the expression takes too many steps");
	return 1;
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return strlen(word) == n && strncasecmp(text, word, n) == 0;
}

static size_t word_length(const char *text)
{
	size_t n = 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] & 0x80)
		n++;
	return n;
}

/* Returns why the word is not allowed, or NULL. SQLite may turn subqueries, and `in`
 * without a list, into a look-up in a table that the authorizer does not see. */
static const char *word_problem(const char *text, size_t n)
{
	if (is_word(text, n, "select") || is_word(text, n, "values"))
		return NO_SUBQUERIES;
	if (is_word(text, n, "in") && text[n + strspn(text + n, SPACE)] != '(')
		return NO_SUBQUERIES "; a list in parentheses follows `in`";
	return NULL;
}

/* Returns the closing quote, or NULL. A text with a doubled quote, such as 'it''s', counts as two
 * texts that follow each other. */
static const char *skip_quoted(const char *text)
{
	return strchr(text + 1, *text == '[' ? ']' : *text);
}

/* Returns why the predicate's text is not allowed, or NULL. */
static const char *text_problem(const char *text)
{
	int depth = 0;
	if (text[strspn(text, SPACE)] == '\0')
		return "the expression is empty";
	for (; *text; text++) {
		size_t n = word_length(text);
		if (n > 0) {
			const char *problem = word_problem(text, n);
			if (problem)
				return problem;
			text += n - 1;
		} else if (strchr("'\"`[", *text)) {
			text = skip_quoted(text);
			if (!text)
				return "a quote is not closed";
		} else if (*text == ';') {
			return "';' is not allowed";
		} else if (strncmp(text, "--", 2) == 0 || strncmp(text, "/*", 2) == 0) {
			return "comments are not allowed";
		} else if (*text == '(') {
			depth++;
		} else if (*text == ')' && --depth < 0) {
			return "')' without '('";
		}
	}
	return depth ? "'(' without ')'" : NULL;
}

static void print_columns(FILE *out, sqlite3 *db)
{
	auto_statement sqlite3_stmt *statement = NULL;
	if (sqlite3_prepare_v2(db, "SELECT * FROM samples", -1, &statement, NULL))
		return;
	bool first = true;
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);
		if (!name || catalogue_hidden_column(name))
			continue;
		const char *quote =
			sqlite3_keyword_check(name, (int)strlen(name)) ? "\"" : "";
		fprintf(out, "%s%s%s%s", first ? "" : ", ", quote, name, quote);
		first = false;
	}
}

/* Makes the message for the user. Returns -EINVAL or -ENOMEM. */
static int bad_predicate(
	sqlite3 *db, const char *where, const char *problem, char **ret_message)
{
	size_t size;
	FILE *out = open_memstream(ret_message, &size);
	if (!out)
		return -ENOMEM;
	sqlite3_set_authorizer(db, NULL, NULL);
	fprintf(out, "predicate \"%s\": %s", where, problem);
	if (strstr(problem, "no such column") && strchr(where, '"'))
		fputs(" (a text is written in single quotes: 'text')", out);
	fputs("; columns: ", out);
	print_columns(out, db);
	if (strstr(problem, "function")) {
		fputs("; functions:", out);
		for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
			fprintf(out, " %s", functions[i]);
	}
	return close_text(out, ret_message) ? -EINVAL : -ENOMEM;
}

/* Makes the message for the user: the guard's reason if the guard refused something, otherwise
 * SQLite's message. */
static int statement_error(sqlite3 *db, const struct dataset *dataset,
	const struct guard *guard, const char *where, char **ret_message)
{
	int code = sqlite3_errcode(db) & 0xff;
	if (guard->message[0])
		return bad_predicate(db, where, guard->message, ret_message);
	if (code == SQLITE_ERROR || code == SQLITE_TOOBIG || code == SQLITE_MISMATCH) {
		auto_free char *problem = strdup(sqlite3_errmsg(db));
		return problem ? bad_predicate(db, where, problem, ret_message) : -ENOMEM;
	}
	return catalogue_unreadable(dataset->file, db);
}

#define HASH_BITS INT64_MAX /* 63 bits: SQLite's integers are signed */

uint64_t dataset_hash(const char *text)
{
	return text_hash(text, strlen(text)) & HASH_BITS;
}

/* The SQL function hash(X). hash(NULL) is NULL. */
static void hash_function(sqlite3_context *context, int n, sqlite3_value **values)
{
	(void)n;
	const char *text = (const char *)sqlite3_value_text(values[0]);
	if (!text) /* NULL, or no memory */
		return;
	uint64_t hash = text_hash(text, (size_t)sqlite3_value_bytes(values[0]));
	sqlite3_result_int64(context, (sqlite3_int64)(hash & HASH_BITS));
}

static int guarded_connection(
	const struct dataset *dataset, struct guard *guard, sqlite3 **ret)
{
	sqlite3 *db;
	int err = catalogue_open_read(dataset->file, &db);
	if (err) {
		if (err == -ENOENT)
			log_error("catalogue %s: no longer exists", dataset->file);
		return err;
	}
	/* Double quotes enclose only names of columns. By default, SQLite takes a mistyped name in
	 * double quotes for a text. */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1000000);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1000000);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 500);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	/* samples_attach makes SQLite read the definitions of tables. The authorizer, which is set
	 * later, would refuse this. */
	err = samples_attach(db, dataset, &guard->inside);
	if (err) {
		log_error("catalogue %s: can't be read: %s", dataset->file,
			sqlite3_errmsg(db));
		sqlite3_close(db);
		return err;
	}
	if (sqlite3_create_function(db, "hash", 1,
		    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
		    hash_function, NULL, NULL)) {
		sqlite3_close(db);
		return -ENOMEM;
	}
	guard->steps_left = STEPS_BASE + (int64_t)dataset->n_ids * STEPS_PER_ROW;
	sqlite3_set_authorizer(db, authorize, guard);
	sqlite3_progress_handler(db, STEPS_AT_ONCE, count_steps, guard);
	*ret = db;
	return 0;
}

static int collect(
	const struct dataset *dataset, sqlite3_stmt *statement, roaring_bitmap_t *into)
{
	int code;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		sqlite3_int64 id = sqlite3_column_int64(statement, 0);
		if (id >= 0 && id < dataset->n_ids &&
			roaring_bitmap_contains(dataset->present, (uint32_t)id))
			roaring_bitmap_add(into, (uint32_t)id);
	}
	return code;
}

static int select_where(struct dataset *dataset, sqlite3 *db, struct guard *guard,
	const char *where, roaring_bitmap_t *into, char **ret_message)
{
	auto_statement sqlite3_stmt *statement = NULL;
	const char *tail = "";
	const char *problem = text_problem(where);
	if (problem)
		return bad_predicate(db, where, problem, ret_message);
	auto_free char *sql = aprintf("SELECT id FROM samples WHERE (%s\n)", where);
	if (!sql)
		return -ENOMEM;
	int err = 0;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, &tail) != SQLITE_OK)
		err = statement_error(db, dataset, guard, where, ret_message);
	else if (*tail || sqlite3_column_count(statement) != 1)
		err = bad_predicate(
			db, where, "only one expression is allowed", ret_message);
	else if (sqlite3_bind_parameter_count(statement) != 0)
		err = bad_predicate(db, where,
			"parameters (?, :, @ or $) are not allowed", ret_message);
	else if (collect(dataset, statement, into) != SQLITE_DONE)
		err = statement_error(db, dataset, guard, where, ret_message);
	return err;
}

int dataset_select(struct dataset *dataset, const char *where, roaring_bitmap_t **ret,
	char **ret_message)
{
	struct guard guard = {.selects = 0};
	sqlite3 *db = NULL;
	*ret = NULL;
	*ret_message = NULL;
	if (!where) {
		*ret = roaring_bitmap_copy(dataset->present);
		return *ret ? 0 : -ENOMEM;
	}
	auto_bitmap roaring_bitmap_t *selected = roaring_bitmap_create();
	if (!selected)
		return -ENOMEM;
	int err = guarded_connection(dataset, &guard, &db);
	if (!err) {
		err = select_where(dataset, db, &guard, where, selected, ret_message);
		sqlite3_close(db);
	}
	if (err)
		return err;
	*ret = selected;
	selected = NULL;
	return 0;
}
