// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Prepares files as the daemon does, for tests/clients/exact. Reads lines
 * "RESIZE CROP EXIF FORMAT FILE": RESIZE is none, N or WxH, CROP is none or WxH, EXIF
 * ignore or apply, FORMAT one of a job's. Answers each with a line "WIDTH HEIGHT BYTES
 * MESSAGE" and, behind it, so many bytes of the file that a job would read; 0 0 0 when it
 * was refused. The catalogue is taken to say what a scan finds in the file's
 * header.
 */

#include "dataset/dataset_internal.h"
#include "files/format.h"
#include "load/load.h"

#include <string.h>
#include <sys/stat.h>

struct request {
	char resize[24];
	char crop[24];
	char exif[8];
	char format[8];
	char path[4000];
};

static bool parse_size(const char *text, uint32_t *ret_width, uint32_t *ret_height)
{
	return sscanf(text, "%ux%u", ret_width, ret_height) == 2;
}

static bool parse_preparation(const struct request *request, struct preparation *ret)
{
	*ret = (struct preparation){.exif = strcmp(request->exif, "apply") == 0};
	if (strcmp(request->resize, "none") != 0 &&
		!parse_size(request->resize, &ret->resize_width, &ret->resize_height)) {
		ret->resize_width = 0;
		if (sscanf(request->resize, "%u", &ret->resize_short) != 1)
			return false;
	}
	return strcmp(request->crop, "none") == 0 ||
	       parse_size(request->crop, &ret->crop_width, &ret->crop_height);
}

static bool parse_format(const char *name, enum sample_format *ret)
{
	for (*ret = FORMAT_PPM; *ret < FORMAT_SOURCE; ++*ret)
		if (strcmp(name, format_name(*ret)) == 0)
			return true;
	return false;
}

static bool describe(const char *path, struct load_task *task)
{
	struct stat st;
	task->path = path;
	uint8_t orientation;
	if (stat(path, &st) != 0 ||
		probe_header(path, &task->expected_image, &orientation) != 0)
		return false;
	task->orientation = orientation;
	task->expected_bytes = (uint64_t)st.st_size;
	task->expected_mtime_ns =
		(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return true;
}

static bool write_sample(enum sample_format format, const struct tensor *tensor)
{
	struct formatted file;
	if (format_make(format, (struct pixel_type){0}, tensor, 0, &file) < 0)
		return false;
	printf("%u %u %zu\n", tensor->shape.width, tensor->shape.height,
		(size_t)file.bytes);
	if (file.encoded) {
		fwrite(file.encoded, 1, file.bytes, stdout);
	} else {
		fwrite(file.head, 1, file.head_bytes, stdout);
		fwrite(tensor->data, 1, tensor->bytes, stdout);
	}
	format_free(&file);
	return true;
}

static bool answer(struct load_context *context, const struct request *request)
{
	struct preparation preparation;
	struct load_task task = {.preparation = &preparation};
	enum sample_format format;
	if (!parse_preparation(request, &preparation) ||
		!parse_format(request->format, &format) ||
		!describe(request->path, &task))
		return false;
	load_prepare(context, &task);
	bool ok = true;
	if (task.tensor)
		ok = write_sample(format, task.tensor);
	else
		printf("0 0 0 %s\n", task.message);
	tensor_free(task.tensor);
	return fflush(stdout) == 0 && ok;
}

int main(void)
{
	struct load_context *context;
	struct request request;
	if (load_context_new(&context) != 0)
		return 1;
	bool ok = true;
	while (ok && scanf(" %23s %23s %7s %7s %3999[^\n]", request.resize, request.crop,
			     request.exif, request.format, request.path) == 5)
		ok = answer(context, &request);
	load_context_free(&context);
	return ok ? 0 : 1;
}
