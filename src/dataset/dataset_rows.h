// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

/*
 * The rows of a catalogue in its SQLite file. Every ROWS_TOGETHER rows are stored as one deflated
 * map (dataset_map.h), since only scans read rows, and a scan reads all.
 *
 *   Threads: the caller's.
 *   Errors: -EILSEQ: damaged. -EINTR: the scan was stopped. -errno.
 */

#define ROWS_TOGETHER 16384

/* Writes all rows. Fault injection: dataset.write. */
must_check int rows_write(
	sqlite3 *db, const struct scan *scan, const struct catalogue *catalogue);
/* Reads all rows. The catalogue must already have its classes and containers. */
must_check int rows_read(sqlite3 *db, struct catalogue *catalogue);
