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
 * Ignores empty lines, and lines that begin with #. The table may contain classes that no dataset
 * has, so that several mixtures can share it.
 *
 *   Threads: any, after label_table_read.
 *   Errors: -EINVAL: *ret_message, which the caller frees, describes the mistake; NULL if the path
 *           is not a regular file. -errno.
 */

struct label_table;

must_check int label_table_read(
	const char *path, struct label_table **ret, char **ret_message);
void label_table_free(struct label_table **table); /* *table may be NULL */

/* Returns LABEL_NONE if the class is not in the table. */
uint32_t label_table_find(
	const struct label_table *table, const char *dataset, const char *class);

/* Makes the class names of the labels from 0 to the largest. A label is named after the first class
 * in the file that has this label. If no class has the label, its name is its number. The caller
 * frees the array and the names, even after a failure. */
must_check int label_table_classes(
	const struct label_table *table, char ***ret, uint32_t *ret_n);
