// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/dataset_internal.h"
#include "load/load.h"
#include "memory_file.h"

#include <string.h>

/*
 * A file of any bytes is treated as a sample: its header is examined as in a scan, then it is
 * prepared. A worker's context that was used for all earlier files must give the same result as a
 * new one.
 */

#define MAX_FUZZ_PIXELS (1u << 16) /* larger images take long and find no other bugs */

static const struct preparation fuzz_preparations[] = {
	{0},
	{.resize_short = 16, .crop_width = 12, .crop_height = 12},
	{.resize_width = 9, .resize_height = 31},
	{.crop_width = 40, .crop_height = 7},
	{.approximate = true, .resize_short = 5},
	{.fills_truncated = true, .resize_short = 9, .crop_width = 8, .crop_height = 11},
	{.exif = true, .resize_short = 9, .crop_width = 8, .crop_height = 11},
	{.channels = CHANNELS_KEEP},
	{.channels = CHANNELS_KEEP, .exif = true, .fills_truncated = true},
	{.channels = CHANNELS_KEEP, .resize_short = 9, .filter = FILTER_BICUBIC},
	{.channels = CHANNELS_KEEP,
		.resize_long = 9,
		.filter = FILTER_NEAREST,
		.pad_square = true,
		.fill = {7, 7, 7}},
};

#define N_FUZZ_PREPARATIONS (sizeof(fuzz_preparations) / sizeof(fuzz_preparations[0]))

static inline struct load_task fuzz_prepare(struct load_context *context,
	const char *path, size_t size, struct tensor_shape image, uint8_t orientation,
	const struct preparation *preparation)
{
	struct stat st;
	ensure(stat(path, &st) == 0);
	struct load_task task = {
		.path = path,
		.expected_bytes = size,
		.expected_mtime_ns =
			(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
		.expected_image = image,
		.orientation = orientation,
		.preparation = preparation,
	};
	load_prepare(context, &task);
	ensure(task.status == 0 || task.message[0]);
	return task;
}

static inline void fuzz_image(const uint8_t *data, size_t size)
{
	static struct load_context *old;
	struct load_context *new;
	struct tensor_shape image;
	uint8_t orientation;
	struct memory_file file;
	const struct preparation *preparation =
		&fuzz_preparations[size % N_FUZZ_PREPARATIONS];
	if (!old)
		ensure(log_to_file("/dev/null") == 0 && load_context_new(&old) == 0);
	ensure(load_context_new(&new) == 0);
	memory_file_open(&file, data, size);
	ensure(probe_header(file.path, &image, &orientation) == 0);
	if ((uint64_t)image.height * image.width <= MAX_FUZZ_PIXELS) {
		struct load_task a = fuzz_prepare(
			old, file.path, size, image, orientation, preparation);
		struct load_task b = fuzz_prepare(
			new, file.path, size, image, orientation, preparation);
		ensure(a.status == b.status && strcmp(a.message, b.message) == 0);
		if (a.tensor)
			ensure(memcmp(a.tensor->data, b.tensor->data, a.tensor->bytes) ==
				0);
		tensor_free(a.tensor);
		tensor_free(b.tensor);
	}
	memory_file_close(&file);
	load_context_free(&new);
}
