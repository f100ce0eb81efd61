// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where the bytes of a sample are that is no file of its own: a part of a container, that
 * is of a tar, a zip or an LMDB file.
 *
 *   Flow: a source (source.h) finds the parts; who reads a sample reads part.stored_bytes
 *         of the container from part.offset on, and gives them to source_unpack.
 *   Threads: any.
 */

enum source_method {
	PART_PLAIN,
	PART_CHECKED,
	PART_DEFLATED
}; /* as catalogues have it */

struct source_part {
	uint64_t container_bytes; /* the whole container's size at the scan */
	uint64_t offset;	  /* of the part, in the container */
	uint64_t stored_bytes;	  /* as many as the sample's, unless deflated */
	uint32_t checksum;	  /* CRC-32 of the sample's bytes, unless plain */
	enum source_method method;
};

/* Makes the sample's bytes of a deflated part. -EIO: damaged; -ENOMEM. */
must_check int source_unpack(const struct source_part *part, const uint8_t *stored,
	uint8_t *ret, uint64_t bytes);
/* -EIO: the sample's bytes are not those that the container promises. */
must_check int source_check(
	const struct source_part *part, const uint8_t *sample, uint64_t bytes);
