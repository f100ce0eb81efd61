// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sim.h"

/* The options of a scenario's ini: section, key, allowed values, and a function that parses the
 * text into the field at `offset` of the section's object: the scenario, a dataset or a job. */

enum sim_section { SIM_SCENARIO, SIM_DATASET, SIM_JOB, SIM_SECTIONS };

struct sim_option {
	enum sim_section section;
	const char *key;
	const char *allowed;
	int (*parse)(const struct sim_option *option, void *field, const char *text);
	size_t offset;
	double least, most; /* bounds of a number */
};

extern const char *const sim_section_names[SIM_SECTIONS];
extern const struct sim_option sim_options[];
extern const size_t sim_n_options;

/* Returns 0, -EINVAL (not allowed) or -ENOMEM. */
must_check int sim_option_parse(
	const struct sim_option *option, void *object, const char *text);
/* Returns NULL if the section has no such key. */
const struct sim_option *sim_option_find(enum sim_section section, const char *key);
/* Returns the section's key that is most similar to `key`, or NULL (config_nearest). */
const char *sim_option_nearest(enum sim_section section, const char *key);
