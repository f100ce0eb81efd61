// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/file_head.h"
#include "image/pixel_type.h"

#include <endian.h>
#include <string.h>

/* Writes the head of a record with a label and an image. label: the NumPy type of the label,
 * without the first quote, such as "<i8'" for a number. If the label is an array, the shape follows
 * the type, as in "<f4', (3,)". type, shape, axes: the image's. */
static void print_record(const char *label, const char *type, const uint32_t *shape,
	size_t axes, size_t bytes, uint8_t *head)
{
	char list[2 * HEAD_SIZE], sizes[SHAPE_TEXT];
	shape_print(shape, axes, sizes);
	snprintf(list, sizeof(list), "[('label', '%s), ('image', '%s', (%s))]", label,
		type, sizes);
	head_npy(list, NULL, 0, bytes, head);
}

size_t file_head_record(const char *type, const uint32_t *shape, size_t axes,
	uint32_t label, uint8_t head[static FILE_HEAD_SIZE])
{
	uint64_t number = htole64(label);
	print_record("<i8'", type, shape, axes, HEAD_SIZE, head);
	memcpy(head + HEAD_SIZE, &number, sizeof(number));
	return FILE_HEAD_SIZE;
}

void file_head_pair(const struct file_head_field fields[static 2],
	const uint32_t *records, size_t bytes, uint8_t *head)
{
	const struct file_head_field *a = &fields[0], *b = &fields[1];
	char list[2 * PAIR_HEAD];
	snprintf(list, sizeof(list),
		"[%s('%s', '%s', (%u, %u, %u)), ('%s', '%s', (%u, %u, %u))]",
		records ? "" : "('label', '<i8'), ", a->name, a->type, a->shape[0],
		a->shape[1], a->shape[2], b->name, b->type, b->shape[0], b->shape[1],
		b->shape[2]);
	head_npy(list, records, records ? 1 : 0, bytes, head);
}

size_t file_head_targets(const char *type, const uint32_t *shape, size_t axes, uint32_t n,
	uint8_t head[static FILE_HEAD_MOST])
{
	char label[32];
	snprintf(label, sizeof(label), OUR_ORDER "f4', (%u,)", n);
	print_record(label, type, shape, axes, 2 * HEAD_SIZE, head);
	memset(head + 2 * HEAD_SIZE, 0, 4 * n);
	return 2 * HEAD_SIZE + 4 * n;
}

size_t file_head_make(struct file_head head, struct tensor_shape shape,
	uint8_t ret[static FILE_HEAD_SIZE])
{
	const uint32_t pixels[] = {shape.height, shape.width, tensor_channels(shape)};
	const struct array_type *array = head.array;
	const char *type =
		array ? array->npy : pixel_type_npy((struct pixel_type){0}, shape);
	const uint32_t *sizes = array ? array->shape : pixels;
	size_t axes = array ? array->axes : 3;
	if (head.kind != HEAD_NPY)
		return head.kind == HEAD_PPM ? head_ppm(shape, ret) : 0;
	if (head.record)
		return file_head_record(type, sizes, axes, head.label, ret);
	head_npy(type, sizes, axes, HEAD_SIZE, ret);
	return HEAD_SIZE;
}
