// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "values.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The longest line that inih, the parser, accepts. inih would cut longer lines. */
#define MAX_LINE (INI_MAX_LINE - 3)

struct parser {
	const char *file;
	const char *rest; /* the text after the last line that was read */
	struct sim_scenario *scenario;
	unsigned line;
	int err;
	char label[INI_MAX_LINE]; /* section of the last key */
	enum sim_section section;
	void *object;	/* struct of the section; NULL: keys are skipped */
	uint32_t given; /* bit set of the options that the section gives */
};

/* Reports "FILE:LINE:[LABEL]:KEY: text". If `label` or `key` is NULL, its part is left out. */
printf_like(4, 5) static void mistake(struct parser *parser, const char *label,
	const char *key, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	fprintf(stderr, "joader-sim: %s", parser->file);
	if (parser->line)
		fprintf(stderr, ":%u", parser->line);
	if (label)
		fprintf(stderr, ":[%s]", label);
	if (key)
		fprintf(stderr, ":%s", key);
	fprintf(stderr, ": %s\n", text);
	parser->err = -EINVAL;
}

static void *add_dataset(struct sim_scenario *scenario, const char *name)
{
	struct sim_dataset *datasets = reallocarray(
		scenario->datasets, scenario->n_datasets + 1, sizeof(*datasets));
	if (!datasets)
		return NULL;
	scenario->datasets = datasets;
	struct sim_dataset *dataset = &datasets[scenario->n_datasets];
	*dataset = (struct sim_dataset){.name = strdup(name)};
	if (!dataset->name)
		return NULL;
	scenario->n_datasets++;
	return dataset;
}

static void *add_job(struct sim_scenario *scenario, const char *name)
{
	struct sim_job *jobs =
		reallocarray(scenario->jobs, scenario->n_jobs + 1, sizeof(*jobs));
	if (!jobs)
		return NULL;
	scenario->jobs = jobs;
	struct sim_job *job = &jobs[scenario->n_jobs];
	*job = (struct sim_job){.name = strdup(name), .speed = 1, .epochs = 1};
	if (!job->name)
		return NULL;
	scenario->n_jobs++;
	return job;
}

/* Returns the index of the dataset; n_datasets: there is none of this name. */
static size_t find_dataset(const struct sim_scenario *scenario, const char *name)
{
	size_t i = 0;
	while (i < scenario->n_datasets && strcmp(scenario->datasets[i].name, name) != 0)
		i++;
	return i;
}

static bool is_known(
	const struct sim_scenario *scenario, enum sim_section section, const char *name)
{
	if (section == SIM_DATASET)
		return find_dataset(scenario, name) < scenario->n_datasets;
	for (size_t i = 0; i < scenario->n_jobs; i++)
		if (strcmp(scenario->jobs[i].name, name) == 0)
			return true;
	return false;
}

static void begin_named(struct parser *parser, const char *name)
{
	if (is_known(parser->scenario, parser->section, name)) {
		mistake(parser, parser->label, NULL, "found twice, allowed: once");
		return;
	}
	parser->object = parser->section == SIM_JOB ? add_job(parser->scenario, name)
						    : add_dataset(parser->scenario, name);
	if (!parser->object)
		parser->err = -ENOMEM;
}

static void begin_section(struct parser *parser, const char *label)
{
	size_t word = strcspn(label, " ");
	const char *name = label + word + strspn(label + word, " ");
	parser->object = NULL;
	parser->given = 0;
	snprintf(parser->label, sizeof(parser->label), "%s", label);
	for (int i = 0; i < SIM_SECTIONS; i++) {
		const char *known = sim_section_names[i];
		if (strlen(known) != word || strncmp(known, label, word) != 0)
			continue;
		parser->section = (enum sim_section)i;
		if (i == SIM_SCENARIO && !name[0])
			parser->object = parser->scenario;
		else if (i != SIM_SCENARIO && name[0])
			begin_named(parser, name);
		if (parser->object || parser->err)
			return;
	}
	mistake(parser, label, NULL,
		"found \"%s\", allowed: [scenario], [dataset NAME], [job NAME]", label);
}

static void unknown_key(struct parser *parser, const char *key)
{
	char allowed[256] = "";
	const char *nearest = sim_option_nearest(parser->section, key);
	for (size_t i = 0, n = 0; i < sim_n_options && n < sizeof(allowed); i++)
		if (sim_options[i].section == parser->section)
			n += (size_t)snprintf(allowed + n, sizeof(allowed) - n, "%s%s",
				n ? ", " : "", sim_options[i].key);
	mistake(parser, parser->label, key, "not known, allowed: %s%s%s%s", allowed,
		nearest ? "; did you mean \"" : "", nearest ? nearest : "",
		nearest ? "\"?" : "");
}

