// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "values.h"
#include "sim_sampler.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ID 100000000u
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static int parse_text(const struct sim_option *option, void *field, const char *text)
{
	char **ret = field, *copy = strdup(text);
	(void)option;
	if (!copy)
		return -ENOMEM;
	free(*ret);
	*ret = copy;
	return 0;
}

static int parse_u64(const struct sim_option *option, void *field, const char *text)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno ||
		(double)value < option->least || (double)value > option->most)
		return -EINVAL;
	*(uint64_t *)field = value;
	return 0;
}

static int parse_u32(const struct sim_option *option, void *field, const char *text)
{
	uint64_t value;
	int err = parse_u64(option, &value, text);
	if (!err)
		*(uint32_t *)field = (uint32_t)value;
	return err;
}

static int parse_double(const struct sim_option *option, void *field, const char *text)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || !(value >= option->least && value <= option->most))
		return -EINVAL;
	*(double *)field = value;
	return 0;
}

/* Parses each word into an element, of `size` bytes, of a new array. ret: the address of a pointer.
 * Frees the old array to which that pointer points, and makes it point to the new one. */
static int each_word(const char *text, size_t size, void *ret, size_t *ret_n,
	int (*parse)(void *field, const char *word))
{
	void *old;
	auto_free char *words = strdup(text);
	auto_free char *fields = calloc(strlen(text) / 2 + 1, size);
	size_t n = 0;
	char *rest = NULL;
	if (!words || !fields)
		return -ENOMEM;
	for (char *word = strtok_r(words, " \t,", &rest); word;
		word = strtok_r(NULL, " \t,", &rest)) {
		int err = parse(fields + n++ * size, word);
		if (err)
			return err;
	}
	if (n == 0)
		return -EINVAL;
	memcpy(&old, ret, sizeof(old));
	free(old);
	memcpy(ret, &fields, sizeof(fields));
	*ret_n = n;
	fields = NULL;
	return 0;
}

static const char *const samplers[] = {[SAMPLER_DSA] = "dsa",
	[SAMPLER_ISA] = "isa",
	[SAMPLER_EXCHANGE] = "exchange",
	/* The sampler is not simulated: without shuffling there is nothing to compare. */
	[SAMPLER_SEQUENTIAL] = "",
	[SAMPLER_DSA_TREE] = "dsa-tree"};
static const char *const evictions[] = {[EVICTION_REFCNT] = "refcnt",
	[EVICTION_LRU] = "lru",
	[EVICTION_FIFO] = "fifo",
	[EVICTION_RANDOM] = "random"};

const char *sim_sampler_name(enum sampler_kind kind)
{
	return samplers[kind];
}

const char *sim_eviction_name(enum eviction_policy policy)
{
	return evictions[policy];
}

static int find_word(const char *const *words, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return (int)i;
	return -EINVAL;
}

static int one_sampler(void *field, const char *word)
{
	int i = find_word(samplers, LENGTH(samplers), word);
	*(enum sampler_kind *)field = i < 0 ? 0 : (enum sampler_kind)i;
	return i < 0 ? i : 0;
}

static int one_eviction(void *field, const char *word)
{
	int i = find_word(evictions, LENGTH(evictions), word);
	*(enum eviction_policy *)field = i < 0 ? 0 : (enum eviction_policy)i;
	return i < 0 ? i : 0;
}

/* Returns the factor of a unit; 0: the text is not a unit. */
static double unit_of(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit = text[0] && !text[1] ? strchr(units, text[0]) : NULL;
	return unit ? ldexp(1, 10 * (int)(unit - units + 1)) : 0;
}

static int one_cache(void *field, const char *word)
{
	struct sim_size *size = field;
	char *end;
	double value = strtod(word, &end), unit = end == word ? 0 : unit_of(end);
	*size = (struct sim_size){.value = value};
	if (end == word || !(value > 0))
		return -EINVAL;
	if (unit > 0) {
		size->bytes = true;
		size->value = value * unit;
		return value < 1e15 ? 0 : -EINVAL;
	}
	if (strcmp(end, "%") == 0) {
		size->fraction = true;
		size->value = value / 100;
		return value <= 100 ? 0 : -EINVAL;
	}
	return !*end && value >= 1 && value <= MAX_ID && value == floor(value) ? 0
									       : -EINVAL;
}

/* --- options that set several members; their field is the whole object ----------- */

static int scenario_sampler(
	const struct sim_option *option, void *object, const char *text)
{
	struct sim_scenario *scenario = object;
	(void)option;
	return each_word(text, sizeof(*scenario->samplers), &scenario->samplers,
		&scenario->n_samplers, one_sampler);
}

static int scenario_eviction(
	const struct sim_option *option, void *object, const char *text)
{
	struct sim_scenario *scenario = object;
	(void)option;
	return each_word(text, sizeof(*scenario->evictions), &scenario->evictions,
		&scenario->n_evictions, one_eviction);
}

static int scenario_cache(const struct sim_option *option, void *object, const char *text)
{
	struct sim_scenario *scenario = object;
	(void)option;
	return each_word(text, sizeof(*scenario->caches), &scenario->caches,
		&scenario->n_caches, one_cache);
}

