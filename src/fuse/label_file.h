// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/open_file_ops.h"

struct sched_job;

/*
 * Open labels. The open of a label begins in opening.c, because it may have to wait until the epoch
 * begins. If the label of a position never changes (sched_label), the open is answered at once, and
 * does not bind the position to a sample.
 *
 *   Flow: opening_start -> (waits) -> label_file_opened -> reads -> open_file_close
 *   Threads: any.   Locks: none while replying.
 */

/* Answers the open of a label. epoch: the epoch for the file's handle, or INODE_CURRENT if the file
 * is in current/ and has the same label in all epochs. */
void label_file_opened(const struct request *request, struct sched_job *job,
	uint32_t epoch, uint32_t label);
/* Answers a read of a label that an earlier engine opened. */
void label_file_read_again(
	const struct request *request, struct sched_job *job, uint32_t label);

/* The functions of open_file_ops.h for labels. */
void label_file_read(const struct request *request, struct open_file *file);
must_check int label_file_outlives(const struct request *request, struct open_file **ret);

void label_texts_free(struct session *session);
