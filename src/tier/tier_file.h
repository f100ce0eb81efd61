// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A sample in a tier: the name of its file, and the head before its bytes in the file.
 *
 *     DATASET/DIRECTORY/ID-IDENTITY     photos/000003/000037f0-8d13c2d7f0a1b2c4
 *
 *   offset  length
 *      0       8    "joadtier"
 *      8       4    version of the format
 *     12       4    id
 *     16       8    identity
 *     24       8    number of the sample's bytes
 *     32       4    CRC-32 of the sample's bytes
 *     36       4    CRC-32 of the bytes 0 to 35
 *     40            the sample's bytes
 *
 * Numbers are little-endian, and in names hexadecimal.   Threads: any.
 */

#define RECORD_HEAD 40
#define RECORD_NAME 96	   /* size of a buffer for DIRECTORY/ID-IDENTITY with its \0 */
#define RECORD_FANOUT 4096 /* number of consecutive ids that share a directory */
#define RECORD_NEW ".new"  /* ending of a file that is being written */

void record_name(sample_id id, uint64_t identity, char ret[RECORD_NAME]);
/* Parses the name of a file in `directory`. Returns false if no sample's file has such a name. */
bool record_parse_name(const char *directory, const char *name, sample_id *ret_id,
	uint64_t *ret_identity);

void record_make_head(sample_id id, uint64_t identity, const void *bytes, uint64_t n,
	uint8_t ret[RECORD_HEAD]);
/* Tells whether `head` and `bytes` are undamaged, and of this version of the sample. */
bool record_is_whole(const uint8_t head[RECORD_HEAD], sample_id id, uint64_t identity,
	const void *bytes, uint64_t n);
