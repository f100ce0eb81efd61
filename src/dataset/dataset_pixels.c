// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_map.h"

#include <errno.h>
#include <inttypes.h>

void pixels_count(struct dataset_pixels *pixels, struct tensor_shape image)
{
	const struct pixel_mode_info *mode = &pixel_modes[image.mode];
	if (image.width == 0 || image.height == 0)
		return;
	pixels->of_16_bits += mode->bytes == 2;
	pixels->of_float32 += mode->bytes == 4;
	pixels->with_palette += image.mode == PIXELS_P;
	pixels->with_alpha += mode->alpha;
}

struct dataset_pixels dataset_pixels(const struct dataset *dataset)
{
	return dataset->pixels;
}

bool dataset_knows_pixels(const struct dataset *dataset)
{
	for (size_t i = 0; i < dataset->n_mixed; i++)
		if (!dataset_knows_pixels(dataset->mixed[i]))
			return false;
	return !dataset->map || !dataset->map->head->without_channels;
}

bool dataset_pixels_print(
	const struct dataset_pixels *pixels, char ret[static DATASET_PIXELS_TEXT])
{
	const struct {
		uint32_t n;
		const char *what;
	} kinds[] = {
		{pixels->of_16_bits, "of 16 bits (gray is white from 255 on)"},
		{pixels->of_float32, "of float32 (EIO)"},
		{pixels->with_palette, "with a palette (its colours are taken)"},
		{pixels->with_alpha, "with alpha (it is dropped)"},
	};
	size_t n = 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].n > 0)
			n += (size_t)snprintf(ret + n, DATASET_PIXELS_TEXT - n,
				"%s%" PRIu32 " %s", n ? ", " : "", kinds[i].n,
				kinds[i].what);
	if (n > 0)
		snprintf(ret + n, DATASET_PIXELS_TEXT - n,
			"; channels = keep in [tensor] of a job keeps that");
	return n > 0;
}

int dataset_pixels_known(const struct dataset_config *config, const char *state_dir,
	struct dataset_pixels *ret)
{
	struct catalogue catalogue;
	auto_free char *file = catalogue_file(state_dir, config->name, "");
	auto_free char *root = root_of_path(config->path);
	*ret = (struct dataset_pixels){0};
	if (!file || !root)
		return -ENOMEM;
	int err = catalogue_load(file, root, true, &catalogue);
	if (err)
		return err;
	for (size_t id = 0; id < catalogue.n_rows; id++)
		if (!catalogue.rows[id].gone)
			pixels_count(ret, catalogue.rows[id].facts.image);
	catalogue_free(&catalogue);
	return 0;
}
