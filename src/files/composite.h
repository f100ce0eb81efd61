// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

#include <stdint.h>

/*
 * Composites: files that hold several positions of an epoch (tar, a batch, a batch's labels).
 *
 *   0          head           head + stride        head + n * stride   bytes
 *   |-- head --|-- record 0 --|-- record 1 --| ... |------ zeros ------|
 *
 * A record holds the bytes of one position, in segments. The offsets of records and segments do not
 * depend on the samples, so a read finds the positions that it needs in constant time.
 *
 *   Flow: tar_composite, batch_composite or batch_labels_composite describe a file;
 *         composite_segment gives one segment after the other.
 *   Owns: nothing.   Threads: any; no state.   Errors: none.
 */

enum segment_kind {
	SEGMENT_CONSTANT, /* composite_constant makes the bytes */
	SEGMENT_ZEROS,
	SEGMENT_SAMPLE,
	SEGMENT_LABEL, /* decimal digits; in a batch's labels int64 or float32 */
	SEGMENT_JSON,
	SEGMENT_BESIDE /* text or file beside the sample, with its tar header */
};

struct segment {
	enum segment_kind kind;
	uint64_t begin; /* offset in the file */
	uint64_t bytes;
	/* number of the segment's record; of the zeros at the file's end: the number of records */
	uint32_t index;
	/* SEGMENT_CONSTANT: tells the layout which constant bytes these are. SEGMENT_BESIDE: the
	 * number of the ending (beside.h). */
	unsigned constant;
};

#define COMPOSITE_CONSTANT 4096 /* bytes of the largest constant segment */

struct composite;
struct job_config;

struct composite_rules {
	/* Finds the segment with the byte at `offset`. `offset` and ret->begin count
	 * from the start of the record. */
	void (*record)(
		const struct composite *composite, uint64_t offset, struct segment *ret);
	void (*constant)(const struct composite *composite, const struct segment *segment,
		uint8_t ret[COMPOSITE_CONSTANT]);
};

struct composite {
	const struct composite_rules *rules;
	uint32_t first; /* position of the first record */
	uint32_t n;	/* records, at least one */
	uint64_t head;	/* length of the head, which is a constant segment */
	uint64_t stride;
	uint64_t bytes;

	/* bytes in each record; 0: records have no such part */
	uint64_t sample_bytes, label_bytes, json_bytes;
	/* The next four members are set only in tars. first_bytes: size of the sample's file, or of
	 * the first file of a pair. The other three are 0 or NULL without pairs. second_bytes: size
	 * of the second file. second_at: distance from the first byte of the first file to the
	 * header of the second file. */
	uint64_t first_bytes, second_bytes, second_at;
	const char *second_extension;
	unsigned n_beside;
	/* bytes of the segment for each ending, such as txt (beside.h) */
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS + 1];
	uint64_t sample_at;	  /* offset of the sample in its record */
	const char *extension;	  /* extension of samples in a tar */
	uint32_t targets;	  /* label columns in a batch; 0: labels are classes */
	struct pixel_type pixels; /* type of a batch's numbers */
	struct tensor_shape shape;
	/* shape of the second files, if a batch holds pairs; otherwise height is 0 */
	struct tensor_shape second;
	/* configuration of the job; set only if a batch holds pairs */
	const struct job_config *config;
};

/* Finds the segment with the byte at `offset`, which is less than composite->bytes. */
void composite_segment(
	const struct composite *composite, uint64_t offset, struct segment *ret);

void composite_constant(const struct composite *composite, const struct segment *segment,
	uint8_t ret[COMPOSITE_CONSTANT]);

/* Returns the number of files that hold `samples` samples, `each` samples per file. The last file
 * may have fewer samples; drop_last: a file with fewer samples is left out. */
uint32_t composite_files(uint32_t samples, uint32_t each, bool drop_last);
