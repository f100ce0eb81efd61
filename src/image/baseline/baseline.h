// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A decoder for regular baseline JPEGs: Huffman coding, 8 bits, one scan; gray, or YCbCr
 * sampled 4:4:4, 4:2:2 or 4:2:0. Its pixels are those of libjpeg-turbo with its defaults
 * (the accurate integer transform, fancy upsampling), byte for byte. It knows nothing of
 * damage: a file that is not perfectly regular, or could make 16-bit arithmetic
 * overflow, is turned down, and libjpeg has to judge it. What this decoder accepts,
 * libjpeg decodes without an error or a warning.
 *
 *   Flow: baseline_new -> (baseline_open -> baseline_read)* -> baseline_free.
 *   Owns: its tables and memory; the data stay the caller's until baseline_read returns.
 *   Threads: a decoder is used by one thread at a time.
 *   Errors: false: not a file for this decoder, or no memory.
 */

struct baseline;

struct baseline_span {
	uint32_t first;
	uint32_t length;
};

struct baseline_part {
	struct baseline_span rows;
	struct baseline_span columns;
};

/* plain: uses the code for every processor, to compare with. NULL: no memory. */
struct baseline *baseline_new(bool plain);
/* Whether there is vector code for this processor. Without it, libjpeg is faster. */
bool baseline_is_fast(void);
void baseline_free(struct baseline *decoder); /* may be NULL */

/* Reads the segments up to the scan. */
bool baseline_open(struct baseline *decoder, const uint8_t *data, size_t size,
	uint32_t *ret_width, uint32_t *ret_height);

/*
 * Decodes a part of the open image, which is not empty, into rows of RGB without padding.
 * It goes through the whole file: what is accepted does not depend on the part, but for
 * coefficients outside it that could overflow. false: the pixels may be partly written.
 */
bool baseline_read(struct baseline *decoder, struct baseline_part part, uint8_t *rgb);

/* The memory that the decoder holds. */
size_t baseline_bytes(const struct baseline *decoder);
/* Gives memory for images back if it is more than `keep` bytes. */
void baseline_trim(struct baseline *decoder, size_t keep);
