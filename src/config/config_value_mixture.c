// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <errno.h>
#include <string.h>

/* A mixture consists of names of datasets, separated by blanks or commas. A colon and a weight may
 * follow each name. In job_config.dataset only commas separate the names. */

#define MOST_WEIGHT 1e9
#define BETWEEN " \t,"

static const char *skip_between(const char *text)
{
	return text + strspn(text, BETWEEN);
}

static bool parse_one(const char **text, struct config_mixed *ret)
{
	size_t n = strcspn(*text, ":" BETWEEN);
	if (n >= sizeof(ret->name))
		return false;
	memcpy(ret->name, *text, n);
	ret->name[n] = '\0';
	ret->weight = 1;
	*text += n;
	if (**text == ':') {
		++*text;
		if (!config_decimal(text, &ret->weight))
			return false;
	}
	return config_name_valid(ret->name) && ret->weight >= 1 / MOST_WEIGHT &&
	       ret->weight <= MOST_WEIGHT && (**text == '\0' || strchr(BETWEEN, **text));
}

bool config_next_mixed(const char **text, struct config_mixed *ret)
{
	*text = skip_between(*text);
	return **text && parse_one(text, ret);
}

bool config_is_mixed(const struct job_config *config)
{
	return strchr(config->dataset, ',') != NULL;
}

static bool is_before(const char *text, const char *end, const char *name)
{
	struct config_mixed mixed;
	while (text < end && config_next_mixed(&text, &mixed) && text < end)
		if (strcmp(mixed.name, name) == 0)
			return true;
	return false;
}

/* Parses a mixture. If there is a single dataset, drops its weight, which has no effect. */
static int parse_mixture(const struct value_input *in, void *field)
{
	auto_free char *list = calloc(strlen(in->text) + 1, 1);
	const char *next = skip_between(in->text);
	struct config_mixed mixed;
	size_t n = 0;
	if (!list)
		return -ENOMEM;
	for (; *next; next = skip_between(next), n++) {
		const char *first = next;
		if (!parse_one(&next, &mixed) || is_before(in->text, next, mixed.name))
			return -EINVAL;
		if (n > 0)
			strcat(list, ",");
		strncat(list, first, (size_t)(next - first));
	}
	if (n == 0 || n > CONFIG_MOST_MIXED || strlen(list) > in->option->max)
		return -EINVAL;
	return value_keep(n == 1 ? mixed.name : list, field);
}

const struct value_type value_mixture = {"name", true, parse_mixture, value_print_text,
	NAME_RULE
	"; or up to " TEXT_OF(CONFIG_MOST_MIXED) " different names, separated by "
						 "blanks or commas, each with or without "
						 "a weight above 0, like photos:3 "
						 "sketches:1, at most {max} bytes"};
