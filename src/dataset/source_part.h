// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The place of a sample that is a part of a container: a tar, a zip or an LMDB file.
 *
 *   Flow: a source (source.h) finds the parts. Readers read stored_bytes from offset on, and call
 *         source_unpack for a deflated part.
 *   Threads: any.
 */

enum source_method {
	PART_PLAIN,
	PART_CHECKED,
	PART_DEFLATED
}; /* catalogues store these numbers, so they must not change */

struct source_part {
	uint64_t container_bytes; /* size of the container when it was scanned */
	uint64_t offset;	  /* offset in the container */
	uint64_t stored_bytes;	  /* stored size; the sample's size if not deflated */
	uint32_t checksum; /* CRC-32 of the sample's bytes; not used with PART_PLAIN */
	enum source_method method;
};

/* Inflates a deflated part to the sample's `bytes` bytes. -EIO: damaged; -ENOMEM. */
must_check int source_unpack(const struct source_part *part, const uint8_t *stored,
	uint8_t *ret, uint64_t bytes);
/* Checks the CRC-32. -EIO: it differs from part->checksum. Returns 0 for PART_PLAIN. */
must_check int source_check(
	const struct source_part *part, const uint8_t *sample, uint64_t bytes);
