// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/coord_engine.h"

/* What nodes must agree upon before they share an order. */

/* Whether a job here is another one than that in the group, of n_there samples; text says
 * which fact differs. */
bool coord_facts_differ(const struct coord_job *here, const struct coord_job *there,
	uint64_t n_there, char text[COORD_TEXT]);

/* Whether the job goes on later here than at this place, where the group is; text says so. */
bool coord_is_behind(const struct coord_job *here, uint32_t epoch, uint32_t next,
	char text[COORD_TEXT]);

/* The log that a job goes on from, divided among its ranks: coord_log_parts_free. The job
 * lives longer. */
must_check int coord_log_parts(const struct coord_job *job, struct coord_append *append);
void coord_log_parts_free(struct coord_append *append);

must_check int coord_facts_copy(const struct coord_job *facts, struct coord_job *ret);

/* Of a node, job or dataset: nothing that the keys of an engine are made with. */
bool coord_name_is_good(const char *name);
bool coord_text_is_plain(const char *text); /* without control characters */
/* Whether the engine has the job with these facts. */
bool coord_is_same_job(const struct coord_job *facts, const struct coord_engine_job *log);
