// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/edition.h"
#include "state/checkpoint.h"
#include "state/state.h"

/* Functions that several files of state need. Constraints on threads and locks are as in
 * state.h. */

/* Sets restoring->message, and returns -EINVAL. */
int restore_refuse(struct restoring *restoring, const char *format, ...)
	printf_like(2, 3);
/* Checks that the job can go to the epoch of the checkpoint, or to restoring->at_epoch. -EINVAL,
 * with a message. */
must_check int restore_check_target(struct job *job, struct restoring *restoring);
/* Returns the edition of the epoch, without a reference. The caller must be the clerk, which alone
 * frees editions, or the thread that adds the job. */
struct edition *restore_edition(struct job *job, uint32_t epoch);
/* Returns the epochs of the orders in the job's directory, and their numbers of bindings. The
 * caller frees *ret. */
must_check int restore_list_orders(
	struct job *job, struct epochs_order_file **ret, size_t *ret_n);
