// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/content_bytes.h"
#include "dataset/dataset_pairs.h"
#include "files/format.h"
#include "image/augment.h"

const struct job_section *content_section(
	const struct job_config *config, const struct dataset *dataset, sample_id sample)
{
	struct path_text path = {0};
	return config->n_sections
		       ? config_section(config, dataset_relative(dataset, sample, &path))
		       : NULL;
}

static uint64_t section_bytes(const struct job_section *section,
	const struct dataset *dataset, sample_id sample)
{
	const struct preparation *preparation = &section->preparation;
	struct tensor_shape image =
		preparation_image(preparation, dataset_image_shape(dataset, sample),
			dataset_orientation(dataset, sample));
	return format_bytes(section->format, section->pixels,
		preparation_output(preparation, image),
		dataset_file_bytes(dataset, sample));
}

bool content_joins(const struct job_config *config)
{
	return config_is_pair(config) &&
	       (config->format == FORMAT_RECORD || config->layout == LAYOUT_BATCH);
}

static uint64_t image_bytes(
	const struct job_config *config, struct tensor_shape image, uint64_t file_bytes)
{
	struct tensor_shape prepared = preparation_output(&config->preparation, image);
	return format_bytes(config->format, config->pixels,
		augment_output(&config->augment, prepared), file_bytes);
}

uint64_t content_second_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample)
{
	struct job_config second = config_second(config);
	sample_id file = dataset_second(dataset, &config->preparation, sample);
	if (file == SAMPLE_NONE)
		return 0;
	second.preparation =
		dataset_preparation_behind(dataset, &config->preparation, sample);
	if (content_joins(config))
		second.format = FORMAT_RAW;
	return content_bytes(&second, dataset, file);
}

/* Returns the length of a file with both images of a pair. If the file is a record, its head is
 * longer than the head of a record with one image. */
static uint64_t joined_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample)
{
	struct job_config first = *config;
	first.n_sections = 0;
	if (first.format == FORMAT_RECORD)
		first.format = FORMAT_RAW;
	uint64_t head = config->format == FORMAT_RECORD ? PAIR_HEAD + sizeof(int64_t) : 0;
	return head + content_bytes(&first, dataset, sample) +
	       content_second_bytes(config, dataset, sample);
}

uint64_t content_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample)
{
	if (content_joins(config))
		return joined_bytes(config, dataset, sample);
	const struct job_section *section = content_section(config, dataset, sample);
	if (section)
		return section_bytes(section, dataset, sample);
	struct tensor_shape image = preparation_image(&config->preparation,
		dataset_image_shape(dataset, sample),
		dataset_orientation(dataset, sample));
	return image_bytes(config, image, dataset_file_bytes(dataset, sample));
}

enum pixel_mode content_mode(
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	return roaring_bitmap_is_empty(selection)
		       ? PIXELS_RGB
		       : dataset_image_shape(dataset, roaring_bitmap_minimum(selection))
				 .mode;
}

enum pixel_mode content_second_mode(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	sample_id second = roaring_bitmap_is_empty(selection)
				   ? SAMPLE_NONE
				   : dataset_second(dataset, &config->preparation,
					     roaring_bitmap_minimum(selection));
	return second == SAMPLE_NONE ? PIXELS_RGB
				     : dataset_image_shape(dataset, second).mode;
}

bool content_bytes_fixed(const struct job_config *config, uint64_t *ret)
{
	struct tensor_shape any = {.height = 1, .width = 1};
	if (config->preparation.channels == CHANNELS_KEEP || content_joins(config) ||
		(config->n_sections && !config_is_pair(config)) ||
		(!preparation_fixed_size(&config->preparation) &&
			!augment_fixed_size(&config->augment)))
		return false;
	*ret = image_bytes(config, any, 0);
	return true;
}

bool content_is_padded(const struct job_config *config)
{
	uint64_t fixed;
	return config->size == SIZE_PADDED && config->layout != LAYOUT_MIRROR &&
	       !content_bytes_fixed(config, &fixed);
}

static bool changes_pixels(const struct job_config *config)
{
	const struct augment_config *augment = &config->augment;
	return config->pixels.dtype != DTYPE_UINT8 || config->pixels.axes != AXES_HWC ||
	       augment->random_crop.width || augment->random_resized_crop.width ||
	       augment->hflip > 0 || augment->normalize.given;
}

bool content_is_computed(const struct job_config *config)
{
	struct file_head head;
	return !config->preparation.encoded &&
	       (config->n_sections || changes_pixels(config) ||
		       !format_head(config->format, &head));
}

bool content_head(const struct job_config *config, struct file_head *ret)
{
	bool composite = config->layout == LAYOUT_TAR || config->layout == LAYOUT_BATCH;
	bool has_head = config->io == IO_AUTO && !composite && !changes_pixels(config) &&
			!config->n_sections && config->pixels.targets == 0 &&
			!config->preparation.frames && !content_is_padded(config) &&
			format_head(config->format, ret);
	if (has_head)
		ret->array = config->pixels.array;
	return has_head;
}

struct largest {
	const struct job_config *config;
	const struct dataset *dataset;
	uint64_t bytes;
	sample_id last; /* sample whose length was computed last; SAMPLE_NONE: none yet */
};

/* Tells whether the image with the largest source file has the longest content among all images of
 * one shape. Then the lengths of the other contents need not be computed. */
static bool shape_decides(const struct job_config *config)
{
	return !config->n_sections && !content_joins(config);
}

static bool is_no_longer(const struct dataset *dataset, sample_id a, sample_id b)
{
	struct tensor_shape x = dataset_image_shape(dataset, a);
	struct tensor_shape y = dataset_image_shape(dataset, b);
	return x.height == y.height && x.width == y.width && x.mode == y.mode &&
	       dataset_orientation(dataset, a) == dataset_orientation(dataset, b) &&
	       dataset_file_bytes(dataset, a) <= dataset_file_bytes(dataset, b);
}

static bool compare_with_largest(uint32_t sample, void *context)
{
	struct largest *largest = context;
	if (shape_decides(largest->config) && largest->last != SAMPLE_NONE &&
		is_no_longer(largest->dataset, sample, largest->last))
		return true;
	uint64_t bytes = content_bytes(largest->config, largest->dataset, sample);
	if (bytes > largest->bytes)
		largest->bytes = bytes;
	largest->last = sample;
	return true;
}

uint64_t content_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	struct largest largest = {
		.config = config, .dataset = dataset, .last = SAMPLE_NONE};
	size_t n;
	const struct dataset_shape *shapes =
		shape_decides(config) ? dataset_shapes(dataset, selection, &n) : NULL;
	if (!shapes)
		roaring_iterate(selection, compare_with_largest, &largest);
	for (size_t i = 0; shapes && i < n; i++)
		compare_with_largest(shapes[i].largest, &largest);
	return largest.bytes;
}

static bool compare_second(uint32_t sample, void *context)
{
	struct largest *largest = context;
	uint64_t bytes = content_second_bytes(largest->config, largest->dataset, sample);
	if (bytes > largest->bytes)
		largest->bytes = bytes;
	return true;
}

uint64_t content_second_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	struct largest largest = {.config = config, .dataset = dataset};
	roaring_iterate(selection, compare_second, &largest);
	return largest.bytes;
}
