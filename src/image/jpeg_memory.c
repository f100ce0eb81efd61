// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/jpeg_memory.h"

#include <string.h>

#include <jerror.h>

/* Rows of samples are padded to a multiple of this number of bytes, because libjpeg's vector code
 * reads and writes whole registers, even beyond a row's end. */
#define ROW_ALIGNMENT ((size_t)64)

/* A virtual array of libjpeg. Each memory manager defines this struct itself. libjpeg's own manager
 * can move virtual arrays to temporary files; this manager keeps them in memory. */
struct jvirt_sarray_control {
	JSAMPARRAY rows;
	JDIMENSION height;
};

struct jvirt_barray_control {
	JBLOCKARRAY rows;
	JDIMENSION height;
};

static void *take(j_common_ptr info, int pool, size_t size)
{
	struct jpeg_memory *memory = (struct jpeg_memory *)info->mem;
	void *piece = scratch_take(&memory->scratch, size);
	(void)pool; /* all memory is freed after the image, so one pool is enough */
	if (!piece)
		ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
	return piece;
}

static size_t multiply(j_common_ptr info, size_t a, size_t b)
{
	size_t product;
	if (__builtin_mul_overflow(a, b, &product))
		ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
	return product;
}

static JSAMPARRAY take_samples(
	j_common_ptr info, int pool, JDIMENSION width, JDIMENSION height)
{
	size_t stride = ((size_t)width * sizeof(JSAMPLE) + ROW_ALIGNMENT - 1) /
			ROW_ALIGNMENT * ROW_ALIGNMENT;
	JSAMPARRAY rows = take(info, pool, multiply(info, height, sizeof(*rows)));
	JSAMPROW data = take(info, pool, multiply(info, height, stride));
	for (JDIMENSION y = 0; y < height; y++)
		rows[y] = data + y * stride;
	return rows;
}

static JBLOCKARRAY take_blocks(
	j_common_ptr info, int pool, JDIMENSION width, JDIMENSION height)
{
	JBLOCKARRAY rows = take(info, pool, multiply(info, height, sizeof(*rows)));
	size_t stride = multiply(info, width, sizeof(JBLOCK));
	JBLOCKROW data = take(info, pool, multiply(info, height, stride));
	for (JDIMENSION y = 0; y < height; y++)
		rows[y] = data + (size_t)y * width;
	return rows;
}

static jvirt_sarray_ptr request_samples(j_common_ptr info, int pool, boolean clear,
	JDIMENSION width, JDIMENSION height, JDIMENSION at_once)
{
	jvirt_sarray_ptr array = take(info, pool, sizeof(*array));
	(void)at_once;
	array->rows = take_samples(info, pool, width, height);
	array->height = height;
	for (JDIMENSION y = 0; clear && y < height; y++)
		memset(array->rows[y], 0, (size_t)width * sizeof(JSAMPLE));
	return array;
}

static jvirt_barray_ptr request_blocks(j_common_ptr info, int pool, boolean clear,
	JDIMENSION width, JDIMENSION height, JDIMENSION at_once)
{
	jvirt_barray_ptr array = take(info, pool, sizeof(*array));
	(void)at_once;
	array->rows = take_blocks(info, pool, width, height);
	array->height = height;
	for (JDIMENSION y = 0; clear && y < height; y++)
		memset(array->rows[y], 0, (size_t)width * sizeof(JBLOCK));
	return array;
}

static void realize_nothing(j_common_ptr info)
{
	(void)info; /* arrays are allocated when they are requested */
}

static void check_access(
	j_common_ptr info, JDIMENSION height, JDIMENSION first, JDIMENSION n)
{
	if (first > height || n > height - first)
		ERREXIT(info, JERR_BAD_VIRTUAL_ACCESS);
}

static JSAMPARRAY access_samples(j_common_ptr info, jvirt_sarray_ptr array,
	JDIMENSION first, JDIMENSION n, boolean writable)
{
	(void)writable;
	check_access(info, array->height, first, n);
	return array->rows + first;
}

static JBLOCKARRAY access_blocks(j_common_ptr info, jvirt_barray_ptr array,
	JDIMENSION first, JDIMENSION n, boolean writable)
{
	(void)writable;
	check_access(info, array->height, first, n);
	return array->rows + first;
}

static void free_nothing(j_common_ptr info, int pool)
{
	(void)info; /* jpeg_memory_reset frees the memory */
	(void)pool;
}

static void destroy_own(j_common_ptr info)
{
	const struct jpeg_memory *memory = (struct jpeg_memory *)info->mem;
	info->mem = memory->own;
	info->mem->self_destruct(info);
}

void jpeg_memory_attach(struct jpeg_memory *memory, struct jpeg_decompress_struct *info)
{
	*memory = (struct jpeg_memory){
		.manager = {.alloc_small = take,
			.alloc_large = take,
			.alloc_sarray = take_samples,
			.alloc_barray = take_blocks,
			.request_virt_sarray = request_samples,
			.request_virt_barray = request_blocks,
			.realize_virt_arrays = realize_nothing,
			.access_virt_sarray = access_samples,
			.access_virt_barray = access_blocks,
			.free_pool = free_nothing,
			.self_destruct = destroy_own,
			.max_memory_to_use = info->mem->max_memory_to_use,
			.max_alloc_chunk = info->mem->max_alloc_chunk},
		.own = info->mem,
	};
	info->mem = &memory->manager;
}

void jpeg_memory_reset(struct jpeg_memory *memory, struct jpeg_decompress_struct *info)
{
	jpeg_abort_decompress(info);
	for (int i = 0; i < NUM_QUANT_TBLS; i++)
		info->quant_tbl_ptrs[i] = NULL;
	for (int i = 0; i < NUM_HUFF_TBLS; i++) {
		info->dc_huff_tbl_ptrs[i] = NULL;
		info->ac_huff_tbl_ptrs[i] = NULL;
	}
	scratch_reset(&memory->scratch);
}
