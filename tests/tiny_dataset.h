// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/ensure.h"

#include <ftw.h>
#include <png.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/*
 * An ImageFolder tree of tiny PNGs for tests that need real samples:
 * <root>/<class>/<number>.png, side x side pixels, all of the shade number % 256.
 */

static inline char *tiny_path(const char *directory, const char *name)
{
	char *path;
	ensure(asprintf(&path, "%s/%s", directory, name) > 0);
	return path;
}

static inline void tiny_png(const char *path, uint32_t side, uint32_t number)
{
	png_image image = {.version = PNG_IMAGE_VERSION,
		.width = side,
		.height = side,
		.format = PNG_FORMAT_RGB};
	auto_free uint8_t *pixels = malloc(3 * (size_t)side * side);
	ensure(pixels);
	memset(pixels, (int)(number % 256), 3 * (size_t)side * side);
	ensure(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
}

/* Sample i goes into class i % n_classes. */
static inline void tiny_dataset(
	const char *root, uint32_t n_classes, uint32_t n_samples, uint32_t side)
{
	char name[64];
	ensure(mkdir(root, 0755) == 0);
	for (uint32_t c = 0; c < n_classes; c++) {
		snprintf(name, sizeof(name), "class%u", c);
		auto_free char *path = tiny_path(root, name);
		ensure(mkdir(path, 0755) == 0);
	}
	for (uint32_t i = 0; i < n_samples; i++) {
		snprintf(name, sizeof(name), "class%u/%06u.png", i % n_classes, i);
		auto_free char *path = tiny_path(root, name);
		tiny_png(path, side, i);
	}
}

/* Makes a new directory. The caller frees the name. */
static inline char *tiny_directory(void)
{
	const char *base = getenv("TMPDIR");
	char *path = tiny_path(base && base[0] ? base : "/tmp", "joaderfs-test-XXXXXX");
	ensure(mkdtemp(path));
	return path;
}

static inline int tiny_remove_one(
	const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st, (void)type, (void)walk;
	return remove(path);
}

static inline void tiny_remove(const char *root)
{
	ensure(nftw(root, tiny_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}
