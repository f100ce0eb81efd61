// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>

/*
 * A table of labels for the classes of several datasets, from a file with a line for each class:
 *
 *     photos/cat 0
 *     sketches/kitty 0
 *
 * Empty lines and lines that begin with # are ignored. The table may contain classes that no
 * dataset has, so that several mixtures can share it.
 *
 *   Threads: any, after label_table_read.
 *   Errors: -EINVAL: *ret_message describes the mistake, and the caller frees it. If the path is
 *         not a regular file, -EINVAL is returned without a message. -errno.
 */

struct label_table;

must_check int label_table_read(
	const char *path, struct label_table **ret, char **ret_message);
void label_table_free(struct label_table **table); /* may be NULL */

/* Returns the label of a class. LABEL_NONE: the class is not in the table. */
uint32_t label_table_find(
	const struct label_table *table, const char *dataset, const char *class);

/* Makes a name for each label from 0 to the largest. This is the name of the first class in the
 * file that has the label; if no class has it, the number is the name. The caller frees the array
 * and the names, also after a failure. */
must_check int label_table_classes(
	const struct label_table *table, char ***ret, uint32_t *ret_n);
