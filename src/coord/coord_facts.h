// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/* Compares, copies and checks the facts that nodes must agree upon before they share an order. */

/* Tells whether a fact of the job here differs from the group's job, which has n_there samples.
 * text says which. */
bool coord_facts_differ(const struct coord_job *here, const struct coord_job *there,
	uint64_t n_there, char text[COORD_TEXT]);

/* Tells whether the group's log, which is at epoch and next, is behind the place where the job here
 * goes on. text says so. */
bool coord_is_behind(const struct coord_job *here, uint32_t epoch, uint32_t next,
	char text[COORD_TEXT]);

/* Divides the log that a job goes on from among its ranks. The caller frees the parts with
 * coord_log_parts_free; the job lives longer. -ENOMEM. */
must_check int coord_log_parts(const struct coord_job *job, struct coord_append *append);
void coord_log_parts_free(struct coord_append *append);

/* Copies the facts; coord_facts_free frees the copy. -ENOMEM. */
must_check int coord_facts_copy(const struct coord_job *facts, struct coord_job *ret);

/* Tells whether a node, job or dataset may have this name. Characters with which an engine builds
 * its keys are not allowed. */
bool coord_name_is_good(const char *name);
/* Tells whether the text has no control characters. */
bool coord_text_is_plain(const char *text);
/* Tells whether the engine's job has these facts, as far as `log` tells them. */
bool coord_is_same_job(const struct coord_job *facts, const struct coord_engine_job *log);
