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

static int parse_text(char **field, const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static int parse_u64(uint64_t *field, const char *text, uint64_t min, uint64_t max)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || value < min ||
		value > max)
		return -EINVAL;
	*field = value;
	return 0;
}

static int parse_u32(uint32_t *field, const char *text, uint32_t min, uint32_t max)
{
	uint64_t value;
	int err = parse_u64(&value, text, min, max);
	if (!err)
		*field = (uint32_t)value;
	return err;
}

static int parse_double(double *field, const char *text, double min, double max)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || !(value >= min && value <= max))
		return -EINVAL;
	*field = value;
	return 0;
}

/* Parses each word into an element of a new array, which replaces *ret. */
static int each_word(const char *text, size_t size, void **ret, size_t *ret_n,
	int (*parse)(void *field, const char *word))
{
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
	free(*ret);
	*ret = fields;
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

/* --- [scenario] -------------------------------------------------------------------- */

#define SCENARIO struct sim_scenario *scenario = object

static int scenario_title(void *object, const char *text)
{
	SCENARIO;
	return parse_text(&scenario->title, text);
}

static int scenario_note(void *object, const char *text)
{
	SCENARIO;
	return parse_text(&scenario->note, text);
}

static int scenario_sampler(void *object, const char *text)
{
	SCENARIO;
	void *list = scenario->samplers;
	int err = each_word(text, sizeof(*scenario->samplers), &list,
		&scenario->n_samplers, one_sampler);
	scenario->samplers = list;
	return err;
}

static int scenario_eviction(void *object, const char *text)
{
	SCENARIO;
	void *list = scenario->evictions;
	int err = each_word(text, sizeof(*scenario->evictions), &list,
		&scenario->n_evictions, one_eviction);
	scenario->evictions = list;
	return err;
}

static int scenario_cache(void *object, const char *text)
{
	SCENARIO;
	void *list = scenario->caches;
	int err = each_word(
		text, sizeof(*scenario->caches), &list, &scenario->n_caches, one_cache);
	scenario->caches = list;
	return err;
}

static int scenario_labels(void *object, const char *text)
{
	SCENARIO;
	return parse_u32(&scenario->labels, text, 0, MAX_ID);
}

static int scenario_lookahead(void *object, const char *text)
{
	SCENARIO;
	return parse_u32(&scenario->lookahead, text, 0, 65536);
}

static int scenario_sample_bytes(void *object, const char *text)
{
	SCENARIO;
	char *end;
	double value = strtod(text, &end), unit = *end ? unit_of(end) : 1;
	if (end == text || !(value * unit >= 1 && value * unit <= 1e12))
		return -EINVAL;
	scenario->sample_bytes = value * unit;
	return 0;
}

static int scenario_runs(void *object, const char *text)
{
	SCENARIO;
	return parse_u32(&scenario->runs, text, 1, 1000);
}

static int scenario_warmup(void *object, const char *text)
{
	SCENARIO;
	return parse_double(&scenario->warmup, text, 0, 1000);
}

static int scenario_length(void *object, const char *text)
{
	SCENARIO;
	return parse_double(&scenario->length, text, 0, 1000);
}

static int scenario_seed(void *object, const char *text)
{
	SCENARIO;
	return parse_u64(&scenario->seed, text, 0, UINT64_MAX);
}

/* --- [dataset NAME] ---------------------------------------------------------------- */

/* Parses FIRST-LAST, or sample(BELOW,SIZE): SIZE random ids from 0 .. BELOW-1. */
static int dataset_ids(void *object, const char *text)
{
	struct sim_dataset *dataset = object;
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

/* --- [job NAME] -------------------------------------------------------------------- */

#define JOB struct sim_job *job = object

static int job_dataset(void *object, const char *text)
{
	JOB;
	return parse_text(&job->dataset_name, text);
}

static int job_speed(void *object, const char *text)
{
	JOB;
	return parse_double(&job->speed, text, 1e-3, 1e6);
}

static int job_start(void *object, const char *text)
{
	JOB;
	return parse_double(&job->start, text, 0, 1000);
}

static int job_epochs(void *object, const char *text)
{
	JOB;
	job->epochs = 0;
	return strcmp(text, "on") == 0 ? 0 : parse_u32(&job->epochs, text, 1, 100000);
}

const char *const sim_section_names[SIM_SECTIONS] = {"scenario", "dataset", "job"};

#define TEXT "any text"
#define EPOCHS_OF_TIME "0 to 1000 (epochs of time)"

const struct sim_option sim_options[] = {
	{SIM_SCENARIO, "title", TEXT, scenario_title},
	{SIM_SCENARIO, "note", TEXT, scenario_note},
	{SIM_SCENARIO, "sampler", "dsa, isa, exchange, dsa-tree, one or several",
		scenario_sampler},
	{SIM_SCENARIO, "eviction", "refcnt, lru, fifo, random, one or several",
		scenario_eviction},
	{SIM_SCENARIO, "cache",
		"sizes, one or several: samples (1 to 100000000), a part of all (above "
		"0% to 100%), or bytes (64M, 100G)",
		scenario_cache},
	{SIM_SCENARIO, "bytes-per-sample",
		"bytes of a prepared sample, as 150528 or 147K", scenario_sample_bytes},
	{SIM_SCENARIO, "labels", "0 to 100000000", scenario_labels},
	{SIM_SCENARIO, "lookahead", "0 to 65536", scenario_lookahead},
	{SIM_SCENARIO, "runs", "1 to 1000", scenario_runs},
	{SIM_SCENARIO, "warmup", EPOCHS_OF_TIME, scenario_warmup},
	{SIM_SCENARIO, "length", EPOCHS_OF_TIME, scenario_length},
	{SIM_SCENARIO, "seed", "0 to 18446744073709551615", scenario_seed},
	{SIM_DATASET, "ids",
		"FIRST-LAST, or sample(N,K) for K of the ids below N, up to 100000000",
		dataset_ids},
	{SIM_JOB, "dataset", "the name of a [dataset NAME]", job_dataset},
	{SIM_JOB, "speed", "0.001 to 1000000 (relative to the other jobs)", job_speed},
	{SIM_JOB, "start", EPOCHS_OF_TIME, job_start},
	{SIM_JOB, "epochs", "1 to 100000, or on", job_epochs},
};
const size_t sim_n_options = LENGTH(sim_options);

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
