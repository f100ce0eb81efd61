// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/machine.h"
#include "config/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool value_digits(const char **text, uint64_t *ret)
{
	char *end;
	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*ret = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0;
}

bool value_in_range(const struct option *option, uint64_t number)
{
	return number >= option->min && number <= option->max;
}

void value_print_allowed(const struct option *option, FILE *out)
{
	const char *rest = option->type->allowed;
	for (const char *at; (at = strchr(rest, '{')); rest = strchr(at, '}') + 1) {
		fprintf(out, "%.*s", (int)(at - rest), rest);
		if (strncmp(at, "{min}", 5) == 0)
			fprintf(out, "%" PRIu64, option->min);
		else if (strncmp(at, "{max}", 5) == 0)
			fprintf(out, "%" PRIu64, option->max);
		else if (strncmp(at, "{1/max}", 7) == 0)
			fprintf(out, "%g", 1 / (double)option->max);
		else
			for (size_t i = 0; option->choices[i]; i++)
				fprintf(out, "%s%s", i ? ", " : "", option->choices[i]);
	}
	fputs(rest, out);
}

static int parse_number(const struct option *option, const char *text, uint64_t *ret)
{
	if (!value_digits(&text, ret) || *text || !value_in_range(option, *ret))
		return -EINVAL;
	return 0;
}

static int parse_u32(const struct value_input *in, void *field)
{
	uint64_t number;
	if (parse_number(in->option, in->text, &number) < 0)
		return -EINVAL;
	*(uint32_t *)field = (uint32_t)number;
	return 0;
}

static int parse_u64(const struct value_input *in, void *field)
{
	return parse_number(in->option, in->text, field);
}

static void print_u32(const struct option *option, const void *field, FILE *out)
{
	uint32_t number = *(const uint32_t *)field;
	/* An ini can't say "unset", so nothing is printed for an unset value. */
	if (number > 0 || option->preset)
		fprintf(out, "%s = %" PRIu32 "\n", option->key, number);
}

static void print_u64(const struct option *option, const void *field, FILE *out)
{
	fprintf(out, "%s = %" PRIu64 "\n", option->key, *(const uint64_t *)field);
}

const struct value_type value_u32 = {"number", false, parse_u32, print_u32, RANGE_RULE};
const struct value_type value_u64 = {"number", false, parse_u64, print_u64, RANGE_RULE};

/* Parses a number with an optional unit: units[i] stands for factors[i]. */
static int parse_unit(const struct option *option, const char *text, const char *units,
	const uint64_t *factors, uint64_t *ret)
{
	uint64_t number, factor = 1;
	if (!value_digits(&text, &number))
		return -EINVAL;
	if (*text) {
		const char *unit = strchr(units, *text);
		if (!unit || text[1])
			return -EINVAL;
		factor = factors[unit - units];
	}
	if (__builtin_mul_overflow(number, factor, ret) || !value_in_range(option, *ret))
		return -EINVAL;
	return 0;
}

static int parse_size(const struct value_input *in, void *field)
{
	static const uint64_t factors[] = {UINT64_C(1) << 10, UINT64_C(1) << 20,
		UINT64_C(1) << 30, UINT64_C(1) << 40};
	return parse_unit(in->option, in->text, "KMGT", factors, field);
}

const struct value_type value_size = {"size", false, parse_size, NULL, SIZE_RULE};

/* "auto" becomes 0; config_daemon.c computes the size from the free memory. */
static int parse_cache(const struct value_input *in, void *field)
{
	if (strcmp(in->text, "auto") != 0)
		return parse_size(in, field);
	*(uint64_t *)field = 0;
	return 0;
}

const struct value_type value_cache = {
	"size", false, parse_cache, NULL, "auto, or " SIZE_RULE};

static int parse_duration(const struct value_input *in, void *field)
{
	static const uint64_t factors[] = {1, 60, 3600};
	uint64_t seconds;
	if (parse_unit(in->option, in->text, "smh", factors, &seconds) < 0)
		return -EINVAL;
	*(uint32_t *)field = (uint32_t)seconds;
	return 0;
}

const struct value_type value_duration = {"duration", false, parse_duration, print_u32,
	"seconds, or a number with s, m or h, like 600, 10m or 1h; at least {min} s"};

static int parse_workers(const struct value_input *in, void *field)
{
	if (strcmp(in->text, "auto") != 0)
		return parse_u32(in, field);
	unsigned cpus = machine_cpus("");
	*(unsigned *)field = cpus > in->option->max ? (unsigned)in->option->max : cpus;
	return 0;
}

const struct value_type value_workers = {
	"number", false, parse_workers, NULL, "auto, or " RANGE_RULE};

static int parse_reads(const struct value_input *in, void *field)
{
	if (strcmp(in->text, "auto") != 0)
		return parse_u32(in, field);
	*(unsigned *)field = 0;
	return 0;
}

static void print_reads(const struct option *option, const void *field, FILE *out)
{
	if (*(const unsigned *)field == 0)
		fprintf(out, "%s = auto\n", option->key);
	else
		print_u32(option, field, out);
}

const struct value_type value_reads = {
	"number", false, parse_reads, print_reads, "auto, or " RANGE_RULE};

static int find_choice(const struct option *option, const char *text)
{
	for (int i = 0; option->choices[i]; i++)
		if (strcmp(option->choices[i], text) == 0)
			return i;
	return -EINVAL;
}

