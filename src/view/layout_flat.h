// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/*
 * The layout "flat": NNNNNNNN.<extension> is the sample of a position, NNNNNNNN.cls its
 * label, both in the epoch's directory.
 *
 *   Threads: any.   Errors: none.
 */

#define FLAT_NAME 64 /* bytes that hold any name */

struct flat_name {
	bool label;
	uint32_t position;
};

void flat_print(struct flat_name name, const char *extension, char ret[FLAT_NAME]);

/* false: no name of a position below n_positions */
bool flat_parse(const char *name, const char *extension, uint32_t n_positions,
	struct flat_name *ret);

/* Bytes of the file of one sample. */
uint64_t flat_file_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* If every sample's file is as long as every other's, before any is bound. */
bool flat_file_bytes_fixed(const struct job_config *config, uint64_t *ret);

/* The longest file among the selected samples. */
uint64_t flat_file_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/*
 * A label file is the label in ASCII, then newlines up to the width of the largest label
 * and one more, so that all label files are of one size.
 */
#define FLAT_LABEL 16 /* bytes that hold any label file */
uint32_t flat_label_bytes(uint32_t n_classes);
void flat_label(uint32_t label, uint32_t label_bytes, char ret[FLAT_LABEL]);
