// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load_images.h"

/*
 * A worker that has already prepared a similar image allocates only the tensor, and libjpeg and
 * libpng allocate nothing. All allocations of the process come through here; sanitizers and
 * valgrind have their own allocator.
 */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static __thread unsigned allocations;

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
	allocations++;
	return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	allocations++;
	return __libc_memalign(alignment, size);
}

void free(void *memory)
{
	__libc_free(memory);
}

#define SHAPE ((struct tensor_shape){.height = 150, .width = 200})
#define N_FILES 6

static void make_files(struct image_file *files)
{
	static uint8_t pixels[200 * 150 * 3];
	struct jpeg_options jpeg = {.space = JCS_RGB, .channels = 3};
	struct png_options png = {.color = PNG_COLOR_TYPE_RGB, .depth = 8};
	struct bytes bytes[N_FILES];
	bytes[0] = jpeg_bytes(SHAPE, jpeg);
	jpeg.progressive = true;
	bytes[1] = jpeg_bytes(SHAPE, jpeg);
	bytes[2] = jpeg_bytes(
		SHAPE, (struct jpeg_options){.space = JCS_GRAYSCALE, .channels = 1});
	bytes[3] = jpeg_bytes(
		SHAPE, (struct jpeg_options){.space = JCS_CMYK, .channels = 4});
	bytes[4] = png_bytes(SHAPE, png, pixels);
	png.interlaced = true;
	bytes[5] = png_bytes(SHAPE, png, pixels);
	for (int i = 0; i < N_FILES; i++) {
		files[i] = file_write(bytes[i], SHAPE);
		files[i].task.path = files[i].path;
		free(bytes[i].data);
	}
}

static void prepare_all(struct load_context *context, struct image_file *files)
{
	for (int i = 0; i < N_FILES; i++) {
		load_prepare(context, &files[i].task);
		cr_assert(zero(int, files[i].task.status));
		tensor_free(files[i].task.tensor);
	}
}

Test(load_allocations, an_image_costs_one_for_its_tensor)
{
	static const struct preparation preparations[] = {
		{0},
		{.resize_short = 64},
		{.resize_short = 64, .crop_width = 50, .crop_height = 40},
		{.crop_width = 50, .crop_height = 40},
		{.resize_width = 90, .resize_height = 20, .approximate = true},
	};
	const char *preloaded = getenv("LD_PRELOAD");
	struct image_file files[N_FILES];
	struct load_context *context;
	if (preloaded && strstr(preloaded, "vgpreload"))
		cr_skip_test("valgrind takes the allocations elsewhere");
	make_files(files);
	cr_assert(zero(int, load_context_new(&context)));
	for (size_t k = 0; k < sizeof(preparations) / sizeof(preparations[0]); k++) {
		for (int i = 0; i < N_FILES; i++)
			files[i].task.preparation = &preparations[k];
		prepare_all(context, files);
		unsigned before = allocations;
		cr_assert(before > N_FILES, "allocations are not counted");
		prepare_all(context, files);
		prepare_all(context, files);
		cr_assert(eq(uint, allocations - before, 2 * N_FILES));
	}
	load_context_free(&context);
	for (int i = 0; i < N_FILES; i++)
		unlink(files[i].path);
}

#else

Test(load_allocations, an_image_costs_one_for_its_tensor)
{
	cr_skip_test("the sanitizer allocates");
}

#endif