static int parse_choice(const struct value_input *in, void *field)
{
	int choice = find_choice(in->option, in->text);
	if (choice < 0)
		return choice;
	*(unsigned *)field = (unsigned)choice; /* enumerations are stored as unsigned */
	return 0;
}

static int parse_flag(const struct value_input *in, void *field)
{
	int choice = find_choice(in->option, in->text);
	if (choice < 0)
		return choice;
	*(bool *)field = choice == 1;
	return 0;
}

static void print_choice(const struct option *option, const void *field, FILE *out)
{
	unsigned choice = *(const unsigned *)field;
	fprintf(out, "%s = %s\n", option->key, option->choices[choice]);
}

static void print_flag(const struct option *option, const void *field, FILE *out)
{
	fprintf(out, "%s = %s\n", option->key, option->choices[*(const bool *)field]);
}

_Static_assert(sizeof(enum job_order) == sizeof(unsigned), "enumerations are ints");

const struct value_type value_choice = {
	"choice", false, parse_choice, print_choice, "{choices}"};
const struct value_type value_flag = {
	"choice", false, parse_flag, print_flag, "{choices}"};

int value_keep(const char *text, void *field)
{
	char *copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	*(char **)field = copy;
	return 0;
}

void value_print_text(const struct option *option, const void *field, FILE *out)
{
	const char *text = *(char *const *)field;
	if (text)
		fprintf(out, "%s = %s\n", option->key, text);
}

static const char replay[] = ORDER_REPLAY_PREFIX;

static int parse_order(const struct value_input *in, void *field)
{
	if (find_choice(in->option, in->text) < 0 &&
		(strncmp(in->text, replay, strlen(replay)) != 0 ||
			in->text[strlen(replay)] != '/'))
		return -EINVAL;
	return value_keep(in->text, field);
}

enum job_order config_order_of(const char *text)
{
	if (strncmp(text, replay, strlen(replay)) == 0)
		return ORDER_REPLAY;
	return strcmp(text, "sequential") == 0 ? ORDER_SEQUENTIAL : ORDER_SHUFFLED;
}

const char *config_replay(const struct job_config *config)
{
	return config->order == ORDER_REPLAY ? config->order_text + strlen(replay) : NULL;
}

const struct value_type value_order = {"choice", true, parse_order, value_print_text,
	"{choices}, " ORDER_REPLAY_PREFIX "FILE with an absolute path"};

bool config_name_valid(const char *name)
{
	size_t n = strlen(name);
	size_t plain = strspn(name, LETTERS_DIGITS);
	while (name[plain] && strchr("._-", name[plain]))
		plain += 1 + strspn(name + plain + 1, LETTERS_DIGITS);
	return n >= 1 && n <= 64 && plain == n && name[0] != '.';
}

static int parse_name(const struct value_input *in, void *field)
{
	return config_name_valid(in->text) ? value_keep(in->text, field) : -EINVAL;
}

const struct value_type value_name = {
	"name", true, parse_name, value_print_text, NAME_RULE};

/* Parses any text but one that begins with a semicolon: when the printed ini is parsed again, this
 * text would be a comment. */
static int parse_text(const struct value_input *in, void *field)
{
	if (!value_in_range(in->option, strlen(in->text)) || *in->text == ';')
		return -EINVAL;
	return value_keep(in->text, field);
}

const struct value_type value_text = {"expression", true, parse_text, value_print_text,
	"{min} to {max} bytes, not beginning with ;"};

static int parse_path(const struct value_input *in, void *field)
{
	ensure(in->dir);
	if (*in->text == '\0' || strchr("\"'~", *in->text))
		return -EINVAL;
	*(char **)field = config_path_absolute(in->dir, in->text);
	return *(char **)field ? 0 : -ENOMEM;
}

const struct value_type value_path = {"path", true, parse_path, NULL, PATH_RULE};

static int parse_extension(const struct value_input *in, void *field)
{
	size_t n = strspn(in->text, LETTERS_DIGITS);
	if (in->text[n] || !value_in_range(in->option, n) || strcmp(in->text, "cls") == 0)
		return -EINVAL;
	return value_keep(in->text, field);
}

const struct value_type value_extension = {"ending", true, parse_extension,
	value_print_text, "{min} to {max} letters and digits, not cls"};

/* Makes a list of endings in lower case, separated by single spaces. Refuses an empty
 * list, and "*" together with endings. */
static int parse_extensions(const struct value_input *in, void *field)
{
	const char *text = in->text;
	if (strcmp(text, "*") == 0)
		return value_keep(text, field);
	auto_free char *list = calloc(strlen(text) + 2, 1);
	if (!list)
		return -ENOMEM;
	char *end = list;
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t n = strspn(text, LETTERS_DIGITS);
		if (n == 0 || (text[n] && !strchr(" \t", text[n])))
			return -EINVAL;
		if (end != list)
			*end++ = ' ';
		while (n--)
			*end++ = (char)tolower((unsigned char)*text++);
	}
	if (end == list || (size_t)(end - list) > in->option->max)
		return -EINVAL;
	return value_keep(list, field);
}

const struct value_type value_extensions = {"endings", true, parse_extensions,
	value_print_text,
	"endings without dots, separated by spaces, like jpg png, at most {max} "
	"bytes; or *"};
