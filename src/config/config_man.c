// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <string.h>

#define WIDTH 78

/* Tells whether the line explains a choice, as "lru: ..." does. */
static bool explains_choice(const struct option *option, const char *line)
{
	size_t n = strcspn(line, ":");
	for (size_t i = 0; option->choices && option->choices[i]; i++)
		if (strlen(option->choices[i]) == n &&
			!memcmp(option->choices[i], line, n))
			return true;
	return false;
}

static void print_line(FILE *out, const char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (line[i] == '\\')
			fputs("\\e", out);
		else
			fputc(line[i], out);
	fputc('\n', out);
}

/* Prints the help `text` of an option; option NULL: the help of a section. */
static void print_help(FILE *out, const struct option *option, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		if (option && explains_choice(option, text))
			fputs(".br\n", out);
		print_line(out, text, n);
		text += n + (text[n] == '\n');
	}
}

static void print_default(FILE *out, const struct option *option)
{
	if (option->required)
		fputs("The key is required.\n", out);
	else if (option->preset)
		fprintf(out, "Default:\n.Ql %s .\n", option->preset);
	else if (option->preset_help)
		fprintf(out, "Default: %s.\n", option->preset_help);
	else
		fputs("Default: none.\n", out);
}

static void print_option(FILE *out, const struct option *option)
{
	fprintf(out, ".It Cm %s No = Ar %s\n", option->key, option->type->metavar);
	print_help(out, option, option->help);
	fputs(".br\nAllowed: ", out);
	value_print_allowed(option, out);
	fputs(".\n", out);
	print_default(out, option);
}

static void print_section(FILE *out, enum section_id id)
{
	const struct section_spec *spec = &config_sections[id];
	fprintf(out, ".Ss Section Bq %s%s\n", spec->name, spec->named ? " NAME" : "");
	print_help(out, NULL, spec->help);
	if (id == SECTION_TEMPLATE)
		return; /* a template has the keys of a job's sections */
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < config_n_options(); i++)
		if (config_option(i)->section == id)
			print_option(out, config_option(i));
	fputs(".El\n", out);
}

/* Returns the length of the first part of a long line. The next part must not begin with
 * . or ', which mdoc(7) would take for a macro. */
static size_t break_at(const char *line, size_t n)
{
	size_t at = n;
	for (size_t i = 1; i < n && (i <= WIDTH || at == n); i++)
		if (line[i] == ' ' && line[i + 1] != '.' && line[i + 1] != '\'')
			at = i;
	return at;
}

static void print_folded(FILE *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		size_t at = n > WIDTH && *text != '.' ? break_at(text, n) : n;
		fprintf(out, "%.*s\n", (int)at, text);
		text += at + (text[at] != '\0');
	}
}

void config_print_man(FILE *out)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *page = open_memstream(&text, &size);
	if (!page)
		return;
	for (int id = 0; id < SECTION_COUNT; id++)
		print_section(page, (enum section_id)id);
	if (fclose(page) == 0)
		print_folded(out, text);
}

void config_print_keys(FILE *out)
{
	for (size_t i = 0; i < config_n_options(); i++) {
		const struct option *option = config_option(i);
		const struct section_spec *section = &config_sections[option->section];
		/* `from` is allowed only in sections with a name. */
		if (section->kind != INI_JOB || strcmp(option->key, "from") == 0)
			continue;
		fprintf(out, "%s.%s|", section->name, option->key);
		for (size_t k = 0; option->choices && option->choices[k]; k++)
			fprintf(out, "%s%s", k ? " " : "", option->choices[k]);
		fputc('\n', out);
	}
}
