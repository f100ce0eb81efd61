// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/edition.h"
#include "state/checkpoint.h"
#include "state/state.h"

/* Functions that only the files of src/state call. Threads and locks: see state.h. */

/* Sets restoring->message. Returns -EINVAL. */
int restore_refuse(struct restoring *restoring, const char *format, ...)
	printf_like(2, 3);
/* Checks only the epoch and the position to which the job goes. -EINVAL, with a message. */
must_check int restore_check_target(struct job *job, struct restoring *restoring);
/* Returns the epoch's edition. No reference is needed, because the caller is the clerk, which alone
 * frees editions, or the thread that adds the job. */
struct edition *restore_edition(struct job *job, uint32_t epoch);
/* Lists the orders in the job's directory. The caller frees *ret. */
must_check int restore_list_orders(
	struct job *job, struct epochs_order_file **ret, size_t *ret_n);