/* Parses FIRST-LAST, or sample(BELOW,SIZE): SIZE random ids from 0 .. BELOW-1. */
static int dataset_ids(const struct sim_option *option, void *object, const char *text)
{
	struct sim_dataset *dataset = object;
	(void)option;
	unsigned first, last, below, size;
	int end = 0;
	if (strspn(text, "sample(), -0123456789") != strlen(text))
		return -EINVAL;
	if (sscanf(text, "sample ( %9u , %9u )%n", &below, &size, &end) == 2 && end > 0 &&
		!text[end]) {
		*dataset = (struct sim_dataset){.name = dataset->name,
			.sample = true,
			.end = below,
			.size = size};
		return size >= 1 && size <= below && below <= MAX_ID ? 0 : -EINVAL;
	}
	if (sscanf(text, "%9u-%9u%n", &first, &last, &end) != 2 || text[end])
		return -EINVAL;
	if (first > last || last >= MAX_ID)
		return -EINVAL;
	*dataset = (struct sim_dataset){.name = dataset->name,
		.first = first,
		.end = last + 1,
		.size = last + 1 - first};
	return 0;
}

/* --- other options ----------------------------------------------------------------- */

static int parse_bytes(const struct sim_option *option, void *field, const char *text)
{
	char *end;
	double value = strtod(text, &end), unit = *end ? unit_of(end) : 1;
	if (end == text ||
		!(value * unit >= option->least && value * unit <= option->most))
		return -EINVAL;
	*(double *)field = value * unit;
	return 0;
}

static int parse_epochs(const struct sim_option *option, void *field, const char *text)
{
	*(uint32_t *)field = 0;
	return strcmp(text, "on") == 0 ? 0 : parse_u32(option, field, text);
}

const char *const sim_section_names[SIM_SECTIONS] = {"scenario", "dataset", "job"};

#define TEXT "any text"
#define EPOCHS_OF_TIME "0 to 1000 (epochs of time)"
#define SCENARIO(member) .offset = offsetof(struct sim_scenario, member)
#define JOB(member) .offset = offsetof(struct sim_job, member)

const struct sim_option sim_options[] = {
	{SIM_SCENARIO, "title", TEXT, parse_text, SCENARIO(title)},
	{SIM_SCENARIO, "note", TEXT, parse_text, SCENARIO(note)},
	{SIM_SCENARIO, "sampler", "dsa, isa, exchange, dsa-tree, one or several",
		scenario_sampler, .offset = 0},
	{SIM_SCENARIO, "eviction", "refcnt, lru, fifo, random, one or several",
		scenario_eviction, .offset = 0},
	{SIM_SCENARIO, "cache",
		"sizes, one or several: samples (1 to 100000000), a part of all (above "
		"0% to 100%), or bytes (64M, 100G)",
		scenario_cache, .offset = 0},
	{SIM_SCENARIO, "bytes-per-sample",
		"bytes of a prepared sample, as 150528 or 147K", parse_bytes,
		SCENARIO(sample_bytes), 1, 1e12},
	{SIM_SCENARIO, "labels", "0 to 100000000", parse_u32, SCENARIO(labels), 0,
		MAX_ID},
	{SIM_SCENARIO, "lookahead", "0 to 65536", parse_u32, SCENARIO(lookahead), 0,
		65536},
	{SIM_SCENARIO, "runs", "1 to 1000", parse_u32, SCENARIO(runs), 1, 1000},
	{SIM_SCENARIO, "warmup", EPOCHS_OF_TIME, parse_double, SCENARIO(warmup), 0, 1000},
	{SIM_SCENARIO, "length", EPOCHS_OF_TIME, parse_double, SCENARIO(length), 0, 1000},
	{SIM_SCENARIO, "seed", "0 to 18446744073709551615", parse_u64, SCENARIO(seed), 0,
		0x1p64},
	{SIM_DATASET, "ids",
		"FIRST-LAST, or sample(N,K) for K of the ids below N, up to 100000000",
		dataset_ids, .offset = 0},
	{SIM_JOB, "dataset", "the name of a [dataset NAME]", parse_text,
		JOB(dataset_name)},
	{SIM_JOB, "speed", "0.001 to 1000000 (relative to the other jobs)", parse_double,
		JOB(speed), 1e-3, 1e6},
	{SIM_JOB, "start", EPOCHS_OF_TIME, parse_double, JOB(start), 0, 1000},
	{SIM_JOB, "epochs", "1 to 100000, or on", parse_epochs, JOB(epochs), 1, 100000},
};
const size_t sim_n_options = LENGTH(sim_options);

int sim_option_parse(const struct sim_option *option, void *object, const char *text)
{
	return option->parse(option, (char *)object + option->offset, text);
}

const struct sim_option *sim_option_find(enum sim_section section, const char *key)
{
	for (size_t i = 0; i < sim_n_options; i++)
		if (sim_options[i].section == section &&
			strcmp(sim_options[i].key, key) == 0)
			return &sim_options[i];
	return NULL;
}

const char *sim_option_nearest(enum sim_section section, const char *key)
{
	const char *names[LENGTH(sim_options)];
	size_t n = 0;
	for (size_t i = 0; i < sim_n_options; i++)
		if (sim_options[i].section == section)
			names[n++] = sim_options[i].key;
	return config_nearest(key, names, n);
}
