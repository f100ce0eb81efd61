// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../jpeg_twin.h"

/*
 * joaderfs' JPEG decoder beside libjpeg. Input that begins as a JPEG is decoded as it is. From
 * other input libjpeg makes a regular JPEG whose coefficients are the input's bytes.
 */

#define MAX_FUZZ_PIXELS (1u << 16) /* larger images take long and find no other bugs */
#define RECIPE_BYTES 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
	const uint8_t *data;
	size_t size;
	size_t at;
};

static unsigned next(struct source *source)
{
	return source->at < source->size ? source->data[source->at++] : 0;
}

/* Fills the block: a byte says how many zeros come first, the next one or two bytes are a
 * coefficient. */
static void fill(void *context, int component, JCOEF block[DCTSIZE2])
{
	(void)component;
	for (int k = 0; k < DCTSIZE2; k++) {
		unsigned what = next(context);
		k += what & 31;
		if (what == 0 || k >= DCTSIZE2)
			return;
		int value = (int8_t)next(context);
		if (what & 32)
			value = value * 8 + (int)(what >> 6);
		block[k] = (JCOEF)(k == 0 ? value * 7 % 900 : value % 1023);
	}
}

static uint8_t *make(const uint8_t *data, size_t size, size_t *ret_size)
{
	static const int factors[][3] = {{3, 1, 1}, {3, 2, 1}, {3, 2, 2}, {1, 1, 1}};
	struct source source = {data, size, RECIPE_BYTES};
	const int *kind = factors[data[0] % 4];
	struct twin_recipe recipe = {
		.width = 1 + data[1] % 70u,
		.height = 1 + data[2] % 70u,
		.components = kind[0],
		.h = kind[1],
		.v = kind[2],
		.quality = 1 + data[3] % 100,
		.restart_interval = data[4] % 8,
		.optimized = data[5] % 2,
	};
	return twin_encode(&recipe, fill, &source, ret_size);
}

static void compare(const uint8_t *data, size_t size, uint64_t seed)
{
	static struct baseline *decoders[2];
	enum twin_result results[2][3];
	uint32_t width, height;
	for (int plain = 0; plain < 2 && !decoders[plain]; plain++) {
		decoders[plain] = baseline_new(plain);
		ensure(decoders[plain]);
	}
	if (!baseline_open(decoders[0], data, size, &width, &height) ||
		(uint64_t)width * height > MAX_FUZZ_PIXELS)
		return;
	struct twin_image image = twin_decode(data, size);
	for (int plain = 0; plain < 2; plain++) {
		struct rng rng;
		rng_seed(&rng, seed);
		for (int i = 0; i < 3; i++) {
			results[plain][i] = twin_compare(
				decoders[plain], data, size, image, i ? &rng : NULL);
			ensure(results[plain][i] != TWIN_DIFFERS);
		}
	}
	ensure(memcmp(results[0], results[1], sizeof(results[0])) == 0);
	free(image.pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t seed = size;
	for (size_t i = 0; i < size; i++)
		seed = rng_mix(seed, data[i]);
	if (size < RECIPE_BYTES)
		return 0;
	if (data[0] == 0xff) {
		compare(data, size, seed);
		return 0;
	}
	size_t made;
	uint8_t *file = make(data, size, &made);
	if (file)
		compare(file, made, seed);
	free(file);
	return 0;
}
