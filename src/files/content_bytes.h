// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"
#include "load/file_head.h"

/*
 * Lengths and kinds of the contents of samples' files, by a job's configuration.
 *
 *   Threads: any; no state.   Errors: none.
 */

/* Returns the section [tensor NAME] that a sample is prepared by; NULL: [tensor] alone. */
const struct job_section *content_section(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* Tells whether both files of a pair are in one file's content, one behind the other. */
bool content_joins(const struct job_config *config);
/* Returns the bytes of the second file's content in a pair, by config_second; 0: there is none. */
uint64_t content_second_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);
/* Returns the bytes of the longest such content among the selected samples. */
uint64_t content_second_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);
/* Returns the mode of the second files, where all have the same one. */
enum pixel_mode content_second_mode(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns the bytes of one sample's content, without the zeros that padding adds. */
uint64_t content_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* Returns the mode of the images, where all have the same one. */
enum pixel_mode content_mode(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether all contents are equally long, and how long, before any position is bound. */
bool content_bytes_fixed(const struct job_config *config, uint64_t *ret);

/* Tells whether all files are as long as the longest content: zeros may follow the image. */
bool content_is_padded(const struct job_config *config);

/* Returns the bytes of the longest content among the selected samples. */
uint64_t content_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether a content is computed from the shared tensor, which takes a worker's time. */
bool content_is_computed(const struct job_config *config);

/*
 * Tells whether the files of a job are the shared tensor behind a head, byte for byte, and
 * nothing else. The kernel can then read them from a file that the tensor lies in.
 */
bool content_head(const struct job_config *config, struct file_head *ret);
