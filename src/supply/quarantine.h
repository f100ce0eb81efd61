// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "dataset/dataset.h"

/*
 * Lists images whose preparation has ended the engine (the serving process) twice. Readers get EIO
 * for these images, which are not prepared again before their files change.
 *
 *   Before a worker prepares an image, it writes a note of the image to memory that the next engine
 *   can read (base/kept.h). The image is blamed if this worker causes the signal that ends the
 *   engine, such as SIGSEGV, but not if the engine is killed from outside, for instance because
 *   memory ran out.
 *
 *   Flow: quarantine_open, once, before anything is prepared.
 *   Owns: <state>/quarantine: "DATASET ID BYTES MTIME-NS TIMES" for each image that was blamed.
 *   Threads: any, because nothing changes after quarantine_open.
 *   Errors: -errno, logged.
 */

struct quarantine;

must_check int quarantine_open(
	const char *state, struct dataset **datasets, size_t n, struct quarantine **ret);
void quarantine_free(struct quarantine **quarantine);

/* Returns the quarantined samples of the i-th dataset, or NULL if there are none. */
const roaring_bitmap_t *quarantine_of(const struct quarantine *quarantine, size_t i);
