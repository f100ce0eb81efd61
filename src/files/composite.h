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
 * A record holds the bytes of one position. It consists of segments, whose offsets are known before
 * any position is bound. So a read finds the positions that it needs in constant time.
 *
 *   Flow: tar_composite, batch_composite or batch_labels_composite describe a file;
 *         composite_segment gives one segment after the other.
 *   Owns: nothing.   Threads: any; no state.   Errors: none.
 */

enum segment_kind {
	SEGMENT_CONSTANT, /* composite_constant makes the bytes */
	SEGMENT_ZEROS,
	SEGMENT_SAMPLE,
	/* the label as decimal digits; in the labels of a batch, as int64 or float32 */
	SEGMENT_LABEL,
	SEGMENT_JSON,
	/* A text or file that belongs to the sample (beside.h), with its tar header.
	 * segment.constant is the number of the ending. */
	SEGMENT_BESIDE
};

struct segment {
	enum segment_kind kind;
	uint64_t begin; /* offset of the segment in the file */
	uint64_t bytes;
	/* number of the record in the file; in the zeros at the end of the file, the number of
	 * records */
	uint32_t index;
	/* SEGMENT_CONSTANT: a number by which the layout knows the bytes. SEGMENT_BESIDE: number of
	 * the ending. */
	unsigned constant;
};

#define COMPOSITE_CONSTANT 4096 /* bytes of the largest constant segment */

struct composite;
struct job_config;

struct composite_rules {
	/* Finds the segment that contains the byte at `offset`. Both `offset` and ret->begin count
	 * from the start of the record. */
	void (*record)(
		const struct composite *composite, uint64_t offset, struct segment *ret);
	void (*constant)(const struct composite *composite, const struct segment *segment,
		uint8_t ret[COMPOSITE_CONSTANT]);
};

struct composite {
	const struct composite_rules *rules;
	uint32_t first; /* position of the first record */
	uint32_t n;	/* number of records, at least one */
	/* Bytes of the head, at most COMPOSITE_CONSTANT. The head is constant segment number 0. */
	uint64_t head;
	uint64_t stride;
	uint64_t bytes;

	/* Bytes of the sample, the label and the .json in each record; 0: records have no such
	 * part. */
	uint64_t sample_bytes, label_bytes, json_bytes;
	/* Pairs in a tar: bytes of the first file, bytes of the second file, and the distance from
	 * the start of the first file to the header of the second one. */
	uint64_t first_bytes, second_bytes, second_at;
	const char *second_extension;
	unsigned n_beside;
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS +
			      1]; /* bytes of the segment of each ending (beside.h) */
	uint64_t sample_at;	  /* offset of the sample in its record */
	const char *extension;	  /* the extension of samples in a tar */
	/* labels of a batch: number of columns; 0: labels are classes */
	uint32_t targets;
	struct pixel_type pixels; /* type of a batch's numbers */
	struct tensor_shape shape;
	/* Shape of the second files, if a batch holds pairs. height 0: it does not. */
	struct tensor_shape second;
	/* configuration of the job, if a batch holds pairs */
	const struct job_config *config;
};

/* Finds the segment that contains the byte at the offset. The offset is less than
 * composite->bytes. */
void composite_segment(
	const struct composite *composite, uint64_t offset, struct segment *ret);

/* Makes the bytes of a constant segment. */
void composite_constant(const struct composite *composite, const struct segment *segment,
	uint8_t ret[COMPOSITE_CONSTANT]);

/* Returns the number of files that hold the samples, with `each` samples per file. drop_last: a
 * shorter last file is not counted. */
uint32_t composite_files(uint32_t samples, uint32_t each, bool drop_last);
