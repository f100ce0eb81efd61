// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static size_t word(const char **text)
{
	*text += strspn(*text, " \t");
	return strcspn(*text, " \t");
}

static bool has_ending(const struct config_endings *endings, const char *ending)
{
	for (uint32_t i = 0; i < endings->n; i++)
		if (strcmp(endings->of[i], ending) == 0)
			return true;
	return false;
}

static int add_ending(struct config_endings *endings, const char *text, size_t n)
{
	char ending[CONFIG_LONGEST_ENDING + 1] = "";
	if (n > CONFIG_LONGEST_ENDING || endings->n == CONFIG_MOST_ENDINGS)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)text[i]))
			return -EINVAL;
		ending[i] = (char)tolower((unsigned char)text[i]);
	}
	if (strcmp(ending, "cls") == 0 || has_ending(endings, ending))
		return -EINVAL;
	memcpy(endings->of[endings->n++], ending, sizeof(ending));
	return 0;
}

static int parse_endings(
	const struct option *option, const char *text, const char *dir, void *field)
{
	struct config_endings endings = {0};
	size_t n;
	(void)option;
	(void)dir;
	for (; (n = word(&text)) > 0; text += n)
		if (add_ending(&endings, text, n) != 0)
			return -EINVAL;
	*(struct config_endings *)field = endings;
	return endings.n ? 0 : -EINVAL;
}

static void print_endings(const struct option *option, const void *field, FILE *out)
{
	const struct config_endings *endings = field;
	if (endings->n == 0)
		return;
	fprintf(out, "%s =", option->key);
	for (uint32_t i = 0; i < endings->n; i++)
		fprintf(out, " %s", endings->of[i]);
	fputs("\n", out);
}

static void allowed_endings(const struct option *option, FILE *out)
{
	(void)option;
	fprintf(out,
		"1 to %d endings without dots, separated by spaces, like txt json, each "
		"once, of 1 to %d letters and digits, not cls",
		CONFIG_MOST_ENDINGS, CONFIG_LONGEST_ENDING);
}

const struct value_type value_endings = {
	"endings", false, parse_endings, print_endings, allowed_endings};

static bool is_column(const char *text, size_t n)
{
	if (n == 0 || n > CONFIG_LONGEST_COLUMN || isdigit((unsigned char)*text))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return true;
}

static int parse_column(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)option;
	(void)dir;
	return is_column(text, strlen(text)) ? value_keep(text, field) : -EINVAL;
}

#define COLUMN_RULE "1 to 64 letters, digits and _, not beginning with a digit"

static void allowed_column(const struct option *option, FILE *out)
{
	(void)option;
	fputs("the name of a column: " COLUMN_RULE, out);
}

const struct value_type value_column = {
	"column", true, parse_column, value_print_text, allowed_column};

static const char columns_prefix[] = "columns:";

const char *config_label_columns(const struct job_config *job)
{
	size_t n = strlen(columns_prefix);
	if (!job->labels || strncmp(job->labels, columns_prefix, n) != 0)
		return NULL;
	return job->labels + n;
}

bool config_next_column(const char **list, char ret[CONFIG_LONGEST_COLUMN + 1])
{
	size_t n = word(list);
	if (n == 0 || n > CONFIG_LONGEST_COLUMN)
		return false;
	memcpy(ret, *list, n);
	ret[n] = '\0';
	*list += n;
	return true;
}

static int parse_labels(
	const struct option *option, const char *text, const char *dir, void *field)
{
	uint32_t columns = 0;
	size_t n = strlen(columns_prefix);
	(void)option;
	(void)dir;
	if (strcmp(text, "drawn") == 0 || strcmp(text, "fixed") == 0)
		return value_keep(text, field);
	if (strncmp(text, columns_prefix, n) != 0)
		return -EINVAL;
	for (const char *at = text + n; (n = word(&at)) > 0; at += n, columns++)
		if (!is_column(at, n))
			return -EINVAL;
	return columns > 0 && columns <= CONFIG_MOST_TARGETS ? value_keep(text, field)
							     : -EINVAL;
}

static void allowed_labels(const struct option *option, FILE *out)
{
	(void)option;
	fprintf(out,
		"drawn, fixed, or columns: and 1 to %d names of columns, separated by "
		"spaces, each of " COLUMN_RULE,
		CONFIG_MOST_TARGETS);
}

const struct value_type value_labels = {
	"labels", true, parse_labels, value_print_text, allowed_labels};
