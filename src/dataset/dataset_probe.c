// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

/*
 * Width and height from a file's header. Which codec is asked is decided by content, not
 * by the name. Both libraries report an error by a call that must not return: it jumps.
 */

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

struct png_trap {
	jmp_buf jump;
	png_structp png;
	png_infop info;
};

static _Noreturn void png_fail(png_structp png, png_const_charp message)
{
	struct png_trap *trap = png_get_error_ptr(png);
	(void)message;
	longjmp(trap->jump, 1);
}

static void png_ignore(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
}

static void png_read_shape(struct png_trap *trap, FILE *file, struct tensor_shape *ret)
{
	trap->png =
		png_create_read_struct(PNG_LIBPNG_VER_STRING, trap, png_fail, png_ignore);
	if (!trap->png)
		return;
	trap->info = png_create_info_struct(trap->png);
	if (!trap->info)
		return;
	png_set_user_limits(trap->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_init_io(trap->png, file);
	png_read_info(trap->png, trap->info);
	*ret = (struct tensor_shape){png_get_image_height(trap->png, trap->info),
		png_get_image_width(trap->png, trap->info)};
}

static void probe_png(FILE *file, struct tensor_shape *ret)
{
	struct png_trap trap = {.png = NULL};
	if (setjmp(trap.jump) == 0)
		png_read_shape(&trap, file, ret);
	png_destroy_read_struct(&trap.png, &trap.info, NULL);
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
	else if (n == sizeof(magic) && png_sig_cmp(magic, 0, sizeof(magic)) == 0)
		probe_png(file, ret);
	return ferror(file) ? -EIO : 0;
}
