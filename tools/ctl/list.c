// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/cleanup.h"
#include "commands.h"
#include "request.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REVERSE "\033[7m"
#define DIM "\033[2m"
#define RED "\033[1;31m"
#define YELLOW "\033[33m"
#define NORMAL "\033[0m"
#define MUCH_WAITED 20 /* percentage of waiting from which a job is coloured, as in top */

/* Offsets of two columns. Cells are ASCII, begin under their head, and fit into their column. */
struct columns {
	size_t state, waited;
};

static size_t column(const char *heads, const char *head)
{
	const char *at = strstr(heads, head);
	return at ? (size_t)(at - heads) : strlen(heads);
}

/* Prints the n bytes at `at` in `colour`, and sets the terminal back to line_colour. If `colour` is
 * "", prints them without a change of colour. Returns the address after the n bytes. */
static const char *print_part(
	const char *at, size_t n, const char *colour, const char *line_colour)
{
	printf("%s%.*s", colour, (int)n, at);
	if (*colour)
		printf("%s%s", NORMAL, line_colour);
	return at + n;
}

static void print_job(const char *line, const struct columns *columns)
{
	size_t length = strlen(line), name = strcspn(line, " ");
	if (columns->waited >= length || columns->state >= length) {
		/* the line tells that a storage does not answer */
		printf("%s%s%s\n", RED, line, NORMAL);
		return;
	}
	bool ended = strncmp(line + columns->state, "ended", 5) == 0;
	bool waits = atoi(line + columns->waited) >= MUCH_WAITED;
	const char *own = ended ? DIM : "", *at = line;
	fputs(own, stdout);
	at = print_part(at, name, line[name - (name > 0)] == '!' ? YELLOW : "", own);
	at = print_part(at, (size_t)(line + columns->waited - at), "", own);
	at = print_part(at, strcspn(at, " "), waits && !ended ? RED : "", own);
	printf("%s%s\n", at, NORMAL);
}

static void print_coloured(char *text)
{
	char *next = text, *line = strsep(&next, "\n");
	struct columns columns = {column(line, "STATE"), column(line, "WAITED")};
	printf("%s%s%s\n", REVERSE, line, NORMAL);
	while (next && *next) {
		line = strsep(&next, "\n");
		print_job(line, &columns);
	}
}

int list_jobs(const char *socket_path)
{
	const char *const arguments[] = {"ls"};
	const char *no_color = getenv("NO_COLOR");
	if (!isatty(STDOUT_FILENO) || (no_color && *no_color))
		return request(socket_path, arguments, 1, NULL, stdout);
	auto_free char *text = NULL;
	if (!request_text(socket_path, arguments, 1, &text))
		return EXIT_FAILURE;
	if (*text)
		print_coloured(text);
	return EXIT_SUCCESS;
}
