// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/open_file_ops.h"

struct sched_job;

/*
 * Open labels. Their opens go through opening.c, since the epoch may have to begin first.
 *
 *   opening_start -> (parked) -> label_file_opened -> reads -> open_file_close
 *
 * The open of a label that its position keeps for ever (sched_label) is answered at once, and
 * binds nothing.
 *
 *   Threads: any.   Locks: none while replying.
 */

/* Answers the open of a label. epoch: as in a handle. */
void label_file_opened(const struct request *request, struct sched_job *job,
	uint32_t epoch, uint32_t label);
/* Answers a read of a label that an earlier engine has opened. */
void label_file_read_again(
	const struct request *request, struct sched_job *job, uint32_t label);

/* The functions of open_file_ops.h for labels. */
void label_file_read(const struct request *request, struct open_file *file);
must_check int label_file_outlives(const struct request *request, struct open_file **ret);
void label_file_end(struct open_file *file);

/* Frees the session's list of files that labels are read from. */
void label_texts_free(struct session *session);
