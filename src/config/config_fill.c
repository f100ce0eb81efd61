// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/ensure.h"
#include "config/config_internal.h"

#include <errno.h>
#include <string.h>

static char *allowed_text(const struct option *option)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	value_print_allowed(option, out);
	return close_text(out, &text);
}

static const char *nearest_choice(const struct option *option, const char *text)
{
	size_t n = 0;
	while (option->choices && option->choices[n])
		n++;
	return config_nearest(text, option->choices, n);
}

/* Hides a URL that names a user, because it may contain a password. */
static const char *shown(const char *text)
{
	const char *server = strstr(text, "://");
	if (!server)
		return text;
	server += strlen("://");
	return memchr(server, '@', strcspn(server, "/?#")) ? "a URL with a user" : text;
}

/* Reports a wrong value. value NULL: the key is missing. */
static void report_value(struct ini *ini, const char *label, const struct option *option,
	const struct ini_value *value)
{
	auto_free char *allowed = allowed_text(option);
	if (!allowed) {
		ini->err = -ENOMEM;
		return;
	}
	if (!value)
		ini_mistake(ini, 0, label, option->key, "found nothing, allowed: %s",
			allowed);
	else
		ini_mistake_nearest(ini, value->line, label, option->key,
			shown(value->text), allowed, nearest_choice(option, value->text));
}

void ini_fill(struct ini *ini, const struct ini_section *section, enum section_id id,
	void *object)
{
	const char *label = section ? section->label : config_sections[id].name;
	for (size_t i = 0; i < config_n_options(); i++) {
		const struct option *option = config_option(i);
		if (option->section != id)
			continue;
		const struct ini_value *value =
			section && section->values[i].text ? &section->values[i] : NULL;
		const char *text = value ? value->text : option->preset;
		int err = 0;
		if (text)
			err = option->type->parse(
				&(struct value_input){option, text, ini->dir},
				(char *)object + option->offset);
		ensure(err != -EINVAL || value);
		if (err == -ENOMEM)
			ini->err = err;
		else if (err || (!text && option->required))
			report_value(ini, label, option, value);
	}
}

void config_free_fields(enum section_id id, void *object)
{
	for (size_t i = 0; i < config_n_options(); i++) {
		const struct option *option = config_option(i);
		if (option->section == id && option->type->owned)
			free(*(char **)((char *)object + option->offset));
	}
}

int config_copy_fields(enum section_id id, const void *from, void *object)
{
	int err = 0;
	for (size_t i = 0; i < config_n_options(); i++) {
		const struct option *option = config_option(i);
		if (option->section != id || !option->type->owned)
			continue;
		const char *text = *(char *const *)((const char *)from + option->offset);
		char *copy = text ? strdup(text) : NULL;
		*(char **)((char *)object + option->offset) = copy;
		err = text && !copy ? -ENOMEM : err;
	}
	return err;
}

int config_job_copy(const struct job_config *from, struct job_config *ret)
{
	*ret = *from;
	ret->file = strdup(from->file);
	int err = ret->file ? 0 : -ENOMEM;
	for (int id = SECTION_JOB; id <= SECTION_VIEW; id++) {
		int this = config_copy_fields((enum section_id)id, from, ret);
		err = err ? err : this;
	}
	int copied = config_copy_sections(from, ret);
	err = err ? err : copied;
	if (err)
		config_job_free(ret);
	return err;
}

void config_print_job(FILE *out, const struct job_config *config)
{
	for (int id = SECTION_JOB; id <= SECTION_VIEW; id++) {
		fprintf(out, "[%s]\n", config_sections[id].name);
		for (size_t i = 0; i < config_n_options(); i++) {
			const struct option *option = config_option(i);
			if (option->section == (enum section_id)id)
				option->type->print(option,
					(const char *)config + option->offset, out);
		}
		if (id == SECTION_TENSOR)
			config_print_sections(out, config);
	}
}

char *config_job_text(const struct job_config *config)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	config_print_job(out, config);
	return close_text(out, &text);
}
