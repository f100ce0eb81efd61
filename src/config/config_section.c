// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "config/config_internal.h"
#include "image/sections.h"

#include <errno.h>
#include <string.h>

/* Tells whether the key is about files, and so not inherited by [tensor NAME]. */

static bool is_of_files(const char *key)
{
	return strcmp(key, "from") == 0 || strcmp(key, "format") == 0 ||
	       strcmp(key, "dtype") == 0 || strcmp(key, "axes") == 0;
}

/* Makes *ret from the keys of `own`, a section [tensor NAME], and from the keys that it inherits
 * from [tensor]. The ini still owns the texts. */
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

/* Drops the keys that `own` has inherited: a section with format = source does not use them. */
static void drop_inherited(const struct ini_section *own, struct ini_section *merged)
{
	for (size_t i = 0; i < config_n_options(); i++)
		if (!own->values[i].text)
			merged->values[i] = (struct ini_value){0};
}

/* Returns the format of a section [tensor NAME] that gives none: the job's format, but PNG instead
 * of PPM and BMP. Many masks have palette indices, which PPM and BMP can't hold. */
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
	return close_text(out, &text);
}

static int keep(const struct ini_section *own, const struct job_config *as,
	struct job_section *ret)
{
	const char *ending = config_extension_of(as->format);
	char *extension =
		aprintf("%s%s%s", as->from ? own->name : "", as->from ? "." : "", ending);
	*ret = (struct job_section){.name = strdup(own->name),
		.text = text_of(own),
		.extension = extension,
		.preparation = as->preparation,
		.format = as->format,
		.pixels = as->pixels,
		.is_pair = as->from != NULL};
	return ret->name && ret->text && ret->extension ? 0 : -ENOMEM;
}

