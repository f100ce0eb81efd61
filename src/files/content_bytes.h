// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"
#include "load/file_head.h"

/* Computes lengths and pixel modes of samples' files from a job's configuration. Any thread. */

/* Returns the section [tensor NAME] of the sample; NULL: only [tensor] applies. */
const struct job_section *content_section(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* Tells whether both images of a pair are in one record or in one batch. Otherwise each image has a
 * file of its own, which may be a member of a tar. */
bool content_joins(const struct job_config *config);
/* Returns the length of the second file of a pair; 0: samples are not pairs. */
uint64_t content_second_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);
uint64_t content_second_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);
/* Returns the mode of the pixels of all second files, which must have the same mode. */
enum pixel_mode content_second_mode(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns the length of a sample's content, without padding. */
uint64_t content_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* Returns the mode of the pixels of all selected images, which must have the same mode. */
enum pixel_mode content_mode(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether all contents have the same length, whatever their samples are. If so, sets *ret to
 * this length. */
bool content_bytes_fixed(const struct job_config *config, uint64_t *ret);

/* Tells whether shorter contents get zeros up to the length of the longest. */
bool content_is_padded(const struct job_config *config);

uint64_t content_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether a worker has to compute the content, because the bytes of the content differ from
 * those of the shared tensor. */
bool content_is_computed(const struct job_config *config);

/* Tells whether the kernel may read the job's files from memory (backing.h), without the daemon:
 * io = auto, and each file has one position, and consists of a head and the unchanged shared
 * tensor. Describes the head in *ret. */
bool content_head(const struct job_config *config, struct file_head *ret);
