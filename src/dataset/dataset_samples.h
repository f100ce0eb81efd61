// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

/*
 * The virtual table `samples` of an SQLite connection: one row per sample, with the columns of the
 * map, and the columns of metadata from the SQLite file.
 *
 *   Flow: samples_attach before any statement, and before an authorizer is set.
 *   Threads: the connection's. One statement at a time reads columns of metadata.
 *
 * *inside is true while the virtual table itself runs a statement that reads metadata. The
 * connection's authorizer must allow everything during this time. `inside` may be NULL.
 */
must_check int samples_attach(sqlite3 *db, const struct dataset *dataset, bool *inside);
