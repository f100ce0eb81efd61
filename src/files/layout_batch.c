// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/content.h"
#include "files/content_bytes.h"
#include "files/format.h"
#include "files/layout.h"
#include "files/layout_batch.h"
#include "files/layout_flat.h"
#include "image/augment.h"
#include "sched/jobs.h"

#include <errno.h>
#include <string.h>

static void find_sample(
	const struct composite *batch, uint64_t offset, struct segment *ret)
{
	(void)offset;
	ret->kind = SEGMENT_SAMPLE;
	ret->bytes = batch->sample_bytes;
}

static void find_label(
	const struct composite *labels, uint64_t offset, struct segment *ret)
{
	(void)offset;
	ret->kind = SEGMENT_LABEL;
	ret->bytes = labels->label_bytes;
}

static void make_head(const struct composite *batch, const struct segment *segment,
	uint8_t ret[COMPOSITE_CONSTANT])
{
	const struct array_type *array = batch->pixels.array;
	(void)segment;
	if (batch->second.height) {
		struct file_head_field fields[2];
		content_pair_fields(batch->config, batch->shape, batch->second, fields);
		file_head_pair(fields, &batch->n, BATCH_HEAD, ret);
		return;
	}
	if (array) {
		uint32_t axes[ARRAY_MOST_AXES + 1] = {batch->n};
		memcpy(axes + 1, array->shape, array->axes * sizeof(axes[0]));
		head_npy(array->npy, axes, array->axes + 1, BATCH_HEAD, ret);
		return;
	}
	uint32_t axes[5] = {batch->n};
	size_t n = pixel_type_axes(batch->pixels, batch->shape, axes + 1);
	head_npy(pixel_type_npy(batch->pixels, batch->shape), axes, n + 1, BATCH_HEAD,
		ret);
}

static void make_labels_head(const struct composite *labels,
	const struct segment *segment, uint8_t ret[COMPOSITE_CONSTANT])
{
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	const uint32_t shape[] = {labels->n, labels->targets};
	(void)segment;
	if (labels->targets > 0)
		head_npy(little ? "<f4" : ">f4", shape, 2, HEAD_SIZE, ret);
	else
		head_npy(little ? "<i8" : ">i8", shape, 1, HEAD_SIZE, ret);
}

static const struct composite_rules batch_rules = {
	.record = find_sample, .constant = make_head};
static const struct composite_rules labels_rules = {
	.record = find_label, .constant = make_labels_head};

struct composite batch_composite(
	uint32_t first, uint32_t n, struct pixel_type pixels, struct tensor_shape shape)
{
	uint64_t bytes = format_bytes(FORMAT_RAW, pixels, shape, 0);
	return (struct composite){.rules = &batch_rules,
		.first = first,
		.n = n,
		.head = BATCH_HEAD,
		.stride = bytes,
		.bytes = BATCH_HEAD + n * bytes,
		.sample_bytes = bytes,
		.pixels = pixels,
		.shape = shape};
}

struct composite batch_labels_composite(uint32_t first, uint32_t n, uint32_t targets)
{
	uint64_t each = targets ? targets * sizeof(float) : sizeof(int64_t);
	return (struct composite){.rules = &labels_rules,
		.first = first,
		.n = n,
		.head = HEAD_SIZE,
		.stride = each,
		.bytes = HEAD_SIZE + n * each,
		.label_bytes = each,
		.targets = targets};
}

#define PREFIX "batch-"
#define LABELS_SUFFIX ".labels.npy"
#define DIGITS 6

static const enum inode_kind kinds[] = {INODE_BATCH, INODE_BATCH_LABELS};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t entries(struct sched_job *job, struct inode directory)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(directory));
	return layout_files(job, edition) * (uint64_t)KINDS;
}

