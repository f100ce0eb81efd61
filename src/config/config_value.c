// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/machine.h"
#include "config/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char letters_digits[] = "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

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

static int parse_number(const struct option *option, const char *text, uint64_t *ret)
{
	if (!value_digits(&text, ret) || *text || !value_in_range(option, *ret))
		return -EINVAL;
	return 0;
}

static int parse_u32(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)dir;
	uint64_t number;
	if (parse_number(option, text, &number) < 0)
		return -EINVAL;
	*(uint32_t *)field = (uint32_t)number;
	return 0;
}

static int parse_u64(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)dir;
	return parse_number(option, text, field);
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

void value_allowed_range(const struct option *option, FILE *out)
{
	fprintf(out, "%" PRIu64 "..%" PRIu64, option->min, option->max);
}

const struct value_type value_u32 = {
	"number", false, parse_u32, print_u32, value_allowed_range};
const struct value_type value_u64 = {
	"number", false, parse_u64, print_u64, value_allowed_range};

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

static int parse_size(
	const struct option *option, const char *text, const char *dir, void *field)
{
	static const uint64_t factors[] = {UINT64_C(1) << 10, UINT64_C(1) << 20,
		UINT64_C(1) << 30, UINT64_C(1) << 40};
	(void)dir;
	return parse_unit(option, text, "KMGT", factors, field);
}

static void allowed_size(const struct option *option, FILE *out)
{
	fprintf(out,
		"bytes, or a number with K, M, G or T (powers of 1024), like 512M or 4G; "
		"at least %" PRIu64,
		option->min);
}

const struct value_type value_size = {"size", false, parse_size, NULL, allowed_size};

/* "auto" becomes 0; config_daemon.c computes the size from the free memory. */
static int parse_cache(
	const struct option *option, const char *text, const char *dir, void *field)
{
	if (strcmp(text, "auto") != 0)
		return parse_size(option, text, dir, field);
	*(uint64_t *)field = 0;
	return 0;
}

static void allowed_cache(const struct option *option, FILE *out)
{
	fputs("auto, or ", out);
	allowed_size(option, out);
}

const struct value_type value_cache = {"size", false, parse_cache, NULL, allowed_cache};

static int parse_duration(
	const struct option *option, const char *text, const char *dir, void *field)
{
	static const uint64_t factors[] = {1, 60, 3600};
	uint64_t seconds;
	(void)dir;
	if (parse_unit(option, text, "smh", factors, &seconds) < 0)
		return -EINVAL;
	*(uint32_t *)field = (uint32_t)seconds;
	return 0;
}

static void allowed_duration(const struct option *option, FILE *out)
{
	fprintf(out,
		"seconds, or a number with s, m or h, like 600, 10m or 1h; "
		"at least %" PRIu64 " s",
		option->min);
}

const struct value_type value_duration = {
	"duration", false, parse_duration, print_u32, allowed_duration};

static int parse_workers(
	const struct option *option, const char *text, const char *dir, void *field)
{
	if (strcmp(text, "auto") != 0)
		return parse_u32(option, text, dir, field);
	unsigned cpus = machine_cpus("");
	*(unsigned *)field = cpus > option->max ? (unsigned)option->max : cpus;
	return 0;
}

static void allowed_workers(const struct option *option, FILE *out)
{
	fputs("auto, or ", out);
	value_allowed_range(option, out);
}

const struct value_type value_workers = {
	"number", false, parse_workers, NULL, allowed_workers};

static int parse_reads(
	const struct option *option, const char *text, const char *dir, void *field)
{
	if (strcmp(text, "auto") != 0)
		return parse_u32(option, text, dir, field);
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
	"number", false, parse_reads, print_reads, allowed_workers};

static int find_choice(const struct option *option, const char *text)
{
	for (int i = 0; option->choices[i]; i++)
		if (strcmp(option->choices[i], text) == 0)
			return i;
	return -EINVAL;
}

static int parse_choice(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)dir;
	int choice = find_choice(option, text);
	if (choice < 0)
		return choice;
	*(unsigned *)field = (unsigned)choice; /* enumerations are stored as unsigned */
	return 0;
}

static int parse_flag(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)dir;
	int choice = find_choice(option, text);
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

void value_allowed_choice(const struct option *option, FILE *out)
{
	for (int i = 0; option->choices[i]; i++)
		fprintf(out, "%s%s", i ? ", " : "", option->choices[i]);
}

