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

/* Tells whether one file has both files of a pair, one behind the other. */
bool content_joins(const struct job_config *config);
/* Returns the bytes of the content of a pair's second file (config_second); 0: samples are no
 * pairs. */
uint64_t content_second_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);
/* Returns the bytes of the longest content of a second file among the selected samples. */
uint64_t content_second_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);
/* Returns the pixel mode that all second files have. */
enum pixel_mode content_second_mode(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns the bytes of one sample's content, without the zeros that padding adds. */
uint64_t content_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* Returns the pixel mode that all images have. */
enum pixel_mode content_mode(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether all contents have the same length, which is known before any position is bound;
 * *ret: the length. */
bool content_bytes_fixed(const struct job_config *config, uint64_t *ret);

/* Tells whether all files are as long as the longest content: zeros follow a shorter content. */
bool content_is_padded(const struct job_config *config);

/* Returns the bytes of the longest content among the selected samples. */
uint64_t content_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether contents are computed from the shared tensor, which takes a worker's time. */
bool content_is_computed(const struct job_config *config);

/*
 * Tells whether each file of a job is a head and the unchanged shared tensor. The kernel can then
 * read such a file without the daemon, from the file in memory that has the tensor (backing.h).
 */
bool content_head(const struct job_config *config, struct file_head *ret);
