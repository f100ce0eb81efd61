// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/* The facts of a job: the fields of coord_job on which nodes must agree to share an order. */

/* Tells whether this node's job `here` and the group's job `there` differ in a fact. `text` then
 * describes the first difference. n_there: number of samples of `there`. */
bool coord_facts_differ(const struct coord_job *here, const struct coord_job *there,
	uint64_t n_there, char text[COORD_TEXT]);

/* Tells whether the group's log is too short: it ends after `next` samples of `epoch`, but this
 * node's job `here` begins at a later position. If so, `text` has both positions. */
bool coord_is_behind(const struct coord_job *here, uint32_t epoch, uint32_t next,
	char text[COORD_TEXT]);

/* Returns the samples of job->log in the order of coord_append.ids. The caller frees the array.
 * NULL: no memory. */
sample_id *coord_log_parts(const struct coord_job *job);

/* Copies the facts. coord_facts_free frees the copy. -ENOMEM. */
must_check int coord_facts_copy(const struct coord_job *facts, struct coord_job *ret);

/* Tells whether a node, job or dataset may have the name: it is not empty, shorter than COORD_NAME,
 * and has no control character and no character that separates parts of an engine's keys. */
bool coord_name_is_good(const char *name);
/* Tells whether the text has no control characters. */
bool coord_text_is_plain(const char *text);
/* Tells whether the engine's job `log` equals `facts` in number of ranks, batch, number of samples
 * and fingerprint. */
bool coord_is_same_job(const struct coord_job *facts, const struct coord_engine_job *log);
