// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/backing.h"
#include "base/cleanup.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A tensor: a prepared sample. Usually it holds pixels as (height, width, channels), without
 * padding: 8-bit RGB, or another mode. The tensor of a video (a directory of frames) has several
 * images of one size. The tensor of a pair has two images, such as an image and its mask. The
 * tensor of an "encoded" preparation has the bytes of the source file, and the size 0x0. The tensor
 * of a program's array has the array's numbers; if these are not pixels, it has the size 0x0.
 *
 *   Owns: its bytes and its file in memory, until the last holder calls tensor_free.
 *   Threads: any. A tensor no longer changes when other threads can reach it.
 */

/* Pillow's modes of pixels, and modes of 16 bits that Pillow lacks. */
enum pixel_mode {
	PIXELS_RGB,
	PIXELS_L, /* gray */
	PIXELS_P, /* indices of a palette */
	PIXELS_LA,
	PIXELS_RGBA,
	PIXELS_L16,
	PIXELS_LA16,
	PIXELS_RGB16,
	PIXELS_RGBA16,
	PIXELS_F, /* one channel of floats */
	N_PIXEL_MODES
};

struct pixel_mode_info {
	const char *name; /* name in messages */
	uint8_t channels;
	uint8_t bytes; /* bytes of a number: 1 or 2 (unsigned integers), 4 (floats) */
	bool alpha;    /* the last channel is alpha */
};
extern const struct pixel_mode_info pixel_modes[N_PIXEL_MODES];

/* Returns the mode that has this number of channels, each of `bits` bits. palette: the pixels are
 * palette indices. Returns PIXELS_RGB if there is no such mode. */
enum pixel_mode pixel_mode_of(unsigned channels, unsigned bits, bool palette);

struct tensor_shape {
	uint32_t height;
	uint32_t width;
	enum pixel_mode mode;
	/* number of images of a video, one after another; 0: a single image */
	uint32_t frames;
};

static inline uint32_t tensor_channels(struct tensor_shape shape)
{
	return pixel_modes[shape.mode].channels;
}

/* Returns the bytes of a number. Numbers are in the byte order of this machine. */
static inline uint32_t tensor_number_bytes(struct tensor_shape shape)
{
	return pixel_modes[shape.mode].bytes;
}

static inline uint32_t tensor_pixel_bytes(struct tensor_shape shape)
{
	return tensor_channels(shape) * tensor_number_bytes(shape);
}

struct tensor {
	struct tensor_shape shape;
	uint64_t bytes;
	uint8_t *data;
	/* the file in memory with the tensor's bytes, which the kernel can read; zeros: none */
	struct backing file;
	/* the bytes that precede the tensor in `file`, such as the header of a PPM */
	const uint8_t *head;
	size_t head_bytes;
	/* shape of the second image of a pair, at data + second_at; zeros: there is none */
	struct tensor_shape second;
	uint64_t second_at;
	/* id of the job that first requested the tensor; 0: not known */
	uint32_t made_for;
	atomic_uint holds; /* number of holders; the last holder frees the tensor */
};

/* Returns the bytes of all images, or UINT64_MAX if 64 bits do not suffice. */
uint64_t tensor_shape_bytes(struct tensor_shape shape);

#define TENSOR_SECOND_ALIGN 16
static inline uint64_t tensor_second_at(uint64_t first_bytes)
{
	return (first_bytes + TENSOR_SECOND_ALIGN - 1) / TENSOR_SECOND_ALIGN *
	       TENSOR_SECOND_ALIGN;
}
/* Makes *ret a view of the first or second image of a pair. *ret must not outlive `tensor`. */
void tensor_view(const struct tensor *tensor, bool second, struct tensor *ret);

struct tensor *tensor_new(struct tensor_shape shape, uint64_t bytes);
/* Copies `head` and the tensor to a file in memory, so that the kernel can serve reads. Frees the
 * tensor, and returns the copy. If no file can be made, returns the unchanged tensor itself. */
struct tensor *tensor_to_file(struct tensor *tensor, struct backings *backings,
	const uint8_t *head, size_t head_bytes);
struct tensor *tensor_hold(struct tensor *tensor);
/* Ends the use of the tensor by one holder. If this was the last holder, frees the tensor. `tensor`
 * may be NULL. */
void tensor_free(struct tensor *tensor);
