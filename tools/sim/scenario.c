// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sim_sampler.h"
#include "values.h"

#include <errno.h>
#include <string.h>

static int read_file(const char *path, char **ret)
{
	auto_fclose FILE *file = fopen(path, "re");
	size_t size = 0;
	*ret = NULL;
	if (!file)
		return -errno;
	errno = 0;
	if (getdelim(ret, &size, '\0', file) < 0 && errno)
		return -errno;
	return *ret ? 0 : -ENODATA;
}

static int load_file(const char *path, struct sim_scenario *ret)
{
	auto_free char *text = NULL;
	int err = read_file(path, &text);
	if (err) {
		fprintf(stderr, "joader-sim: %s: %s\n", path, strerror(-err));
		return err;
	}
	return sim_parse(path, text, ret);
}

static int unknown(const char *name)
{
	const char *names[64];
	size_t n = 0;
	while (n < sizeof(names) / sizeof(names[0]) && sim_builtins[n].name) {
		names[n] = sim_builtins[n].name;
		n++;
	}
	const char *nearest = config_nearest(name, names, n);
	fprintf(stderr,
		"joader-sim: found \"%s\", allowed: a scenario of --list, or the path of "
		"an ini%s%s%s\n",
		name, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
		nearest ? "\"?" : "");
	return -EINVAL;
}

int sim_load(const char *name, struct sim_scenario *ret)
{
	size_t length = strlen(name);
	if (strchr(name, '/') || (length > 4 && strcmp(name + length - 4, ".ini") == 0))
		return load_file(name, ret);
	for (const struct sim_builtin *b = sim_builtins; b->name; b++)
		if (strcmp(b->name, name) == 0)
			return sim_parse(name, b->text, ret);
	return unknown(name);
}

int sim_override(struct sim_scenario *scenario, const char *key, const char *value)
{
	const struct sim_option *option = sim_option_find(SIM_SCENARIO, key);
	int err = sim_option_parse(option, scenario, value);
	if (err == -EINVAL)
		fprintf(stderr, "joader-sim: --%s: found \"%s\", allowed: %s\n", key,
			value, option->allowed);
	return err;
}

static int contradiction(const struct sim_scenario *scenario, const char *text)
{
	fprintf(stderr, "joader-sim: %s: %s\n", scenario->name, text);
	return -EINVAL;
}

static int check_bytes(const struct sim_scenario *scenario)
{
	for (size_t i = 0; i < scenario->n_caches && scenario->sample_bytes == 0; i++)
		if (scenario->caches[i].bytes)
			return contradiction(scenario,
				"a cache in bytes needs bytes-per-sample; "
				"MOUNT/datasets/NAME/info tells it (prepared), and "
				"--dataset "
				"takes it from there");
	return 0;
}

int sim_check(struct sim_scenario *scenario)
{
	int err = check_bytes(scenario);
	if (err)
		return err;
	for (size_t i = 0; i < scenario->n_jobs; i++)
		if (!scenario->jobs[i].epochs && !(scenario->length > 0))
			return contradiction(
				scenario, "a job with epochs = on needs a length");
	if (!scenario->labels)
		return 0;
	if (scenario->lookahead)
		return contradiction(scenario, "labels and lookahead exclude each other");
	for (size_t i = 0; i < scenario->n_samplers; i++)
		if (scenario->samplers[i] == SAMPLER_DSA ||
			scenario->samplers[i] == SAMPLER_DSA_TREE)
			return contradiction(scenario,
				"with labels, where scripts shuffle, sampler is exchange "
				"or isa");
	return 0;
}
