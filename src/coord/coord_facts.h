// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/* Compares, copies and checks the facts on which nodes must agree before they share an order. */

/* Tells whether a fact of this node's job `here` differs from that of the group's job `there`,
 * which has n_there samples. `text` then describes the first difference. */
bool coord_facts_differ(const struct coord_job *here, const struct coord_job *there,
	uint64_t n_there, char text[COORD_TEXT]);

/* Tells whether the group's log, which has `next` samples in `epoch`, ends before the place where
 * this node's job `here` begins. `text` then describes both places. */
bool coord_is_behind(const struct coord_job *here, uint32_t epoch, uint32_t next,
	char text[COORD_TEXT]);

/* Divides job->log among the ranks of the job. The job must outlive *append. The caller frees the
 * parts with coord_log_parts_free. -ENOMEM. */
must_check int coord_log_parts(const struct coord_job *job, struct coord_append *append);
void coord_log_parts_free(struct coord_append *append);

/* Copies the facts; coord_facts_free frees the copy. -ENOMEM. */
must_check int coord_facts_copy(const struct coord_job *facts, struct coord_job *ret);

/* Tells whether the name is allowed for a node, job or dataset. Characters that separate the parts
 * of an engine's keys are not allowed. */
bool coord_name_is_good(const char *name);
/* Tells whether the text has no control characters. */
bool coord_text_is_plain(const char *text);
/* Tells whether the engine's job `log` has these facts. Facts that `log` does not contain are not
 * compared. */
bool coord_is_same_job(const struct coord_job *facts, const struct coord_engine_job *log);
