// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

/*
 * The rows of a catalogue in its SQLite file. ROWS_TOGETHER rows make a mapped catalogue
 * (dataset_map.h), which is deflated. Only scans read the rows, all of them.
 *
 *   Threads: the caller's.   Errors: -EILSEQ: damaged. -EINTR: the scan was stopped. -errno.
 */

#define ROWS_TOGETHER 16384

/* Writes all rows. -EINTR: the scan was stopped. Fault: dataset.write. */
must_check int rows_write(
	sqlite3 *db, const struct scan *scan, const struct catalogue *catalogue);
/* Adds the rows to the catalogue, which has its classes and containers already. */
must_check int rows_read(sqlite3 *db, struct catalogue *catalogue);
