// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/content_bytes.h"
#include "files/format.h"

#include <criterion/criterion.h>
#include <string.h>

/* Which jobs' files are the shared tensor behind a head. */

static const struct job_config plain = {.format = FORMAT_PPM,
	.preparation = {.crop_width = 3, .crop_height = 2},
	.io = IO_AUTO};

static bool is_tensor(struct job_config config)
{
	struct file_head head;
	return content_head(&config, &head);
}

static const enum sample_format formats[] = {FORMAT_PPM, FORMAT_BMP, FORMAT_PNG,
	FORMAT_NPY, FORMAT_RAW, FORMAT_SOURCE, FORMAT_RECORD};

/* If content_head names a head, the format makes this head; otherwise the format makes a whole
 * file. */
Test(content_head, is_the_one_that_the_format_makes)
{
	struct tensor *tensor =
		tensor_new((struct tensor_shape){.height = 2, .width = 3}, 2 * 3 * 3);
	memset(tensor->data, 7, tensor->bytes);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct job_config config = plain;
		struct formatted file;
		uint8_t head[FILE_HEAD_SIZE];
		struct file_head kind;
		config.format = formats[i];
		cr_assert_eq(format_make(formats[i], config.pixels, tensor, 9, &file), 0);
		cr_assert_eq(content_head(&config, &kind), file.encoded == NULL);
		if (!file.encoded) {
			kind.label = 9;
			size_t bytes = file_head_make(kind, tensor->shape, head);
			cr_assert_eq(bytes, file.head_bytes);
			cr_assert_eq(memcmp(head, file.head, bytes), 0);
		}
		format_free(&file);
	}
	tensor_free(tensor);
}

Test(content_head, there_is_none_where_something_is_done_to_pixels)
{
	struct job_config config = plain;
	cr_assert(is_tensor(config));
	config.augment.hflip = 0.1;
	cr_assert_not(is_tensor(config));
	config = plain;
	config.augment.random_crop = (struct tensor_shape){.height = 1, .width = 1};
	cr_assert_not(is_tensor(config));
	config = plain;
	config.augment.random_resized_crop =
		(struct tensor_shape){.height = 1, .width = 1};
	cr_assert_not(is_tensor(config));
	config = plain;
	config.format = FORMAT_NPY;
	cr_assert(is_tensor(config));
	config.pixels.dtype = DTYPE_FLOAT16;
	cr_assert_not(is_tensor(config));
	config.pixels = (struct pixel_type){.axes = AXES_CHW};
	cr_assert_not(is_tensor(config));
}

Test(content_head, there_is_none_where_zeros_follow_or_samples_share_a_file)
{
	struct job_config config = plain;
	config.preparation = (struct preparation){.resize_short = 8};
	cr_assert_not(is_tensor(config));
	config.size = SIZE_EXACT;
	cr_assert(is_tensor(config));
	config = plain;
	config.layout = LAYOUT_TAR;
	cr_assert_not(is_tensor(config));
	config.layout = LAYOUT_BATCH;
	cr_assert_not(is_tensor(config));
	config.layout = LAYOUT_MIRROR;
	cr_assert(is_tensor(config));
	config.io = IO_DIRECT;
	cr_assert_not(is_tensor(config));
}