static bool entry(struct sched_job *job, struct inode directory, uint64_t number,
	struct layout_entry *ret)
{
	ret->inode = layout_inode(
		directory, kinds[number % KINDS], (uint32_t)(number / KINDS));
	char *at = stpcpy(ret->name, PREFIX);
	at += flat_print_number(ret->inode.position, DIGITS, at);
	if (ret->inode.kind == INODE_BATCH)
		stpcpy(stpcpy(at, "."), sched_job_config(job)->extension);
	else
		memcpy(at, LABELS_SUFFIX, sizeof(LABELS_SUFFIX));
	return true;
}

static int lookup(struct sched_job *job, struct inode directory, const char *name,
	struct inode *ret)
{
	auto_edition *edition = sched_widest_edition(job, inode_sched_epoch(directory));
	const size_t start = strlen(PREFIX);
	uint32_t index;
	if (strncmp(name, PREFIX, start) != 0)
		return -ENOENT;
	size_t digits = flat_parse_number(
		name + start, DIGITS, layout_files(job, edition), &index);
	if (digits == 0)
		return -ENOENT;
	const char *suffix = name + start + digits;
	if (strcmp(suffix, LABELS_SUFFIX) == 0)
		*ret = layout_inode(directory, INODE_BATCH_LABELS, index);
	else if (suffix[0] == '.' &&
		 strcmp(suffix + 1, sched_job_config(job)->extension) == 0)
		*ret = layout_inode(directory, INODE_BATCH, index);
	else
		return -ENOENT;
	return 0;
}

static bool exists(struct sched_job *job, struct inode inode)
{
	auto_edition *edition = sched_widest_edition(job, inode_sched_epoch(inode));
	return (inode.kind == INODE_BATCH || inode.kind == INODE_BATCH_LABELS) &&
	       inode.position < layout_files(job, edition);
}

/* Returns the shape of the samples. All samples have the same shape, because jobs with samples of
 * several shapes are refused. */
static struct tensor_shape shape_of(
	const struct job_config *config, const struct sched_edition *edition)
{
	struct tensor_shape any = {.height = 1,
		.width = 1,
		.mode = content_mode(edition->dataset, edition->readable)};
	return augment_output(
		&config->augment, preparation_output(&config->preparation, any));
}

/* Describes a batch whose records have the image and then the second file of a pair. */
static struct composite pairs_composite(uint32_t first, uint32_t n,
	const struct job_config *config, const struct sched_edition *edition)
{
	const struct job_config second = config_second(config);
	struct tensor_shape any = {.height = 1,
		.width = 1,
		.mode = content_second_mode(config, edition->dataset, edition->readable)};
	struct composite batch =
		batch_composite(first, n, config->pixels, shape_of(config, edition));
	batch.config = config;
	batch.second = augment_output(
		&second.augment, preparation_output(&second.preparation, any));
	batch.sample_bytes += format_bytes(FORMAT_RAW, second.pixels, batch.second, 0);
	batch.stride = batch.sample_bytes;
	batch.bytes = BATCH_HEAD + n * batch.sample_bytes;
	return batch;
}

struct composite batch_file(
	struct sched_job *job, const struct sched_edition *edition, struct inode file)
{
	const struct job_config *config = sched_job_config(job);
	uint32_t first = file.position * config->batch;
	uint32_t left = first < edition->samples ? edition->samples - first : 0;
	uint32_t n = left < config->batch ? left : config->batch;
	if (file.kind == INODE_BATCH_LABELS)
		return batch_labels_composite(first, n, config->n_targets);
	if (config_is_pair(config))
		return pairs_composite(first, n, config, edition);
	return batch_composite(first, n, config->pixels, shape_of(config, edition));
}

static bool size(
	struct sizes *sizes, struct sched_job *job, struct inode file, uint64_t *ret)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(file));
	(void)sizes;
	*ret = batch_file(job, edition, file).bytes;
	return true;
}

const struct layout layout_batch = {
	.entries = entries,
	.entry = entry,
	.lookup = lookup,
	.exists = exists,
	.subdirectories = layout_no_subdirectories,
	.size = size,
};
