// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "dataset/dataset.h"

#include <errno.h>
#include <string.h>

/* An added dataset is ignored if the configuration has a dataset of the same name. */
static bool is_new(const struct daemon_config *config, const char *name)
{
	for (size_t i = 0; i < config->n_datasets; i++)
		if (strcmp(config->datasets[i].name, name) == 0)
			return false;
	return true;
}

static void choose_look(struct dataset_config *config, const char *stay)
{
	auto_free char *line = aprintf("\n%s\n", config->name);
	if (config->look == LOOK_BEHIND && (!line || strstr(stay, line)))
		config->look = LOOK_BEFORE;
}

struct opening {
	struct daemon_config *config;
	const char *stay;
	struct dataset ***datasets;
};

/* Opens the datasets that joaderctl has added, from the ini `file`. Leaves out, and logs, those
 * that can't be opened. Returns 0 or -ENOMEM. */
static int open_added(void *context, const char *file)
{
	struct opening *opening = context;
	struct daemon_config *config = opening->config;
	struct dataset ***datasets = opening->datasets;
	struct dataset_config *added = NULL;
	size_t n = 0;
	int err = config_parse_datasets(
		file, NULL, config->sampler, config_report_to_log, NULL, &added, &n);
	for (size_t i = 0; i < n; i++) {
		struct dataset **more =
			reallocarray(*datasets, config->n_datasets + 1, sizeof(*more));
		*datasets = more ? more : *datasets;
		choose_look(&added[i], opening->stay);
		if (!more || err == -ENOMEM || !is_new(config, added[i].name) ||
			dataset_open(&added[i], config->state, NULL,
				&more[config->n_datasets]) != 0)
			config_dataset_free(&added[i]);
		else if ((err = config_add_dataset(config, &added[i])) != 0)
			dataset_close(&more[config->n_datasets]);
	}
	free(added);
	return err == -ENOMEM ? err : 0;
}

static int open_all_added(
	struct daemon_config *config, const char *stay, struct dataset ***datasets)
{
	struct opening opening = {.config = config, .stay = stay, .datasets = datasets};
	auto_free char *directory = aprintf("%s/datasets", config->state);
	if (!directory)
		return -ENOMEM;
	int err = config_each_ini(directory, open_added, &opening);
	return err == -ENOMEM ? err : 0;
}

int datasets_open(struct daemon_config *config, const char *stay, struct dataset ***ret)
{
	size_t n = config->n_datasets;
	*ret = calloc(n, sizeof(struct dataset *));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		choose_look(&config->datasets[i], stay);
		int err = dataset_open(
			&config->datasets[i], config->state, NULL, &(*ret)[i]);
		if (err)
			return err;
	}
	return open_all_added(config, stay, ret);
}
