// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "files/format.h"

#include <string.h>

/*
 * encode FORMAT HEIGHT WIDTH PADDING FILE: writes a tensor of random pixels, which are the same
 * for equal sizes, in the format, followed by PADDING zeros. For tests/clients/formats.py.
 */

static struct tensor *random_tensor(struct tensor_shape shape)
{
	struct rng rng;
	uint64_t bytes = (uint64_t)shape.height * shape.width * 3;
	struct tensor *tensor = tensor_new(shape, bytes);
	if (!tensor)
		return NULL;
	rng_seed(&rng, rng_mix(shape.height, shape.width));
	for (uint64_t i = 0; i < bytes; i++)
		tensor->data[i] = (uint8_t)rng_next(&rng);
	return tensor;
}

static bool write_file(const char *path, const struct formatted *file,
	const struct tensor *tensor, unsigned long padding)
{
	FILE *out = fopen(path, "wb");
	if (!out)
		return false;
	if (file->encoded) {
		fwrite(file->encoded, 1, file->bytes, out);
	} else {
		fwrite(file->head, 1, file->head_bytes, out);
		fwrite(tensor->data, 1, tensor->bytes, out);
	}
	while (padding-- > 0)
		putc(0, out);
	bool failed = ferror(out) != 0;
	return fclose(out) == 0 && !failed;
}

static bool format_of(const char *name, enum sample_format *ret)
{
	static const char *const names[] = {[FORMAT_PPM] = "ppm",
		[FORMAT_BMP] = "bmp",
		[FORMAT_PNG] = "png",
		[FORMAT_NPY] = "npy",
		[FORMAT_RAW] = "raw"};
	for (*ret = FORMAT_PPM; *ret < FORMAT_SOURCE; ++*ret)
		if (strcmp(name, names[*ret]) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	enum sample_format format;
	struct formatted file;
	if (argc != 6 || !format_of(argv[1], &format)) {
		fprintf(stderr,
			"usage: %s ppm|bmp|png|npy|raw HEIGHT WIDTH PADDING "
			"FILE\n",
			argv[0]);
		return 2;
	}
	struct tensor_shape shape = {
		.height = (uint32_t)strtoul(argv[2], NULL, 10),
		.width = (uint32_t)strtoul(argv[3], NULL, 10),
	};
	auto_free struct tensor *tensor = random_tensor(shape);
	if (!tensor || format_make(format, (struct pixel_type){0}, tensor, 0, &file) < 0)
		return 1;
	bool written = write_file(argv[5], &file, tensor, strtoul(argv[4], NULL, 10));
	format_free(&file);
	if (!written)
		perror(argv[5]);
	return written ? 0 : 1;
}
