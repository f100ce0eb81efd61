// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/byte_order.h"
#include "dataset/dataset_internal.h"
#include "image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>
#include <zlib.h>

/* The content of a file, not the name, decides which codec reads the header. libjpeg reports errors
 * by a function that must not return, so jpeg_fail uses longjmp. */

/* A PNG begins with its signature and the chunk IHDR: length, name, 13 bytes, checksum. */
#define PNG_MAGIC "\x89PNG\r\n\x1a\n"
#define PNG_START (8 + 8 + 13 + 4)
/* Bytes of the largest deflated sample whose header is read. A larger sample is probably no image,
 * or an attack on the memory. */
#define MOST_DEFLATED_BYTES ((uint64_t)256 << 20)

struct jpeg_trap {
	/* the first member, because jpeg_fail casts the address of `manager` to a jpeg_trap */
	struct jpeg_error_mgr manager;
	jmp_buf jump;
};

static _Noreturn void jpeg_fail(j_common_ptr info)
{
	longjmp(((struct jpeg_trap *)info->err)->jump, 1);
}

static void jpeg_ignore_level(j_common_ptr info, int level)
{
	(void)info, (void)level;
}

static void jpeg_ignore(j_common_ptr info)
{
	(void)info;
}

/* The first EXIF segment counts, as in PIL. */
static uint8_t jpeg_orientation(const struct jpeg_marker_struct *segment)
{
	for (; segment; segment = segment->next) {
		size_t size = segment->data_length;
		if (size < 5 || memcmp(segment->data, "Exif\0", 5) != 0)
			continue;
		bool complete = size >= 6 && segment->data[5] == 0;
		return complete ? exif_orientation(segment->data + 6, size - 6) : 1;
	}
	return 1;
}

static void probe_jpeg(FILE *file, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	struct jpeg_decompress_struct info;
	struct jpeg_trap trap;
	memset(&info, 0, sizeof(info));
	info.err = jpeg_std_error(&trap.manager);
	trap.manager.error_exit = jpeg_fail;
	trap.manager.emit_message = jpeg_ignore_level;
	trap.manager.output_message = jpeg_ignore;
	if (setjmp(trap.jump) == 0) {
		jpeg_create_decompress(&info);
		jpeg_stdio_src(&info, file);
		jpeg_save_markers(&info, JPEG_APP0 + 1, 0xffff);
		jpeg_read_header(&info, TRUE);
		*ret = (struct tensor_shape){.height = info.image_height,
			.width = info.image_width,
			.mode = image_jpeg_mode(info.num_components)};
		*ret_orientation = jpeg_orientation(info.marker_list);
	}
	jpeg_destroy_decompress(&info);
}

static void probe_png(FILE *file, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	unsigned char start[PNG_START];
	if (fread(start, 1, sizeof(start), file) != sizeof(start) ||
		memcmp(start + 8, "\0\0\0\rIHDR", 8) != 0 ||
		crc32(0, start + 12, 4 + 13) != get_be32(start + 29))
		return;
	struct tensor_shape shape = {.height = get_be32(start + 20),
		.width = get_be32(start + 16),
		.mode = image_png_mode(start[24], start[25])};
	if (shape.width <= INT32_MAX && shape.height <= INT32_MAX && shape.width &&
		shape.height) {
		*ret = shape;
		*ret_orientation = png_orientation(file);
	}
}

/* Reads the header of other formats than JPEG and PNG, for some of them the whole file. */
static void probe_other(FILE *file, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	struct exif_data exif;
	uint8_t begin[IMAGE_BEGIN];
	size_t most = image_head_bytes(begin, fread(begin, 1, sizeof(begin), file));
	if (most == 0 || fseek(file, 0, SEEK_END) != 0)
		return;
	long end = ftell(file);
	size_t bytes = end > 0 && (size_t)end < most ? (size_t)end : most;
	rewind(file);
	auto_free uint8_t *data = malloc(bytes);
	if (!data || fread(data, 1, bytes, file) != bytes ||
		!image_probe(data, bytes, ret, &exif))
		return;
	if (exif.data)
		*ret_orientation = exif_orientation(exif.data, exif.size);
}

static int probe_stream(FILE *file, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	unsigned char magic[8] = {0};
	size_t n = fread(magic, 1, sizeof(magic), file);
	if (ferror(file))
		return -EIO;
	rewind(file);
	if (n >= 2 && magic[0] == 0xff && magic[1] == 0xd8)
		probe_jpeg(file, ret, ret_orientation);
	else if (n == sizeof(magic) && memcmp(magic, PNG_MAGIC, sizeof(magic)) == 0)
		probe_png(file, ret, ret_orientation);
	else if (n > 0)
		probe_other(file, ret, ret_orientation);
	return ferror(file) ? -EIO : 0;
}

