// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

/* Opens the datasets that exist when the daemon starts. */

static int is_ini(const struct dirent *entry)
{
	return fnmatch("*.ini", entry->d_name, FNM_PERIOD) == 0;
}

/* Tells whether the configuration lacks a dataset of this name. Otherwise the dataset of this name
 * that joaderctl has added is ignored. */
static bool is_new(const struct daemon_config *config, const char *name)
{
	for (size_t i = 0; i < config->n_datasets; i++)
		if (strcmp(config->datasets[i].name, name) == 0)
			return false;
	return true;
}

static void choose_look(struct dataset_config *config, const char *stay)
{
	auto_free char *line = NULL;
	if (asprintf(&line, "\n%s\n", config->name) < 0)
		line = NULL;
	if (config->look == LOOK_BEHIND && (!line || strstr(stay, line)))
		config->look = LOOK_BEFORE;
}

/* Opens the datasets in an ini that joaderctl has written. A dataset that can't be opened is logged
 * and left out; the only error is -ENOMEM. */
static int open_added(struct daemon_config *config, const char *stay,
	struct dataset ***datasets, const char *file)
{
	struct dataset_config *added = NULL;
	size_t n = 0;
	int err = config_load_datasets(
		file, config->sampler, config_report_to_log, NULL, &added, &n);
	for (size_t i = 0; i < n; i++) {
		struct dataset **more =
			reallocarray(*datasets, config->n_datasets + 1, sizeof(*more));
		*datasets = more ? more : *datasets;
		choose_look(&added[i], stay);
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

/* Opens all datasets that joaderctl has added. */
static int open_all_added(
	struct daemon_config *config, const char *stay, struct dataset ***datasets)
{
	auto_free char *directory = NULL;
	struct dirent **entries = NULL;
	int err = 0;
	if (asprintf(&directory, "%s/datasets", config->state) < 0) {
		directory = NULL;
		return -ENOMEM;
	}
	int n = scandir(directory, &entries, is_ini, alphasort);
	for (int i = 0; i < n; i++) {
		auto_free char *file = NULL;
		if (asprintf(&file, "%s/%s", directory, entries[i]->d_name) < 0)
			file = NULL;
		if (!err)
			err = file ? open_added(config, stay, datasets, file) : -ENOMEM;
		free(entries[i]);
	}
	free(entries);
	return err;
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
