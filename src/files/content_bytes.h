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

/* Tells whether both images of a pair are in one file. */
bool content_joins(const struct job_config *config);
/* Returns the length of the second file of a pair; 0: samples are not pairs. */
uint64_t content_second_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);
uint64_t content_second_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);
/* All second files must have the same mode. */
enum pixel_mode content_second_mode(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns the length of a sample's content, without padding. */
uint64_t content_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample);

/* All selected images must have the same mode. */
enum pixel_mode content_mode(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether the configuration gives all contents one length, which is *ret. */
bool content_bytes_fixed(const struct job_config *config, uint64_t *ret);

/* Tells whether shorter contents get zeros up to the length of the longest. */
bool content_is_padded(const struct job_config *config);

uint64_t content_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Tells whether a worker computes the content: its bytes differ from the shared tensor's. */
bool content_is_computed(const struct job_config *config);

/* Tells whether a job's files are a head and the unchanged shared tensor, which the kernel can read
 * from a file in memory (backing.h), without the daemon. */
bool content_head(const struct job_config *config, struct file_head *ret);
