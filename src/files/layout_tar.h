// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/composite.h"
#include "files/inode.h"
#include "files/sizes.h"

struct sched_edition;
struct sched_job;

/*
 * The layout "tar": shard-000000.tar and so on, POSIX ustar, in WebDataset's convention:
 * members of one sample follow each other and have the same name up to the first dot.
 *
 *   record:  header  00000017.cls   zeros
 *            header  00000017.json  zeros    (json = yes)
 *            header  00000017.txt   zeros    (beside, text), of the size that it has:
 *            header  a comment               fills the room of the largest
 *            header  00000017.ppm   zeros    each up to a multiple of 512
 *   end:     two blocks of zeros, and zeros up to a multiple of 10240, as GNU tar has it
 *
 *   Threads: any.   Errors: as noted.
 */

#define TAR_SHARD 1000 /* samples, unless the job says how many */

/* The bytes of each record's members; json 0: there is none. Of those that come along with the
 * sample those of the largest. */
struct tar_sizes {
	uint64_t label, json, sample;
	uint64_t second; /* of pairs; 0: there is none */
	const char *second_extension;
	unsigned n_beside;
	uint64_t beside[CONFIG_MOST_ENDINGS + 1];
};

/* Makes a member of a text that comes along, of any size up to the largest, and what follows
 * it. bytes: of the segment. */
void tar_beside(const struct composite *tar, const struct segment *segment,
	const char *ending, const char *text, size_t text_bytes, uint8_t *ret);

/* The extension stays the caller's. */
struct composite tar_composite(
	uint32_t first, uint32_t n, struct tar_sizes sizes, const char *extension);

/* The header of the second file of a record's pair. */
void tar_second_header(
	const struct composite *tar, uint32_t index, uint8_t ret[static 512]);

/* The shard of an inode that exists. -ENOMEM, -EIO (the catalogue can't be read). */
must_check int tar_file(struct sizes *sizes, struct sched_job *job,
	const struct sched_edition *edition, struct inode file, struct composite *ret);