_Static_assert(sizeof(enum job_order) == sizeof(unsigned), "enumerations are ints");

const struct value_type value_choice = {
	"choice", false, parse_choice, print_choice, value_allowed_choice};
const struct value_type value_flag = {
	"choice", false, parse_flag, print_flag, value_allowed_choice};

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

static int parse_order(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)dir;
	if (find_choice(option, text) < 0 &&
		(strncmp(text, replay, strlen(replay)) != 0 ||
			text[strlen(replay)] != '/'))
		return -EINVAL;
	return value_keep(text, field);
}

static void allowed_order(const struct option *option, FILE *out)
{
	value_allowed_choice(option, out);
	fprintf(out, ", %sFILE with an absolute path", replay);
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

const struct value_type value_order = {
	"choice", true, parse_order, value_print_text, allowed_order};

bool config_name_valid(const char *name)
{
	size_t n = strlen(name);
	size_t plain = strspn(name, letters_digits);
	while (name[plain] && strchr("._-", name[plain]))
		plain += 1 + strspn(name + plain + 1, letters_digits);
	return n >= 1 && n <= 64 && plain == n && name[0] != '.';
}

static int parse_name(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)option;
	(void)dir;
	return config_name_valid(text) ? value_keep(text, field) : -EINVAL;
}

static void allowed_name(const struct option *option, FILE *out)
{
	(void)option;
	fputs(NAME_RULE, out);
}

const struct value_type value_name = {
	"name", true, parse_name, value_print_text, allowed_name};

/* Parses any text but one that begins with a semicolon: when the printed ini is parsed again, this
 * text would be a comment. */
static int parse_text(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)dir;
	if (!value_in_range(option, strlen(text)) || *text == ';')
		return -EINVAL;
	return value_keep(text, field);
}

static void allowed_text(const struct option *option, FILE *out)
{
	fprintf(out, "%" PRIu64 " to %" PRIu64 " bytes, not beginning with ;",
		option->min, option->max);
}

const struct value_type value_text = {
	"expression", true, parse_text, value_print_text, allowed_text};

static int parse_path(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)option;
	ensure(dir);
	if (*text == '\0' || strchr("\"'~", *text))
		return -EINVAL;
	*(char **)field = config_path_absolute(dir, text);
	return *(char **)field ? 0 : -ENOMEM;
}

static void allowed_path(const struct option *option, FILE *out)
{
	(void)option;
	fputs("an absolute path, or one relative to the directory of this ini, without "
	      "quotes and without ~",
		out);
}

const struct value_type value_path = {"path", true, parse_path, NULL, allowed_path};

static int parse_extension(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)dir;
	size_t n = strspn(text, letters_digits);
	if (text[n] || !value_in_range(option, n) || strcmp(text, "cls") == 0)
		return -EINVAL;
	return value_keep(text, field);
}

static void allowed_extension(const struct option *option, FILE *out)
{
	fprintf(out, "%" PRIu64 " to %" PRIu64 " letters and digits, not cls",
		option->min, option->max);
}

const struct value_type value_extension = {
	"ending", true, parse_extension, value_print_text, allowed_extension};

/* Makes a list of endings in lower case, separated by single spaces. Refuses an empty
 * list, and "*" together with endings. */
static int parse_extensions(
	const struct option *option, const char *text, const char *dir, void *field)
{
	(void)dir;
	if (strcmp(text, "*") == 0)
		return value_keep(text, field);
	auto_free char *list = calloc(strlen(text) + 2, 1);
	if (!list)
		return -ENOMEM;
	char *end = list;
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t n = strspn(text, letters_digits);
		if (n == 0 || (text[n] && !strchr(" \t", text[n])))
			return -EINVAL;
		if (end != list)
			*end++ = ' ';
		while (n--)
			*end++ = (char)tolower((unsigned char)*text++);
	}
	if (end == list || (size_t)(end - list) > option->max)
		return -EINVAL;
	return value_keep(list, field);
}

static void allowed_extensions(const struct option *option, FILE *out)
{
	fprintf(out,
		"endings without dots, separated by spaces, like jpg png, at most "
		"%" PRIu64 " bytes; or *",
		option->max);
}

const struct value_type value_extensions = {
	"endings", true, parse_extensions, value_print_text, allowed_extensions};
