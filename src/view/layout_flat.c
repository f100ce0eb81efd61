// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "view/layout_flat.h"
#include "base/ensure.h"
#include "view/augment.h"
#include "view/format.h"

#include <ctype.h>
#include <string.h>

#define LABEL_EXTENSION "cls"
#define MAX_DIGITS 10 /* of a uint32_t */

void flat_print(struct flat_name name, const char *extension, char ret[FLAT_NAME])
{
	int n = snprintf(ret, FLAT_NAME, "%08u.%s", name.position,
		name.label ? LABEL_EXTENSION : extension);
	ensure(n > 0 && n < FLAT_NAME);
}

bool flat_parse(const char *name, const char *extension, uint32_t n_positions,
	struct flat_name *ret)
{
	size_t digits = 0;
	uint64_t position = 0;
	while (digits <= MAX_DIGITS && isdigit((unsigned char)name[digits]))
		position = position * 10 + (uint64_t)(name[digits++] - '0');
	if (digits > MAX_DIGITS || position >= n_positions)
		return false;
	if (digits != 8 && (digits < 8 || name[0] == '0'))
		return false;
	if (name[digits] != '.')
		return false;
	bool label = strcmp(name + digits + 1, LABEL_EXTENSION) == 0;
	if (!label && strcmp(name + digits + 1, extension) != 0)
		return false;
	*ret = (struct flat_name){.label = label, .position = (uint32_t)position};
	return true;
}

static uint64_t image_bytes(
	const struct job_config *config, struct tensor_shape image, uint64_t file_bytes)
{
	struct tensor_shape prepared = preparation_output(&config->preparation, image);
	return format_file_bytes(config->format, config->pixels,
		augment_output(&config->augment, prepared), file_bytes);
}

uint64_t flat_file_bytes(
	const struct job_config *config, const struct dataset *dataset, sample_id sample)
{
	struct tensor_shape image = preparation_image(&config->preparation,
		dataset_image_shape(dataset, sample),
		dataset_orientation(dataset, sample));
	return image_bytes(config, image, dataset_file_bytes(dataset, sample));
}

bool flat_file_bytes_fixed(const struct job_config *config, uint64_t *ret)
{
	struct tensor_shape any = {.height = 1, .width = 1};
	if (!preparation_fixed_size(&config->preparation) &&
		!augment_fixed_size(&config->augment))
		return false;
	*ret = image_bytes(config, any, 0);
	return true;
}

struct largest {
	const struct job_config *config;
	const struct dataset *dataset;
	uint64_t bytes;
};

static bool compare_with_largest(uint32_t sample, void *context)
{
	struct largest *largest = context;
	uint64_t bytes = flat_file_bytes(largest->config, largest->dataset, sample);
	if (bytes > largest->bytes)
		largest->bytes = bytes;
	return true;
}

uint64_t flat_file_bytes_largest(const struct job_config *config,
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	struct largest largest = {.config = config, .dataset = dataset};
	roaring_iterate(selection, compare_with_largest, &largest);
	return largest.bytes;
}

uint32_t flat_label_bytes(uint32_t n_classes)
{
	uint32_t digits = 1;
	for (uint32_t label = n_classes ? n_classes - 1 : 0; label >= 10; label /= 10)
		digits++;
	return digits + 1;
}

void flat_label(uint32_t label, uint32_t label_bytes, char ret[FLAT_LABEL])
{
	ensure(label_bytes < FLAT_LABEL);
	int n = snprintf(ret, FLAT_LABEL, "%u", label);
	ensure(n > 0 && (uint32_t)n < label_bytes);
	memset(ret + n, '\n', label_bytes - (uint32_t)n);
}
