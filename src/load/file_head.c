// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/file_head.h"
#include "base/ensure.h"
#include "image/pixel_type.h"

#include <endian.h>
#include <string.h>

#define DICTIONARY_AT 10 /* offset of the dictionary in a NumPy header */

/* Writes the head of a record with a label and an image. label: the NumPy type of the label,
 * without the first quote, such as "<i8'" for a number. If the label is an array, the shape follows
 * the type, as in "<f4', (3,)". type, shape, axes: the image's. */
static void print_record(const char *label, const char *type, const uint32_t *shape,
	size_t axes, size_t bytes, uint8_t *head)
{
	const size_t room = bytes - 1 - DICTIONARY_AT; /* the last byte is a newline */
	char *text = (char *)head + DICTIONARY_AT;
	head_npy(type, shape, axes, bytes, head);
	memset(text, ' ', room);
	int n = snprintf(
		text, room, "{'descr': [('label', '%s), ('image', '%s', (", label, type);
	for (size_t i = 0; i < axes; i++)
		n += snprintf(text + n, room - (size_t)n, "%s%u%s", i ? ", " : "",
			shape[i], axes == 1 ? "," : "");
	n += snprintf(text + n, room - (size_t)n,
		"))], 'fortran_order': False, 'shape': (), }");
	ensure(n > 0 && (size_t)n < room);
	text[n] = ' ';
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
	const size_t room = bytes - 1 - DICTIONARY_AT;
	char *text = (char *)head + DICTIONARY_AT;
	head_npy("|u1", fields[0].shape, 3, bytes, head);
	memset(text, ' ', room);
	int n = snprintf(
		text, room, "{'descr': [%s", records ? "" : "('label', '<i8'), ");
	for (int i = 0; i < 2; i++)
		n += snprintf(text + n, room - (size_t)n, "%s('%s', '%s', (%u, %u, %u))",
			i ? ", " : "", fields[i].name, fields[i].type, fields[i].shape[0],
			fields[i].shape[1], fields[i].shape[2]);
	n += snprintf(
		text + n, room - (size_t)n, "], 'fortran_order': False, 'shape': (");
	if (records)
		n += snprintf(text + n, room - (size_t)n, "%u,", *records);
	n += snprintf(text + n, room - (size_t)n, "), }");
	ensure(n > 0 && (size_t)n < room);
	text[n] = ' ';
}

size_t file_head_targets(const char *type, const uint32_t *shape, size_t axes, uint32_t n,
	uint8_t head[static FILE_HEAD_MOST])
{
	char label[32];
	snprintf(label, sizeof(label), "%cf4', (%u,)",
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>', n);
	print_record(label, type, shape, axes, 2 * HEAD_SIZE, head);
	memset(head + 2 * HEAD_SIZE, 0, 4 * n);
	return 2 * HEAD_SIZE + 4 * n;
}

size_t file_head_make(struct file_head head, struct tensor_shape shape,
	uint8_t ret[static FILE_HEAD_SIZE])
{
	const struct array_type *array = head.kind == HEAD_NPY ? head.array : NULL;
	if (array && head.record)
		return file_head_record(
			array->npy, array->shape, array->axes, head.label, ret);
	if (array) {
		head_npy(array->npy, array->shape, array->axes, HEAD_SIZE, ret);
		return HEAD_SIZE;
	}
	const uint32_t axes[] = {shape.height, shape.width, tensor_channels(shape)};
	return head.record
		       ? file_head_record(pixel_type_npy((struct pixel_type){0}, shape),
				 axes, 3, head.label, ret)
		       : head_make(head.kind, shape, ret);
}
