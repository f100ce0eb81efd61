// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <zlib.h>

/*
 * Width and height from a file's header. Which codec is asked is decided by content, not
 * by the name. libjpeg reports an error by a call that must not return: it jumps.
 */

/* Signature, and the chunk IHDR with length, name, 13 bytes and checksum. */
#define PNG_MAGIC "\x89PNG\r\n\x1a\n"
#define PNG_START (8 + 8 + 13 + 4)

struct jpeg_trap {
	struct jpeg_error_mgr manager; /* first: libjpeg hands back a pointer to it */
	jmp_buf jump;
};

static _Noreturn void jpeg_fail(j_common_ptr info)
{
	longjmp(((struct jpeg_trap *)info->err)->jump, 1);
}

static void jpeg_ignore_level(j_common_ptr info, int level)
{
	(void)info;
	(void)level;
}

static void jpeg_ignore(j_common_ptr info)
{
	(void)info;
}

static void probe_jpeg(FILE *file, struct tensor_shape *ret)
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
		jpeg_read_header(&info, TRUE);
		*ret = (struct tensor_shape){info.image_height, info.image_width};
	}
	jpeg_destroy_decompress(&info);
}

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The first chunk is enough: what follows decides whether the image can be read. */
static void probe_png(FILE *file, struct tensor_shape *ret)
{
	unsigned char start[PNG_START];
	if (fread(start, 1, sizeof(start), file) != sizeof(start) ||
		memcmp(start + 8, "\0\0\0\rIHDR", 8) != 0 ||
		crc32(0, start + 12, 4 + 13) != big_endian(start + 29))
		return;
	struct tensor_shape shape = {big_endian(start + 20), big_endian(start + 16)};
	if (shape.width <= INT32_MAX && shape.height <= INT32_MAX && shape.width &&
		shape.height)
		*ret = shape;
}

int probe_header(const char *path, struct tensor_shape *ret)
{
	*ret = (struct tensor_shape){0, 0};
	/* O_NONBLOCK: it may have become a fifo since it was listed. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	auto_fclose FILE *file = fdopen(fd, "rb");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	unsigned char magic[8] = {0};
	size_t n = fread(magic, 1, sizeof(magic), file);
	if (ferror(file))
		return -EIO;
	rewind(file);
	if (n >= 2 && magic[0] == 0xff && magic[1] == 0xd8)
		probe_jpeg(file, ret);
	else if (n == sizeof(magic) && memcmp(magic, PNG_MAGIC, sizeof(magic)) == 0)
		probe_png(file, ret);
	return ferror(file) ? -EIO : 0;
}
