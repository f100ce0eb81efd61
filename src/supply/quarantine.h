// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "dataset/dataset.h"

/*
 * Images whose preparation has ended the engine twice. Readers get EIO for them, and the daemon
 * does not prepare them until their files change.
 *
 *   A worker notes the image that it prepares in memory that the next engine can read
 *   (base/kept.h). If a signal ends the engine in a worker, the worker's image is blamed. If the
 *   engine is killed from outside, for instance by the kernel because memory ran out, no image is
 *   blamed.
 *
 *   Flow: quarantine_open, once, before anything is prepared.
 *   Owns: <state>/quarantine: one line for each image that was blamed once or twice, "DATASET ID
 *         BYTES MTIME-NS TIMES".
 *   Threads: any, after quarantine_open, because nothing changes then.
 *   Errors: -errno, logged.
 */

struct quarantine;

must_check int quarantine_open(
	const char *state, struct dataset **datasets, size_t n, struct quarantine **ret);
void quarantine_free(struct quarantine **quarantine);

/* Returns the quarantined samples of the i-th dataset; NULL: none. */
const roaring_bitmap_t *quarantine_of(const struct quarantine *quarantine, size_t i);
