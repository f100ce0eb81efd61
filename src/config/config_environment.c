// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/cleanup.h"
#include "config/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* The ranks of a training can use one ini: the launcher sets a variable with the rank's number.
 * Variables are replaced only in the values of `keys`, where a $ has no other meaning. */

static const char *const keys[] = {"name", "dataset", "training", "ranks", "rank",
	"local_ranks", "node_rank", "global_batch"};

static const char *find_key(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i]) == n && strncmp(keys[i], text, n) == 0)
			return keys[i];
	return NULL;
}

/* Returns the length of "$NAME" or "${NAME}"; 0: the text does not begin with a variable. */
static size_t variable_at(const char *text, const char **ret_name, size_t *ret_n)
{
	bool braces = text[1] == '{';
	const char *name = text + 1 + braces;
	const char *end = name + strspn(name, LETTERS_DIGITS "_");
	if (end == name || isdigit((unsigned char)*name) || (braces && *end != '}'))
		return 0;
	*ret_name = name;
	*ret_n = (size_t)(end - name);
	return (size_t)(end - text) + braces;
}

/* Returns the variable's value; NULL: `unset` has the reason. */
static const char *value_of(const char *name, size_t n, struct config_unset *unset)
{
	auto_free char *key = strndup(name, n);
	const char *value = key ? getenv(key) : NULL;
	if (!value || !*value)
		snprintf(unset->text, sizeof(unset->text),
			"found \"$%.*s\", allowed: an environment variable that is set; "
			"%.*s is %s here",
			(int)n, name, (int)n, name, value ? "empty" : "not set");
	else if (strpbrk(value, "\r\n"))
		snprintf(unset->text, sizeof(unset->text),
			"found \"$%.*s\", allowed: an environment variable of one line",
			(int)n, name);
	else
		return value;
	return NULL;
}

/* Prints the text from `at` to `end`, a value of the ini, with its variables replaced. A comment
 * after the value is printed unchanged, even if the comment has a $. */
static int fill_value(
	const char *at, const char *end, FILE *out, struct config_unset *unset)
{
	bool comment = false;
	while (at < end) {
		const char *name;
		size_t n, bytes = *at == '$' && !comment ? variable_at(at, &name, &n) : 0;
		const char *value = bytes ? value_of(name, n, unset) : NULL;
		if (bytes && !value)
			return -EINVAL;
		comment = comment || (*at == ';' && isspace((unsigned char)at[-1]));
		if (bytes)
			fputs(value, out);
		else
			fputc(*at, out);
		at += bytes ? bytes : 1;
	}
	return 0;
}

/* Prints a line or setting of [job]. If the key is one of `keys`, replaces the variables in the
 * value. */
static int fill_pair(
	const char *pair, const char *end, FILE *out, struct config_unset *unset)
{
	const char *key = pair, *value = memchr(pair, '=', (size_t)(end - pair));
	while (key < end && isspace((unsigned char)*key))
		key++;
	size_t n = strspn(key, LETTERS_DIGITS "_");
	unset->key = find_key(key, n);
	if (!value || !unset->key) {
		fwrite(pair, 1, (size_t)(end - pair), out);
		return 0;
	}
	fwrite(pair, 1, (size_t)(value + 1 - pair), out);
	return fill_value(value + 1, end, out, unset);
}

static int fill_lines(const char *text, FILE *out, struct config_unset *unset)
{
	bool of_job = false;
	int err = 0;
	for (unsigned line = 1; *text && !err; line++) {
		const char *end = strchrnul(text, '\n');
		const char *begin = text + strspn(text, " \t\r\xef\xbb\xbf");
		unset->line = line;
		if (*begin == '[') {
			begin += 1 + strspn(begin + 1, " \t");
			of_job =
				strncmp(begin, "job", 3) == 0 && strchr(" \t]", begin[3]);
		}
		if (of_job)
			err = fill_pair(text, end, out, unset);
		else
			fwrite(text, 1, (size_t)(end - text), out);
		if (*end)
			fputc('\n', out);
		text = *end ? end + 1 : end;
	}
	return err;
}

typedef int filler(const char *text, FILE *out, struct config_unset *unset);

static int fill(const char *text, filler *how, char **ret, struct config_unset *unset)
{
	char *filled = NULL;
	size_t bytes;
	FILE *out = open_memstream(&filled, &bytes);
	int err = out ? how(text, out, unset) : -ENOMEM;
	if (out && fclose(out) != 0 && !err)
		err = -ENOMEM;
	if (err)
		free(filled);
	else
		*ret = filled;
	return err;
}

int config_environment(const char *text, char **ret, struct config_unset *unset)
{
	return fill(text, fill_lines, ret, unset);
}

static int fill_setting(const char *setting, FILE *out, struct config_unset *unset)
{
	size_t n = strncmp(setting, "job.", 4) == 0 ? 4 : 0;
	const char *end = setting + strlen(setting);
	fwrite(setting, 1, n, out);
	if (n)
		return fill_pair(setting + n, end, out, unset);
	fputs(setting, out);
	return 0;
}

int config_environment_setting(
	const char *setting, char **ret, struct config_unset *unset)
{
	return fill(setting, fill_setting, ret, unset);
}
