// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

/*
 * The rows of a catalogue in its SQLite file: ROWS_TOGETHER of them are a mapped catalogue
 * (dataset_map.h), deflated. Scans read all of them; nobody else does.
 *
 *   Threads: the caller's.   Errors: -EILSEQ: damaged. -EINTR: the scan was stopped. -errno.
 */

#define ROWS_TOGETHER 16384

/* Fault: dataset.write. */
must_check int rows_write(
	sqlite3 *db, const struct scan *scan, const struct catalogue *catalogue);
/* Adds the rows; the catalogue has its classes and containers. */
must_check int rows_read(sqlite3 *db, struct catalogue *catalogue);
