// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

/*
 * Golden traces: files of tests/trace/ with events, and below each event, indented, the decisions.
 * A test plays the events again and compares the text.
 *
 * When decisions are meant to change, or a trace has new events without decisions,
 * JOADERFS_TRACE_UPDATE=1 writes the files anew; then review the difference.
 */

/* Plays an event, and prints the decisions. */
typedef void golden_play(void *context, const char *line, FILE *out);

/* Copies comments and events to out, with the new decisions. */
static inline void golden_copy(golden_play *play, void *context, FILE *in, FILE *out)
{
	char line[256];
	while (fgets(line, sizeof(line), in)) {
		if (line[0] == ' ')
			continue;
		fputs(line, out);
		if (line[0] != '#' && line[0] != '\n')
			play(context, line, out);
	}
}

static inline char *golden_slurp(FILE *in)
{
	char *text = NULL;
	size_t room = 0;
	rewind(in);
	if (getdelim(&text, &room, '\0', in) < 0)
		cr_assert_fail("empty trace");
	return text;
}

static inline void golden_check(const char *path, golden_play *play, void *context)
{
	auto_free char *now = NULL;
	size_t size = 0;
	auto_fclose FILE *in = fopen(path, "re");
	cr_assert_not_null(in, "%s: %s", path, strerror(errno));
	FILE *out = open_memstream(&now, &size);
	golden_copy(play, context, in, out);
	fclose(out);
	if (getenv("JOADERFS_TRACE_UPDATE")) {
		auto_fclose FILE *golden = fopen(path, "we");
		cr_assert_not_null(golden, "%s: %s", path, strerror(errno));
		fputs(now, golden);
		return;
	}
	auto_free char *golden = golden_slurp(in);
	cr_assert_str_eq(now, golden, "%s has other decisions", path);
}

/* Called for each trace that matches the pattern. */
typedef void golden_trace(const char *path);

static inline void golden_each(const char *pattern, golden_trace *check)
{
	glob_t traces;
	cr_assert_eq(glob(pattern, 0, NULL, &traces), 0, "there is no %s", pattern);
	for (size_t i = 0; i < traces.gl_pathc; i++)
		check(traces.gl_pathv[i]);
	globfree(&traces);
}