static void fill(struct ini *ini, const struct ini_section *own,
	const struct job_config *job, struct job_section *ret)
{
	struct ini_section merged = {0};
	struct ini part = *ini;
	struct job_config as = {.augment = job->augment};
	int err = merge(ini, own, &merged);
	if (err) {
		ini->err = err;
		return;
	}
	part.sections = &merged;
	part.n_sections = 1;
	ini_fill(&part, &merged, SECTION_TENSOR, &as);
	as.augment.normalize = (struct normalize_config){0};
	if (!ini_text(own, "format"))
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

struct job_config config_second(const struct job_config *config)
{
	const struct job_section *section = &config->sections[0];
	struct job_config second = *config;
	second.preparation = section->preparation;
	second.format = section->format;
	second.pixels = section->pixels;
	second.extension = section->extension;
	second.augment.normalize = (struct normalize_config){0};
	second.augment.filter = section->preparation.filter;
	second.sections = NULL;
	second.n_sections = 0;
	return second;
}

static void refuse(struct ini *ini, const struct ini_section *section, const char *key,
	const char *allowed)
{
	ini_mistake(ini, section->line, section->label, key, "found \"%s\", allowed: %s",
		key ? key : section->label, allowed);
}

/* Returns NULL if the section of second files may have the key, else the allowed values. Keys that
 * resize or crop are refused, because both files of a sample are resized and cropped alike. */
static const char *allowed_key(const struct job_config *job, const char *key)
{
	static const char *const own[] = {
		"from", "filter", "channels", "fill", "format", "dtype", "axes", NULL};
	bool in_one = job->format == FORMAT_RECORD || job->layout == LAYOUT_BATCH;
	for (size_t i = 0; own[i]; i++)
		if (strcmp(own[i], key) == 0)
			return in_one && strcmp(key, "format") == 0
				       ? "not with format = record or layout = batch"
				       : NULL;
	return "only in [tensor], since both files of a pair have one geometry; a "
	       "section with from has its own from, filter, channels, fill, format, "
	       "dtype and axes";
}

static bool is_field(const char *name)
{
	static const char *const taken[] = {
		"label", "image", "labels", "cls", "json", NULL};
	size_t n = strspn(name, LETTERS_DIGITS "_");
	for (size_t i = 0; taken[i]; i++)
		if (strcmp(name, taken[i]) == 0)
			return false;
	return n > 0 && n <= 32 && name[n] == '\0';
}

static void check_keys(
	struct ini *ini, const struct ini_section *section, const struct job_config *job)
{
	const char *format = ini_text(section, "format");
	for (size_t i = 0; i < config_n_options(); i++) {
		const char *allowed = section->values[i].text
					      ? allowed_key(job, config_option(i)->key)
					      : NULL;
		if (allowed)
			refuse(ini, section, config_option(i)->key, allowed);
	}
	if (format && (strcmp(format, "source") == 0 || strcmp(format, "record") == 0))
		refuse(ini, section, "format", "any other format with from");
}

static void check_pair(struct ini *ini, const struct ini_section *section,
	const struct job_config *job, size_t n)
{
	if (!is_field(section->name))
		refuse(ini, section, NULL,
			"with from: a name of 1 to 32 of A-Z a-z 0-9 _, but not label, "
			"labels, image, cls or json");
	if (n > 1)
		refuse(ini, section, NULL, "only one [tensor NAME] with from");
	if ((job->layout != LAYOUT_FLAT && job->layout != LAYOUT_TAR &&
		    job->layout != LAYOUT_BATCH) ||
		config_is_mixed(job))
		refuse(ini, section, "from",
			"only with layout = flat, tar or batch, and one dataset; for "
			"layout = mirror [tensor GLOB] without from");
	if (job->groups_directories)
		refuse(ini, section, "from", "not with group = directory");
	if (job->prepare || job->format == FORMAT_SOURCE)
		refuse(ini, section, "from", "not with prepare or format = source");
	if (job->n_targets > 0)
		refuse(ini, section, "from", "not with labels = columns");
	check_keys(ini, section, job);
}

static void check_glob(
	struct ini *ini, const struct ini_section *section, const struct job_config *job)
{
	const struct augment_config *augment = &job->augment;
	if (job->layout != LAYOUT_MIRROR)
		refuse(ini, section, NULL,
			"only with layout = mirror in [view], or with from");
	if (augment_fixed_size(augment) || augment->hflip > 0)
		refuse(ini, section, NULL,
			"not with random_crop, random_resized_crop or hflip in "
			"[augment], which would differ between the files of a sample");
	if (ini_text(section, "group") || ini_text(section, "frames"))
		refuse(ini, section, "frames", "only in [tensor]");
	if (job->prepare || ini_text(section, "prepare"))
		refuse(ini, section, "prepare", "not with [tensor GLOB]");
	if (job->format == FORMAT_SOURCE)
		refuse(ini, section, NULL, "not with format = source in [tensor]");
}

static void check(struct ini *ini, const struct ini_section *section,
	const struct job_config *job, size_t n)
{
	if (ini_text(section, "from"))
		check_pair(ini, section, job, n);
	else
		check_glob(ini, section, job);
	if (n > SECTIONS_MOST)
		ini_mistake(ini, section->line, section->label, NULL,
			"found %zu of [tensor GLOB], allowed: at most %d", n,
			SECTIONS_MOST);
}

static size_t count(const struct ini *ini)
{
	size_t n = 0;
	for (size_t i = 0; i < ini->n_sections; i++)
		n += ini->sections[i].id == SECTION_TENSOR && *ini->sections[i].name;
	return n;
}

/* Copies the sections to job->preparation, for code that knows only the preparation. */
static int give_to_preparation(struct job_config *job, const char *from)
{
	struct tensor_sections sections = {.n = job->n_sections};
	snprintf(sections.from, sizeof(sections.from), "%s", from ? from : "");
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
	const char *from = NULL;
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
		check(ini, section, job, n);
		from = ini_text(section, "from");
		if (ini->mistakes == mistakes)
			fill(ini, section, job, &job->sections[job->n_sections++]);
	}
	if (ini->mistakes == mistakes && !ini->err)
		ini->err = give_to_preparation(job, from);
}

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
