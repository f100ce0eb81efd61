// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"
#include "image/sections.h"

#include <errno.h>
#include <string.h>

/* [tensor NAME]: what is not given there is as in [tensor], but for how files look. */

static bool is_of_files(const char *key)
{
	return strcmp(key, "format") == 0 || strcmp(key, "dtype") == 0 ||
	       strcmp(key, "axes") == 0;
}

/* The section with what it has from [tensor]. The texts stay those of the ini. */
static int merge(
	const struct ini *ini, const struct ini_section *own, struct ini_section *ret)
{
	const struct ini_section *base = ini_section(ini, SECTION_TENSOR);
	*ret = (struct ini_section){.id = own->id,
		.label = own->label,
		.name = "",
		.line = own->line,
		.values = calloc(config_n_options(), sizeof(*ret->values))};
	if (!ret->values)
		return -ENOMEM;
	for (size_t i = 0; i < config_n_options(); i++) {
		bool inherits = base && !own->values[i].text &&
				!is_of_files(config_option(i)->key);
		ret->values[i] = inherits ? base->values[i] : own->values[i];
	}
	return 0;
}

static bool gives(const struct ini_section *section, const char *key)
{
	for (size_t i = 0; i < config_n_options(); i++)
		if (section->values[i].text && strcmp(config_option(i)->key, key) == 0)
			return true;
	return false;
}

/* What [tensor] says of pixels does not matter to files as they are. */
static void drop_inherited(const struct ini_section *own, struct ini_section *merged)
{
	for (size_t i = 0; i < config_n_options(); i++)
		if (!own->values[i].text)
			merged->values[i] = (struct ini_value){0};
}

/* A palette's indices have no place in a ppm. */
static enum sample_format default_format(const struct job_config *job)
{
	return job->format == FORMAT_PPM || job->format == FORMAT_BMP ? FORMAT_PNG
								      : job->format;
}

static char *text_of(const struct ini_section *section)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (size_t i = 0; i < config_n_options(); i++)
		if (section->values[i].text)
			fprintf(out, "%s = %s\n", config_option(i)->key,
				section->values[i].text);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static int keep(const struct ini_section *own, const struct job_config *as,
	struct job_section *ret)
{
	*ret = (struct job_section){.name = strdup(own->name),
		.text = text_of(own),
		.extension = strdup(config_extension_of(as->format)),
		.preparation = as->preparation,
		.format = as->format,
		.pixels = as->pixels};
	return ret->name && ret->text && ret->extension ? 0 : -ENOMEM;
}

static void fill(struct ini *ini, const struct ini_section *own,
	const struct job_config *job, struct job_section *ret)
{
	struct ini_section merged = {0};
	struct ini part = *ini;
	struct job_config as = {.format = default_format(job)};
	int err = merge(ini, own, &merged);
	if (err) {
		ini->err = err;
		return;
	}
	part.sections = &merged;
	part.n_sections = 1;
	ini_fill(&part, &merged, SECTION_TENSOR, NULL, &as);
	if (!gives(own, "format"))
		as.format = default_format(job);
	if (as.format == FORMAT_SOURCE) {
		drop_inherited(own, &merged);
		as.preparation = (struct preparation){0};
	}
	if (part.mistakes == ini->mistakes && !part.err)
		config_check_source(&part, &as);
	if (part.mistakes == ini->mistakes && !part.err)
		config_check_tensor(&part, &as);
	ini->mistakes = part.mistakes;
	ini->err = part.err ? part.err : keep(own, &as, ret);
	config_free_fields(SECTION_TENSOR, &as);
	free(merged.values);
}

/* --- which ones there may be -------------------------------------------------------------- */

static void refuse(struct ini *ini, const struct ini_section *section, const char *key,
	const char *allowed)
{
	ini_mistake(ini, section->line, section->label, key, "found \"%s\", allowed: %s",
		key ? key : section->label, allowed);
}