static void set(struct parser *parser, const char *key, const char *value)
{
	const struct sim_option *option = sim_option_find(parser->section, key);
	if (!option) {
		unknown_key(parser, key);
		return;
	}
	uint32_t bit = UINT32_C(1) << (option - sim_options);
	if (parser->given & bit)
		mistake(parser, parser->label, key, "found twice, allowed: once");
	parser->given |= bit;
	int err = sim_option_parse(option, parser->object, value);
	if (err == -EINVAL)
		mistake(parser, parser->label, key, "found \"%s\", allowed: %s", value,
			option->allowed);
	else if (err)
		parser->err = err;
}

/* inih calls this function for each key. Returns 0 to stop inih. */
static int handle(void *context, const char *section, const char *key, const char *value)
{
	struct parser *parser = context;
	if (strcmp(section, parser->label) != 0)
		begin_section(parser, section);
	if (parser->object)
		set(parser, key, value);
	return parser->err != -ENOMEM;
}

/* inih calls this function for each line. Spaces at the beginning of a line are skipped, because
 * inih would treat the line as a continuation of the last value. */
static char *next_line(char *line, int size, void *context)
{
	struct parser *parser = context;
	size_t length = strcspn(parser->rest, "\n");
	if (!parser->rest[0])
		return NULL;
	parser->line++;
	const char *text = parser->rest + strspn(parser->rest, " \t\r");
	int n = text < parser->rest + length ? (int)(parser->rest + length - text) : 0;
	parser->rest += length + (parser->rest[length] == '\n');
	if (n > MAX_LINE || n > size - 2) {
		mistake(parser, NULL, NULL, "a line of %d bytes, allowed: %d", n,
			MAX_LINE);
		n = 0;
	}
	snprintf(line, (size_t)size, "%.*s\n", n, text);
	return line;
}

static int preset(struct sim_scenario *scenario)
{
	*scenario = (struct sim_scenario){.runs = 1, .seed = 1};
	int err = sim_override(scenario, "sampler", "dsa");
	return err ? err : sim_override(scenario, "eviction", "refcnt");
}

static void missing(
	struct parser *parser, const char *section, const char *name, const char *key)
{
	char label[INI_MAX_LINE];
	snprintf(label, sizeof(label), "%s%s%s", section, name ? " " : "",
		name ? name : "");
	mistake(parser, label, key, "found nothing, it is required");
}

static void check_required(struct parser *parser)
{
	const struct sim_scenario *scenario = parser->scenario;
	if (!scenario->title)
		missing(parser, "scenario", NULL, "title");
	if (!scenario->n_caches)
		missing(parser, "scenario", NULL, "cache");
	for (size_t i = 0; i < scenario->n_datasets; i++)
		if (!scenario->datasets[i].size)
			missing(parser, "dataset", scenario->datasets[i].name, "ids");
	for (size_t i = 0; i < scenario->n_jobs; i++)
		if (!scenario->jobs[i].dataset_name)
			missing(parser, "job", scenario->jobs[i].name, "dataset");
	if (!scenario->n_jobs)
		mistake(parser, NULL, NULL, "found no [job NAME], one is required");
}

static void find_datasets(struct parser *parser)
{
	struct sim_scenario *scenario = parser->scenario;
	for (size_t i = 0; i < scenario->n_jobs; i++) {
		struct sim_job *job = &scenario->jobs[i];
		job->dataset = find_dataset(scenario, job->dataset_name);
		if (job->dataset < scenario->n_datasets)
			continue;
		snprintf(parser->label, sizeof(parser->label), "job %s", job->name);
		mistake(parser, parser->label, "dataset",
			"found \"%s\", allowed: the name of a [dataset NAME]",
			job->dataset_name);
	}
}

int sim_parse(const char *file, const char *text, struct sim_scenario *ret)
{
	struct parser parser = {.file = file, .rest = text, .scenario = ret};
	int err = preset(ret);
	if (err) {
		sim_scenario_free(ret);
		return err;
	}
	int line = ini_parse_stream(next_line, &parser, handle, &parser);
	parser.line = line > 0 ? (unsigned)line : 0;
	if (line > 0 && parser.err != -ENOMEM)
		mistake(&parser, NULL, NULL,
			"found neither a [section] nor key = value nor a comment");
	if (!parser.err)
		check_required(&parser);
	if (!parser.err)
		find_datasets(&parser);
	ret->name = parser.err ? NULL : strdup(file);
	if (!parser.err && !ret->name)
		parser.err = -ENOMEM;
	if (parser.err)
		sim_scenario_free(ret);
	return parser.err;
}

void sim_scenario_free(struct sim_scenario *scenario)
{
	for (size_t i = 0; i < scenario->n_datasets; i++)
		free(scenario->datasets[i].name);
	for (size_t i = 0; i < scenario->n_jobs; i++) {
		free(scenario->jobs[i].name);
		free(scenario->jobs[i].dataset_name);
	}
	free(scenario->datasets);
	free(scenario->jobs);
	free(scenario->samplers);
	free(scenario->evictions);
	free(scenario->caches);
	free(scenario->name);
	free(scenario->title);
	free(scenario->note);
	*scenario = (struct sim_scenario){0};
}