/* Makes a file, or a part of a container, readable as a FILE. `head` keeps the first bytes, so that
 * they are read only once even if the FILE is rewound. */
struct window {
	read_at *read;
	void *context;
	uint64_t begin, bytes, at;
	size_t n_head;
	char head[4096];
};

static ssize_t window_fill(struct window *window)
{
	size_t most = sizeof(window->head);
	ssize_t n = window->read(window->context, window->head,
		window->bytes < most ? (size_t)window->bytes : most, window->begin);
	window->n_head = n > 0 ? (size_t)n : 0;
	return n;
}

static ssize_t window_read(void *context, char *out, size_t size)
{
	struct window *window = context;
	uint64_t left = window->bytes - window->at;
	ssize_t n = 1;
	if (left == 0)
		return 0;
	if (window->at == 0 && window->n_head == 0)
		n = window_fill(window);
	if (n <= 0)
		return n;
	if (window->at < window->n_head) {
		left = window->n_head - window->at;
		n = (ssize_t)(size < left ? size : left);
		memcpy(out, window->head + window->at, (size_t)n);
	} else {
		n = window->read(window->context, out, size < left ? size : (size_t)left,
			window->begin + window->at);
	}
	if (n > 0)
		window->at += (uint64_t)n;
	return n;
}

static int window_seek(void *context, off64_t *position, int whence)
{
	struct window *window = context;
	int64_t base = whence == SEEK_SET   ? 0
		       : whence == SEEK_CUR ? (int64_t)window->at
					    : (int64_t)window->bytes;
	int64_t at = base + *position;
	if (at < 0)
		return -1;
	window->at = (uint64_t)at < window->bytes ? (uint64_t)at : window->bytes;
	*position = at;
	return 0;
}

static int probe_window(
	struct window *window, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	static const cookie_io_functions_t functions = {
		.read = window_read, .seek = window_seek};
	auto_fclose FILE *file = fopencookie(window, "rb", functions);
	return file ? probe_stream(file, ret, ret_orientation) : -ENOMEM;
}

static int read_all(
	read_at *read, void *context, const struct source_part *part, uint8_t *ret)
{
	for (uint64_t done = 0; done < part->stored_bytes;) {
		ssize_t n = read(context, ret + done, part->stored_bytes - done,
			part->offset + done);
		if (n <= 0)
			return -EIO;
		done += (uint64_t)n;
	}
	return 0;
}

static int probe_deflated(read_at *read, void *context, const struct source_part *part,
	uint64_t bytes, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	if (bytes > MOST_DEFLATED_BYTES || part->stored_bytes > MOST_DEFLATED_BYTES)
		return 0;
	auto_free uint8_t *stored = malloc(part->stored_bytes + 1);
	auto_free uint8_t *sample = malloc(bytes + 1);
	if (!stored || !sample)
		return -ENOMEM;
	int err = read_all(read, context, part, stored);
	if (err)
		return err;
	if (source_unpack(part, stored, sample, bytes) != 0 || bytes == 0)
		return 0;
	auto_fclose FILE *file = fmemopen(sample, bytes, "rb");
	return file ? probe_stream(file, ret, ret_orientation) : -ENOMEM;
}

int probe_part(read_at *read, void *context, const struct source_part *part,
	uint64_t bytes, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	struct window window = {
		.read = read, .context = context, .begin = part->offset, .bytes = bytes};
	*ret = (struct tensor_shape){.height = 0, .width = 0};
	*ret_orientation = 1;
	if (part->method == PART_DEFLATED)
		return probe_deflated(read, context, part, bytes, ret, ret_orientation);
	return probe_window(&window, ret, ret_orientation);
}

static ssize_t read_file(void *context, void *ret, size_t bytes, uint64_t offset)
{
	return pread(*(const int *)context, ret, bytes, (off_t)offset);
}

int probe_header(const char *path, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	*ret = (struct tensor_shape){.height = 0, .width = 0};
	*ret_orientation = 1;
	/* A FIFO may have replaced the file since it was listed; O_NONBLOCK: open does not wait. */
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) != 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EIO;
	/* A window takes fewer system calls than fdopen. */
	struct window window = {
		.read = read_file, .context = &fd, .bytes = (uint64_t)status.st_size};
	return probe_window(&window, ret, ret_orientation);
}
