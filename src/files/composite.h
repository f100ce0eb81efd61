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
	SEGMENT_CONSTANT, /* composite_constant gives its bytes */
	SEGMENT_ZEROS,
	SEGMENT_SAMPLE,
	SEGMENT_LABEL, /* ASCII, or int64 or float32 in a batch's labels */
	SEGMENT_JSON,
	SEGMENT_BESIDE /* a member with its header (tar_beside); constant: its number */
};

struct segment {
	enum segment_kind kind;
	uint64_t begin; /* offset in the file */
	uint64_t bytes;
	uint32_t index;	   /* its record's; n for the zeros that end the file */
	unsigned constant; /* the number of the constant, among the layout's */
};

#define COMPOSITE_CONSTANT 4096 /* bytes that hold any constant */

struct composite;
struct job_config;

struct composite_rules {
	/* offset: from the start of the record, less than the stride */
	void (*record)(
		const struct composite *composite, uint64_t offset, struct segment *ret);
	void (*constant)(const struct composite *composite, const struct segment *segment,
		uint8_t ret[COMPOSITE_CONSTANT]);
};

struct composite {
	const struct composite_rules *rules;
	uint32_t first; /* position of the first record */
	uint32_t n;	/* records, at least one */
	uint64_t head;	/* bytes; at most COMPOSITE_CONSTANT, constant 0 */
	uint64_t stride;
	uint64_t bytes;

	uint64_t sample_bytes, label_bytes, json_bytes; /* one record's; 0: none */
	/* A tar of pairs: the bytes of each file alone, and where in the sample the second
	 * header begins. */
	uint64_t first_bytes, second_bytes, second_at;
	const char *second_extension;
	unsigned n_beside;
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS +
			      1]; /* each with its header and filler */
	uint64_t sample_at;	  /* counted from the start of the record */
	const char *extension;	  /* tar */
	uint32_t targets;	  /* a batch's labels: columns; 0: classes */
	struct pixel_type pixels; /* batch */
	struct tensor_shape shape;
	struct tensor_shape second;	 /* a batch of pairs; height 0: it is none */
	const struct job_config *config; /* a batch of pairs: its job's */
};

/* Finds the segment of the byte at an offset that is less than composite->bytes. */
void composite_segment(
	const struct composite *composite, uint64_t offset, struct segment *ret);

/* Makes the bytes of a constant segment. */
void composite_constant(const struct composite *composite, const struct segment *segment,
	uint8_t ret[COMPOSITE_CONSTANT]);

/* Returns the number of files with `each` samples; drop_last: a shorter last one is left out. */
uint32_t composite_files(uint32_t samples, uint32_t each, bool drop_last);
