// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/composite.h"
#include "files/inode.h"
#include "files/sizes.h"

struct sched_edition;
struct sched_job;

/*
 * The layout "tar": shard-000000.tar and so on, POSIX ustar, in WebDataset's convention: members of
 * one sample follow each other and have the same name up to the first dot.
 *
 *   record:  header  00000017.cls   zeros
 *            header  00000017.json  zeros    (json = yes)
 *            header  00000017.txt   zeros    (beside, text)
 *            header  a comment               fills the room that the largest text would need
 *            header  00000017.ppm   zeros
 *            header  00000017.mask.png  zeros    (the second file of a pair)
 *            Zeros fill each file up to a multiple of 512 bytes.
 *   end:     two blocks of zeros, and zeros up to a multiple of 10240, as GNU tar writes
 *
 *   Threads: any.   Errors: as noted.
 */

/* Bytes of a record's members. json 0: there is none. beside: the largest file of each ending. */
struct tar_sizes {
	uint64_t label, json, sample;
	uint64_t second; /* bytes of a pair's second file; 0: no pairs */
	const char *second_extension;
	unsigned n_beside;
	uint64_t beside[CONFIG_MOST_ENDINGS + 1];
};

/* Makes the member of a text, and the comment that fills the rest of segment->bytes. *ret has room
 * for segment->bytes bytes. */
void tar_beside(const struct composite *tar, const struct segment *segment,
	const char *ending, const char *text, size_t text_bytes, uint8_t *ret);

/* Describes a tar of n positions, the first of which is `first`. `extension` must outlive the
 * result. */
struct composite tar_composite(
	uint32_t first, uint32_t n, struct tar_sizes sizes, const char *extension);

/* Makes the header of the second file of the pair in record number `index`. */
void tar_second_header(
	const struct composite *tar, uint32_t index, uint8_t ret[static 512]);

/* Describes the tar `file`, an inode of the kind INODE_TAR. -ENOMEM; -EIO: the catalogue can't be
 * read. */
must_check int tar_file(struct sizes *sizes, struct sched_job *job,
	const struct sched_edition *edition, struct inode file, struct composite *ret);
