// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The place of a sample that has no file of its own: it is a part of a container, which is a tar, a
 * zip or an LMDB file.
 *
 *   Flow: a source (source.h) finds the parts. The reader of a sample reads part.stored_bytes
 *         of the container from part.offset on, and calls source_unpack for a deflated part.
 *   Threads: any.
 */

enum source_method {
	PART_PLAIN,
	PART_CHECKED,
	PART_DEFLATED
}; /* catalogues store these numbers, so they must not change */

struct source_part {
	uint64_t container_bytes; /* size of the container when it was scanned */
	uint64_t offset;	  /* offset of the part in the container */
	/* bytes of the part in the container; the sample's size, unless the part is deflated */
	uint64_t stored_bytes;
	uint32_t checksum; /* CRC-32 of the sample's bytes; not used with PART_PLAIN */
	enum source_method method;
};

/* Inflates a deflated part to the sample's bytes. -EIO: damaged; -ENOMEM. */
must_check int source_unpack(const struct source_part *part, const uint8_t *stored,
	uint8_t *ret, uint64_t bytes);
/* Compares the CRC-32 of the sample's bytes with part->checksum. -EIO: they differ. With PART_PLAIN
 * there is no checksum, and the result is 0. */
must_check int source_check(
	const struct source_part *part, const uint8_t *sample, uint64_t bytes);
