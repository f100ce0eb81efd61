// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"
#include "load/file_head.h"

/*
 * Lengths and pixel modes of the contents of samples' files, computed from a job's configuration.
 *
 *   Threads: any; no state.   Errors: none.
 */

/* Returns the section [tensor NAME] that applies to a sample; NULL: only [tensor] applies. */
const struct job_section *content_section(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* Tells whether both images of a pair are in one file. */
bool content_joins(const struct job_config *config);
/* Returns the length of the content of a pair's second file. 0: samples are not pairs. */
uint64_t content_second_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);
/* Returns the length of the longest second file among the selected samples. */
uint64_t content_second_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);
/* Returns the pixel mode of the second files. The caller knows that all have the same mode. */
enum pixel_mode content_second_mode(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns the length of one sample's content, without padding. */
uint64_t content_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* Returns the pixel mode of the images. The caller knows that all have the same mode. */
enum pixel_mode content_mode(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether all contents have the same length, so that it is known before a position is bound.
 * *ret: the length. */
bool content_bytes_fixed(const struct job_config *config, uint64_t *ret);

/* Tells whether shorter contents are padded with zeros to the length of the longest. */
bool content_is_padded(const struct job_config *config);

/* Returns the length of the longest content among the selected samples. */
uint64_t content_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether the bytes of a content differ from those of the shared tensor. Then a worker has to
 * compute the content. */
bool content_is_computed(const struct job_config *config);

/*
 * Tells whether each file of a job is a head and the unchanged shared tensor. The kernel can then
 * read such a file without the daemon, from the file in memory that has the tensor (backing.h).
 */
bool content_head(const struct job_config *config, struct file_head *ret);
