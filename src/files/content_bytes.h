// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"
#include "image/head.h"

/*
 * How long the files of samples and labels are, in whatever layout.
 *
 *   Threads: any.   Errors: none.
 */

/* Bytes of the file of one sample. */
uint64_t content_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* If every sample's file is as long as every other's, before any is bound. */
bool content_bytes_fixed(const struct job_config *config, uint64_t *ret);

/* Files are as long as the longest one: zeros may follow the image. */
bool content_is_padded(const struct job_config *config);

/* The longest file among the selected samples. */
uint64_t content_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/*
 * Whether the files of a job are the shared tensor behind a head, byte for byte, and
 * nothing else. The kernel can then read them from a file that the tensor lies in.
 */
bool content_head(const struct job_config *config, enum head_kind *ret);

/*
 * A label file is the label in ASCII, then newlines up to the width of the largest label
 * and one more, so that all label files are of one size.
 */
#define LABEL_BYTES 16 /* that hold any label file */
uint32_t label_bytes(uint32_t n_classes);
void label_print(uint32_t label, uint32_t bytes, char ret[LABEL_BYTES]);
