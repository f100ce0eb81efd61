// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/open_file_ops.h"

struct sched_job;

/*
 * Open texts. An open makes the text, and reads return parts of it. If an earlier engine opened the
 * file, the first read makes the text again, with its present content. The text of an order is not
 * kept between reads: each read makes the part that it needs.
 *
 *   text_file_ops    the tree's texts
 *   order_file_ops   epoch-NNNN.order
 *   ..._of_sample    a sample's JSON, and the texts beside the sample (beside.h); their opens begin
 *                    in opening.c, because they bind a position to a sample
 *
 *   Threads: any.   Locks: none while replying or printing.
 */
extern const struct open_file_ops text_file_ops, order_file_ops;

/* Finds the size of a text file by rendering or measuring the text. */
must_check int text_file_size(struct session *session, struct inode inode, uint64_t *ret);

/* Answers the open of a sample's text, after the position was bound to the sample. */
void text_file_open_of_sample(const struct request *request, struct sched_job *job,
	uint32_t epoch, sample_id sample);
/* Answers a read of a sample's text that an earlier engine opened. */
void text_file_again_of_sample(
	const struct request *request, struct sched_job *job, sample_id sample);

/* The functions of open_file_ops.h for a sample's text. */
void text_file_read(const struct request *request, struct open_file *file);
void text_file_end(struct open_file *file);
