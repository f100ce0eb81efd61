// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/composite.h"
#include "files/inode.h"

struct sched_edition;
struct sched_job;

/* The layout "batch": batch-000000.npy holds N samples. An array of images has the shape (N,
 * height, width, channels), or (N, channels, height, width) if axes = CHW; frames of videos are an
 * axis after N. batch-000000.labels.npy holds the labels, as int64 of shape (N,), or as float32 of
 * shape (N, columns). Threads: any. */

/* Bytes before the samples. The samples begin at a page of a mapped file, as drivers need for
 * DMA. */
#define BATCH_HEAD 4096

struct composite batch_composite(
	uint32_t first, uint32_t n, struct pixel_type pixels, struct tensor_shape shape);
/* `targets` is the number of label columns; 0: labels are classes. */
struct composite batch_labels_composite(uint32_t first, uint32_t n, uint32_t targets);

/* Describes a batch file, of kind INODE_BATCH or INODE_BATCH_LABELS. */
struct composite batch_file(
	struct sched_job *job, const struct sched_edition *edition, struct inode file);
