// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>

/*
 * Labels of the classes of several datasets, as a file has them: a line for each class,
 *
 *     photos/cat 0
 *     sketches/kitty 0
 *
 * Empty lines and those that begin with # are passed over, and so are classes that no dataset
 * has: several mixtures may have one table.
 *
 *   Threads: any, after label_table_read.
 *   Errors: -EINVAL, and the message of what is wrong, which the caller frees; -errno.
 */

struct label_table;

must_check int label_table_read(
	const char *path, struct label_table **ret, char **ret_message);
void label_table_free(struct label_table **table); /* may be NULL */

/* LABEL_NONE: it is not in the table. */
uint32_t label_table_find(
	const struct label_table *table, const char *dataset, const char *class);

/* A name for each label from 0 to the largest: that of its first class in the file, or the
 * number. Both are the caller's, also upon failure. */
must_check int label_table_classes(
	const struct label_table *table, char ***ret, uint32_t *ret_n);
