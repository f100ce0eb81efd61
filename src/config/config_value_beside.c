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

static int parse_endings(const struct value_input *in, void *field)
{
	const char *text = in->text;
	struct config_endings endings = {0};
	size_t n;
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

const struct value_type value_endings = {"endings", false, parse_endings, print_endings,
	"1 to {max} endings without dots, separated by spaces, like txt json, each once, "
	"of 1 to " TEXT_OF(CONFIG_LONGEST_ENDING) " letters and digits, not cls"};

static bool is_column(const char *text, size_t n)
{
	return n > 0 && n <= CONFIG_LONGEST_COLUMN && !isdigit((unsigned char)*text) &&
	       strspn(text, LETTERS_DIGITS "_") >= n;
}

static int parse_column(const struct value_input *in, void *field)
{
	return is_column(in->text, strlen(in->text)) ? value_keep(in->text, field)
						     : -EINVAL;
}

#define COLUMN_RULE "1 to 64 letters, digits and _, not beginning with a digit"

const struct value_type value_column = {"column", true, parse_column, value_print_text,
	"the name of a column: " COLUMN_RULE};

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

static int parse_labels(const struct value_input *in, void *field)
{
	uint32_t columns = 0;
	size_t n = strlen(columns_prefix);
	if (strcmp(in->text, "drawn") == 0 || strcmp(in->text, "fixed") == 0)
		return value_keep(in->text, field);
	if (strncmp(in->text, columns_prefix, n) != 0)
		return -EINVAL;
	for (const char *at = in->text + n; (n = word(&at)) > 0; at += n, columns++)
		if (!is_column(at, n))
			return -EINVAL;
	return columns > 0 && columns <= in->option->max ? value_keep(in->text, field)
							 : -EINVAL;
}

const struct value_type value_labels = {"labels", true, parse_labels, value_print_text,
	"drawn, fixed, or columns: and 1 to {max} names of columns, separated by spaces, "
	"each of " COLUMN_RULE};
