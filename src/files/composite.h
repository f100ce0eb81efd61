// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Composites: files that hold several positions (tar, a batch, a batch's labels), and the
 * arithmetic of their bytes.
 *
 *   0        head         head + stride       head + n * stride        bytes
 *   |-- head --|-- record 0 --|-- record 1 --| ... |-- zeros --|
 *
 * A record holds the bytes of one position. It consists of segments, whose offsets are
 * known before any position is bound. So a read finds out in constant time which
 * positions it needs.
 *
 *   Flow: tar_composite, batch_composite or batch_labels_composite describe a file;
 *         composite_segment gives one segment after the other.
 *   Owns: nothing.   Threads: any; no state.   Errors: none.
 */

enum segment_kind {
	SEGMENT_CONSTANT, /* composite_constant makes the bytes */
	SEGMENT_ZEROS,
	SEGMENT_SAMPLE,
	SEGMENT_LABEL, /* ASCII, or int64 or float32 in a batch's labels */
	SEGMENT_JSON,
	/* a file beside the sample, with its header (tar_beside); `constant`: number of its
	 * ending */
	SEGMENT_BESIDE
};

struct segment {
	enum segment_kind kind;
	uint64_t begin; /* offset in the file */
	uint64_t bytes;
	uint32_t index; /* index of the record; n for the zeros that end the file */
	unsigned
		constant; /* number of a constant of the layout: bytes that are always alike */
};

#define COMPOSITE_CONSTANT 4096 /* bytes that hold any constant */

struct composite;
struct job_config;

struct composite_rules {
	/* offset counts from the start of the record, and is less than the stride */
	void (*record)(
		const struct composite *composite, uint64_t offset, struct segment *ret);
	void (*constant)(const struct composite *composite, const struct segment *segment,
		uint8_t ret[COMPOSITE_CONSTANT]);
};

struct composite {
	const struct composite_rules *rules;
	uint32_t first; /* position of the first record */
	uint32_t n;	/* records, at least one */
	/* bytes of the head, at most COMPOSITE_CONSTANT; the head is constant 0 */
	uint64_t head;
	uint64_t stride;
	uint64_t bytes;

	/* bytes in one record; 0: it has none */
	uint64_t sample_bytes, label_bytes, json_bytes;
	/* A tar of pairs: the bytes of each of the two files, and the offset of the second file's
	 * header in the sample. */
	uint64_t first_bytes, second_bytes, second_at;
	const char *second_extension;
	unsigned n_beside;
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS +
			      1]; /* bytes of each member, with its header and filler */
	uint64_t sample_at;	  /* offset of the sample in its record */
	const char *extension;	  /* a tar's ending of samples */
	uint32_t targets; /* a batch's labels: number of columns; 0: labels are classes */
	struct pixel_type pixels; /* a batch's type of numbers */
	struct tensor_shape shape;
	/* a batch of pairs: shape of the second file; height 0: no pairs */
	struct tensor_shape second;
	const struct job_config *config; /* a batch of pairs: configuration of the job */
};

/* Finds the segment of the byte at an offset that is less than composite->bytes. */
void composite_segment(
	const struct composite *composite, uint64_t offset, struct segment *ret);

/* Makes the bytes of a constant segment. */
void composite_constant(const struct composite *composite, const struct segment *segment,
	uint8_t ret[COMPOSITE_CONSTANT]);

/* Returns how many files hold the samples, `each` per file. drop_last: leaves out a shorter last
 * file. */
uint32_t composite_files(uint32_t samples, uint32_t each, bool drop_last);
