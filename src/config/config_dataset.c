// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <errno.h>
#include <string.h>

/* Reports each section that is no [dataset NAME], because an ini that adds datasets to a running
 * daemon must not have other sections. */
static void refuse_others(struct ini *ini)
{
	for (size_t i = 0; i < ini->n_sections; i++) {
		const struct ini_section *section = &ini->sections[i];
		if (section->id != SECTION_DATASET)
			ini_mistake(ini, section->line, section->label, NULL,
				"found [%s], allowed: [dataset NAME]", section->label);
	}
}

static int finish(struct ini *ini, enum sampler_kind sampler, struct dataset_config **ret,
	size_t *ret_n)
{
	struct daemon_config daemon = {.sampler = sampler};
	refuse_others(ini);
	if (!ini->unusable && !ini->err)
		config_fill_datasets(ini, &daemon);
	int err = ini_result(ini);
	if (err) {
		config_daemon_free(&daemon);
		return err;
	}
	*ret = daemon.datasets;
	*ret_n = daemon.n_datasets;
	return 0;
}

int config_parse_datasets(const char *file, const char *text, enum sampler_kind sampler,
	config_report *report, void *context, struct dataset_config **ret, size_t *ret_n)
{
	struct ini ini = {
		.file = file, .kind = INI_DAEMON, .report = report, .context = context};
	int err = ini_read(&ini, text);
	if (!err)
		err = finish(&ini, sampler, ret, ret_n);
	ini_free(&ini);
	return err;
}

int config_dataset_copy(const struct dataset_config *from, struct dataset_config *ret)
{
	*ret = *from;
	int err = config_copy_fields(SECTION_DATASET, from, ret);
	ret->name = strdup(from->name);
	if (!ret->name)
		err = -ENOMEM;
	if (err)
		config_dataset_free(ret);
	return err;
}

void config_dataset_free(struct dataset_config *config)
{
	config_free_fields(SECTION_DATASET, config);
	free(config->name);
	*config = (struct dataset_config){0};
}

void config_print_dataset(FILE *out, const struct dataset_config *config)
{
	fprintf(out, "[dataset %s]\n", config->name);
	for (size_t i = 0; i < config_n_options(); i++) {
		const struct option *option = config_option(i);
		if (option->section == SECTION_DATASET)
			option->type->print(
				option, (const char *)config + option->offset, out);
	}
}

int config_add_dataset(struct daemon_config *config, struct dataset_config *dataset)
{
	size_t n = config->n_datasets;
	struct dataset_config *more =
		reallocarray(config->datasets, n + 1, sizeof(*more));
	if (!more) {
		config_dataset_free(dataset);
		return -ENOMEM;
	}
	config->datasets = more;
	more[config->n_datasets++] = *dataset;
	return 0;
}
