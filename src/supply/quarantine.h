// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "dataset/dataset.h"

/*
 * Images whose preparation has ended the engine twice. Readers get EIO for them, and the daemon
 * does not prepare them until their files change.
 *
 *   A worker notes the image that it prepares where the next engine finds the note
 *   (base/kept.h). If a signal arrives in a worker, its image is to blame. An engine that is
 *   killed, as by the kernel for want of memory, blames none.
 *
 *   Flow: quarantine_open, once, before anything is prepared.
 *   Owns: <state>/quarantine: a line for each image that was to blame once or twice,
 *         "DATASET ID BYTES MTIME-NS TIMES".
 *   Threads: any, after quarantine_open: nothing changes.
 *   Errors: -errno, logged.
 */

struct quarantine;

must_check int quarantine_open(
	const char *state, struct dataset **datasets, size_t n, struct quarantine **ret);
void quarantine_free(struct quarantine **quarantine);

/* Returns the quarantined samples of the i-th dataset; NULL: none. */
const roaring_bitmap_t *quarantine_of(const struct quarantine *quarantine, size_t i);
