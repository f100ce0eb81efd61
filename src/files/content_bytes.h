// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"
#include "load/file_head.h"

/*
 * How long the contents of samples' files are, by a job's configuration, and what kind of
 * content they are.
 *
 *   Threads: any; no state.   Errors: none.
 */

/* The section [tensor NAME] that a sample is prepared by; NULL: [tensor] alone. */
const struct job_section *content_section(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* true: both files of a pair are in one file's content, one behind the other. */
bool content_joins(const struct job_config *config);
/* The content of the second file of a pair: that of the sample's own file, by config_second. */
uint64_t content_second_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);
uint64_t content_second_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);
/* The mode of the second files, where all have one. */
enum pixel_mode content_second_mode(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Bytes of one sample's content, without the zeros that padding adds. */
uint64_t content_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* The mode of the images, where all have one. */
enum pixel_mode content_mode(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Whether all contents are equally long, and how long. No sample need be bound. */
bool content_bytes_fixed(const struct job_config *config, uint64_t *ret);

/* Whether all files are as long as the longest content: zeros may follow the image. */
bool content_is_padded(const struct job_config *config);

/* The longest content among the selected samples. */
uint64_t content_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Whether a content is computed from the shared tensor, which takes a worker's time. */
bool content_is_computed(const struct job_config *config);

/*
 * Whether the files of a job are the shared tensor behind a head, byte for byte, and
 * nothing else. The kernel can then read them from a file that the tensor lies in.
 */
bool content_head(const struct job_config *config, struct file_head *ret);
