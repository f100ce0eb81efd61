// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "stats/stats.h"

#include <inttypes.h>
#include <stdbool.h>

/* The table in the forms that people and programs read. */

enum kind { COUNTER, GAUGE };

static const struct {
	const char *name;
	enum kind kind;
	const char *unit;
	const char *help;
} rows[] = {
#define STAT(identifier, name, kind, unit, help) {name, kind, unit, help},
	STATS_TABLE(STAT)
#undef STAT
};

void stats_print_text(FILE *out)
{
	for (int i = 0; i < STAT_COUNT; i++)
		fprintf(out, "%s %" PRIu64 "\n", rows[i].name,
			stats_get((enum stat_id)i));
}

void stats_print_json(FILE *out)
{
	for (int i = 0; i < STAT_COUNT; i++)
		fprintf(out, "%s\n  \"%s\": %" PRIu64, i ? "," : "{", rows[i].name,
			stats_get((enum stat_id)i));
	fputs("\n}\n", out);
}

void stats_print_prometheus(FILE *out)
{
	for (int i = 0; i < STAT_COUNT; i++) {
		bool counter = rows[i].kind == COUNTER;
		const char *name = rows[i].name;
		const char *total = counter ? "_total" : "";
		fprintf(out, "# HELP joaderfs_%s%s %s (%s)\n", name, total, rows[i].help,
			rows[i].unit);
		fprintf(out, "# TYPE joaderfs_%s%s %s\n", name, total,
			counter ? "counter" : "gauge");
		fprintf(out, "joaderfs_%s%s %" PRIu64 "\n", name, total,
			stats_get((enum stat_id)i));
	}
}

void stats_print_man(FILE *out)
{
	for (int i = 0; i < STAT_COUNT; i++)
		fprintf(out, ".It Cm %s\n%s (%s, %s)\n", rows[i].name, rows[i].help,
			rows[i].unit, rows[i].kind == COUNTER ? "counter" : "gauge");
}
