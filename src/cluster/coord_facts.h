// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/coord_engine.h"

/* What nodes must agree upon before they share an order. */

/* Whether a job here is another one than that in the group, of n_there samples; text says
 * which fact differs. */
bool coord_facts_differ(const struct coord_job *here, const struct coord_job *there,
	uint64_t n_there, char text[COORD_TEXT]);

must_check int coord_facts_copy(const struct coord_job *facts, struct coord_job *ret);

/* Of a node, job or dataset: nothing that the keys of an engine are made with. */
bool coord_name_is_good(const char *name);
