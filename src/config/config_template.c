// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "config/config_internal.h"

#include <errno.h>
#include <string.h>

/* Templates are sections [template NAME] with keys SECTION.KEY. */

#define MAX_KEY 64

static bool is_of_job(const struct option *option)
{
	return config_sections[option->section].kind == INI_JOB;
}

static void full_name(const struct option *option, char ret[static MAX_KEY])
{
	snprintf(ret, MAX_KEY, "%s.%s", config_sections[option->section].name,
		option->key);
}

int template_option(const char *key)
{
	for (size_t i = 0; i < config_n_options(); i++) {
		char name[MAX_KEY];
		full_name(config_option(i), name);
		if (is_of_job(config_option(i)) && strcmp(name, key) == 0)
			return (int)i;
	}
	return -1;
}

/* Finds "SECTION.KEY" for a key without its section, or else the most similar name. */
static bool find_nearest(const char *key, char ret[static MAX_KEY])
{
	auto_free char(*names)[MAX_KEY] = calloc(config_n_options(), sizeof(*names));
	auto_free const char **list = calloc(config_n_options(), sizeof(*list));
	const char *found = NULL;
	size_t n = 0;
	for (size_t i = 0; names && list && i < config_n_options(); i++) {
		if (!is_of_job(config_option(i)))
			continue;
		full_name(config_option(i), names[n]);
		list[n] = names[n];
		if (strcmp(config_option(i)->key, key) == 0)
			found = names[n];
		n++;
	}
	if (!found && list)
		found = config_nearest(key, list, n);
	if (found)
		strcpy(ret, found);
	return found != NULL;
}

void template_report_key(
	struct ini *ini, unsigned line, const char *label, const char *key)
{
	char near[MAX_KEY];
	if (find_nearest(key, near))
		ini_mistake_nearest(ini, line, label, key, key,
			"SECTION.KEY, a key of a job's ini", near);
	else
		ini_mistake(ini, line, label, key,
			"found \"%s\", allowed: SECTION.KEY, a key of a job's ini, as "
			"tensor.crop",
			key);
}

static int take(const struct ini_section *section, struct template_config *ret)
{
	ret->name = strdup(section->name);
	ret->settings = calloc(config_n_options(), sizeof(*ret->settings));
	if (!ret->name || !ret->settings)
		return -ENOMEM;
	for (size_t i = 0; i < config_n_options(); i++) {
		const struct ini_value *value = &section->values[i];
		char name[MAX_KEY];
		if (!value->text)
			continue;
		struct template_setting *setting = &ret->settings[ret->n];
		full_name(config_option(i), name);
		setting->text = aprintf("%s=%s", name, value->text);
		if (!setting->text)
			return -ENOMEM;
		setting->line = value->line;
		ret->n++;
	}
	return 0;
}

/* Makes a job from the template to find mistakes when the daemon's ini is read. */
static void check(struct ini *ini, const struct template_config *template)
{
	static const char *const some_dataset = "job.dataset=any";
	struct job_config job;
	bool has_dataset = false;
	for (size_t i = 0; i < template->n; i++)
		if (strncmp(template->settings[i].text, some_dataset, 12) == 0)
			has_dataset = true;
	int err = config_parse_template(ini->file, template, &some_dataset,
		has_dataset ? 0 : 1, ini->report, ini->context, &job);
	if (!err)
		config_job_free(&job);
	else if (err == -EINVAL)
		ini->mistakes++;
	else
		ini->err = err;
}

void config_fill_templates(struct ini *ini, struct daemon_config *daemon)
{
	daemon->templates = calloc(ini->n_sections + 1, sizeof(*daemon->templates));
	if (!daemon->templates) {
		ini->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < ini->n_sections && !ini->err; i++) {
		if (ini->sections[i].id != SECTION_TEMPLATE)
			continue;
		struct template_config *template =
			&daemon->templates[daemon->n_templates++];
		int err = take(&ini->sections[i], template);
		if (err)
			ini->err = err;
		else
			check(ini, template);
	}
}

void config_free_templates(struct daemon_config *daemon)
{
	for (size_t i = 0; i < daemon->n_templates; i++) {
		struct template_config *template = &daemon->templates[i];
		for (size_t k = 0; k < template->n; k++)
			free(template->settings[k].text);
		free(template->settings);
		free(template->name);
	}
	free(daemon->templates);
}

const struct template_config *config_template(
	const struct daemon_config *daemon, const char *name)
{
	for (size_t i = 0; i < daemon->n_templates; i++)
		if (strcmp(daemon->templates[i].name, name) == 0)
			return &daemon->templates[i];
	return NULL;
}

int config_parse_template(const char *file, const struct template_config *template,
	const char *const *settings, size_t n, config_report *report, void *context,
	struct job_config *ret)
{
	struct ini ini = {
		.file = file, .kind = INI_JOB, .report = report, .context = context};
	auto_free char *name = aprintf("job.name=%s", template->name);
	if (!name)
		return -ENOMEM;
	ini_set(&ini, name, LINE_OF_SETTING);
	for (size_t i = 0; i < template->n; i++)
		ini_set(&ini, template->settings[i].text, template->settings[i].line);
	for (size_t i = 0; i < n; i++)
		ini_set(&ini, settings[i], LINE_OF_SETTING);
	int err = config_finish_job(&ini, ret);
	ini_free(&ini);
	return err;
}
