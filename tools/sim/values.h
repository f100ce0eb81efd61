// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sim.h"

/* The options of a scenario's ini: section, key, allowed values, and a function that parses the
 * text into a field. The function gets the object of its section: the scenario, a dataset or a job.
 * It returns 0, -EINVAL (not allowed) or -ENOMEM. */

enum sim_section { SIM_SCENARIO, SIM_DATASET, SIM_JOB, SIM_SECTIONS };

struct sim_option {
	enum sim_section section;
	const char *key;
	const char *allowed;
	int (*parse)(void *object, const char *text);
};

extern const char *const sim_section_names[SIM_SECTIONS];
extern const struct sim_option sim_options[];
extern const size_t sim_n_options;

/* Returns NULL if the section has no such key. */
const struct sim_option *sim_option_find(enum sim_section section, const char *key);
/* Returns the nearest key of the section, or NULL. */
const char *sim_option_nearest(enum sim_section section, const char *key);
