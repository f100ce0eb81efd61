// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * prepare RESIZE CROP OUT WIDTHxHEIGHT:FILE...
 *
 * Prepares files as the daemon does, for pixels.py. RESIZE is none, N or WxH, CROP is
 * none or WxH, OUT a directory that gets the bytes of the i-th file as <i>.rgb. Writes a
 * line "WIDTH HEIGHT message" per file, 0 0 for a file that was refused. The size before
 * the file's name is what the catalogue would say.
 */

#include "base/cleanup.h"
#include "load/load.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool parse_size(const char *text, uint32_t *ret_width, uint32_t *ret_height)
{
	return sscanf(text, "%ux%u", ret_width, ret_height) == 2;
}

static bool parse_preparation(
	const char *resize, const char *crop, struct preparation *ret)
{
	*ret = (struct preparation){0};
	if (strcmp(resize, "none") != 0 &&
		!parse_size(resize, &ret->resize_width, &ret->resize_height)) {
		ret->resize_width = 0;
		if (sscanf(resize, "%u", &ret->resize_short) != 1)
			return false;
	}
	return strcmp(crop, "none") == 0 ||
	       parse_size(crop, &ret->crop_width, &ret->crop_height);
}

static bool write_tensor(const char *directory, int index, const struct tensor *tensor)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%d.rgb", directory, index);
	auto_fclose FILE *out = fopen(path, "w");
	return out && fwrite(tensor->data, 1, tensor->bytes, out) == tensor->bytes;
}

static bool prepare_file(struct load_context *context,
	const struct preparation *preparation, const char *directory, int index,
	const char *argument)
{
	struct load_task task = {.preparation = preparation};
	struct stat st;
	const char *colon = strchr(argument, ':');
	if (!colon || !parse_size(argument, &task.expected_image.width,
			      &task.expected_image.height))
		return false;
	task.path = colon + 1;
	if (stat(task.path, &st) != 0)
		return false;
	task.expected_bytes = (uint64_t)st.st_size;
	task.expected_mtime_ns =
		(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	load_prepare(context, &task);
	bool ok = true;
	struct tensor_shape shape = {0};
	if (task.tensor) {
		shape = task.tensor->shape;
		ok = write_tensor(directory, index, task.tensor);
	}
	printf("%u %u %s\n", shape.width, shape.height, task.message);
	free(task.tensor);
	return ok;
}

int main(int argc, char **argv)
{
	struct preparation preparation;
	struct load_context *context;
	if (argc < 4 || !parse_preparation(argv[1], argv[2], &preparation)) {
		fprintf(stderr, "usage: prepare RESIZE CROP OUT WIDTHxHEIGHT:FILE...\n");
		return 2;
	}
	if (load_context_new(&context) != 0)
		return 1;
	bool ok = true;
	for (int i = 4; ok && i < argc; i++)
		ok = prepare_file(context, &preparation, argv[3], i - 4, argv[i]);
	load_context_free(&context);
	return ok ? 0 : 1;
}
