// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset_place.h"

static void six_files(struct place *place)
{
	char name[32];
	place_begin(place);
	for (uint32_t i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "class%u/%u.png", i % 3, i);
		write_png(place_path(place, name), 10 + i, 20);
	}
	cr_assert_eq(place_open(place), 0);
}

Test(dataset_select, selects_by_every_column)
{
	static const struct {
		const char *where;
		int64_t count;
	} cases[] = {
		{NULL, 6},
		{"1", 6},
		{"0", 0},
		{"id < 2", 2},
		{"path like 'class1/%'", 2},
		{"class = 'class2'", 2},
		{"label < 2", 4},
		{"bytes > 0 and bytes < 100000", 6},
		{"mtime > 1600000000 and mtime < 100000000000", 6},
		{"width = 13", 1},
		{"height = 20 and width between 11 and 12", 2},
		{"width > height", 0},
		{"(label = 0) or (label = 1)", 4},
		{"label in (0, 2)", 4},
		{"not label", 2},
		{"path glob '*[12].png'", 2},
		{"upper(class) = 'CLASS0' and length(path) > 3 and abs(-1) = 1", 2},
		{"max(width, height) = 20 and substr(class, 6) = '1'", 2},
		{"class = 'it''s; -- (' or label = 0", 2},
		{"case label when 1 then 1 else 0 end", 2},
		{"class <> 'in (select 1)' and path not in ('select', 'in x')", 6},
		{"label in(0,2) and id IN ( 0, 1 ) and class in ('class0')", 2},
		{"cast(substr(class, 6) as integer) = label", 6},
		{"samples.id = 3", 1},
	};
	struct place place;
	six_files(&place);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *message = NULL;
		int64_t n = place_count(&place, cases[i].where, &message);
		cr_assert_eq(n, cases[i].count, "%s: %ld %s", cases[i].where, (long)n,
			message ? message : "");
	}
	place_end(&place);
}

Test(dataset_select, refuses_what_is_not_an_expression_over_a_row)
{
	static const struct {
		const char *where;
		const char *message;
	} cases[] = {
		{"", "the expression is empty"},
		{" \n ", "the expression is empty"},
		{"1) or (1", "')' without '('"},
		{"1) union select 1 where (1", "')' without '('"},
		{"(1", "'(' without ')'"},
		{"label <", "syntax error"},
		{"label < 3 label", "syntax error"},
		{"1; drop table samples", "';' is not allowed"},
		{"1 -- )", "comments are not allowed"},
		{"1 /* )", "comments are not allowed"},
		{"'a", "a quote is not closed"},
		{"[a", "a quote is not closed"},
		{"1 limit 1", "syntax error"},
		{"1, 2", "row value misused"},
		{"lable < 3", "no such column: lable"},
		{"class = \"rose\"", "single quotes"},
		{"gone = 0", "no such column: gone"},
		{"mtime_ns > 0", "no such column: mtime_ns"},
		{"id in (select 1)", "subqueries are not allowed"},
		{"id in (select id from samples)", "subqueries are not allowed"},
		{"id not in (SELECT\tid from samples)", "subqueries are not allowed"},
		{"label in (\nselect label from samples where 0)", "subqueries are not"},
		{"id in samples", "subqueries are not allowed"},
		{"id in main.samples", "subqueries are not allowed"},
		{"id in \"samples\"", "subqueries are not allowed"},
		{"id in json_each('[1]')", "subqueries are not allowed"},
		{"id in (values (1), (2))", "subqueries are not allowed"},
		{"exists (select 1 from samples)", "subqueries are not allowed"},
		{"(values (1)) = 1", "subqueries are not allowed"},
		{"id in classes", "subqueries are not allowed"},
		{"id in (with t as (select 1) select * from t)", "not allowed"},
		{"(select name from sqlite_master)", "subqueries are not allowed"},
		{"count(*) > 1", "function"},
		{"max(label) > 1", "misuse of aggregate"},
		{"row_number() over () > 1", "function row_number() is not allowed"},
		{"random() > 0", "function random() is not allowed"},
		{"randomblob(100)", "function randomblob() is not allowed"},
		{"load_extension('x')", "function load_extension() is not allowed"},
		{"current_timestamp > 0", "function current_timestamp() is not allowed"},
		{"printf('%d', id)", "function printf() is not allowed"},
		{"unknown(1)", "no such function: unknown"},
		{"label = ?", "parameter"},
		{"label = :x", "parameter"},
		{"raise(abort, 'x')", "RAISE() may only be used"},
		{"abs(-9223372036854775807 - 1)", "integer overflow"},
	};
	struct place place;
	six_files(&place);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *message = NULL;
		cr_expect_eq(place_count(&place, cases[i].where, &message), -1, "%s",
			cases[i].where);
		if (!message)
			continue;
		cr_expect(strstr(message, cases[i].message), "%s: %s", cases[i].where,
			message);
		cr_expect(
			strstr(message, "columns: id, path, class, label, bytes, mtime, "
					"width, height"),
			"%s", message);
		free(message);
	}
	char *message;
	cr_assert_eq(place_count(&place, "1", &message), 6, "no file was changed");
	place_end(&place);
}

/* The sum is balanced, because SQLite limits the depth. */
static void print_sum(FILE *out, int terms)
{
	if (terms == 1) {
		fputs("(label >= 0)", out);
		return;
	}
	fputs("(", out);
	print_sum(out, terms / 2);
	fputs("+", out);
	print_sum(out, terms - terms / 2);
	fputs(")", out);
}

Test(dataset_select, limits_the_steps)
{
	struct place place;
	six_files(&place);
	for (int terms = 100; terms <= 16384; terms = terms == 100 ? 16384 : terms * 2) {
		char *where, *message = NULL;
		size_t size;
		FILE *out = open_memstream(&where, &size);
		print_sum(out, terms);
		fclose(out);
		int64_t n = place_count(&place, where, &message);
		cr_assert_eq(n, terms == 100 ? 6 : -1);
		cr_assert(!message ||
			  strstr(message, "the expression takes too many steps"));
		free(message);
		free(where);
	}
	place_end(&place);
}