static void check(
	struct ini *ini, const struct ini_section *section, const struct job_config *job)
{
	const struct augment_config *augment = &job->augment;
	if (job->layout != LAYOUT_MIRROR)
		refuse(ini, section, NULL, "only with layout = mirror in [view]");
	if (augment->random_crop.width || augment->random_resized_crop.width ||
		augment->hflip > 0)
		refuse(ini, section, NULL,
			"not with random_crop, random_resized_crop or hflip in "
			"[augment], "
			"which would be drawn for each file by itself");
	if (job->prepare || gives(section, "prepare"))
		refuse(ini, section, "prepare", "not with [tensor GLOB]");
	if (job->format == FORMAT_SOURCE)
		refuse(ini, section, NULL, "not with format = source in [tensor]");
}

static size_t count(const struct ini *ini)
{
	size_t n = 0;
	for (size_t i = 0; i < ini->n_sections; i++)
		n += ini->sections[i].id == SECTION_TENSOR && *ini->sections[i].name;
	return n;
}

/* The preparation tells them to those that don't know the job. */
static int give_to_preparation(struct job_config *job)
{
	struct tensor_sections sections = {.n = job->n_sections};
	for (size_t i = 0; i < job->n_sections; i++) {
		struct tensor_section *section = &sections.section[i];
		snprintf(section->name, sizeof(section->name), "%s",
			job->sections[i].name);
		section->preparation = job->sections[i].preparation;
	}
	job->preparation.sections = sections_keep(&sections);
	return job->preparation.sections ? 0 : -ENOMEM;
}

void config_fill_sections(struct ini *ini, struct job_config *job)
{
	size_t n = count(ini);
	unsigned mistakes = ini->mistakes;
	if (n == 0)
		return;
	job->sections = calloc(n, sizeof(*job->sections));
	if (!job->sections) {
		ini->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < ini->n_sections && !ini->err; i++) {
		const struct ini_section *section = &ini->sections[i];
		if (section->id != SECTION_TENSOR || !*section->name)
			continue;
		check(ini, section, job);
		if (n > SECTIONS_MOST)
			ini_mistake(ini, section->line, section->label, NULL,
				"found %zu of [tensor GLOB], allowed: at most %d", n,
				SECTIONS_MOST);
		if (ini->mistakes == mistakes)
			fill(ini, section, job, &job->sections[job->n_sections++]);
	}
	if (ini->mistakes == mistakes && !ini->err)
		ini->err = give_to_preparation(job);
}

/* --- of a job that is there --------------------------------------------------------------- */

void config_free_sections(struct job_config *job)
{
	for (size_t i = 0; i < job->n_sections; i++) {
		free(job->sections[i].name);
		free(job->sections[i].text);
		free(job->sections[i].extension);
	}
	free(job->sections);
	job->sections = NULL;
	job->n_sections = 0;
}

int config_copy_sections(const struct job_config *from, struct job_config *ret)
{
	ret->n_sections = 0;
	ret->sections = calloc(from->n_sections + 1, sizeof(*ret->sections));
	if (!ret->sections)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_sections; i++) {
		const struct job_section *section = &from->sections[i];
		struct job_section *copy = &ret->sections[ret->n_sections++];
		*copy = *section;
		copy->name = strdup(section->name);
		copy->text = strdup(section->text);
		copy->extension = strdup(section->extension);
		if (!copy->name || !copy->text || !copy->extension)
			return -ENOMEM;
	}
	return 0;
}

void config_print_sections(FILE *out, const struct job_config *config)
{
	for (size_t i = 0; i < config->n_sections; i++)
		fprintf(out, "[tensor %s]\n%s", config->sections[i].name,
			config->sections[i].text);
}

const struct job_section *config_section(
	const struct job_config *config, const char *path)
{
	int i = sections_find(config->preparation.sections, path);
	return i < 0 ? NULL : &config->sections[i];
}
