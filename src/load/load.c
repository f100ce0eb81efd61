// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/load.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "load/load_internal.h"
#include "load/resample.h"
#include "stats/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

/* PIL's decompression bomb limit. */
#define MAX_PIXELS (UINT64_C(2) * 89478485)
/* More than an image within that limit can need. */
#define MAX_FILE_BYTES (UINT64_C(2) << 30)
/* A worker does not keep larger buffers from one image to the next. */
#define KEEP_BYTES ((size_t)64 << 20)

static const struct codec *const codecs[] = {&codec_jpeg, &codec_png};
#define N_CODECS (sizeof(codecs) / sizeof(codecs[0]))

struct load_context {
	void *codec_states[N_CODECS];
	struct buffer source; /* the file */
	struct buffer pixels; /* the decoded image, before resize and crop */
};

int load_fail(struct load_task *task, int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(task->message, sizeof(task->message), format, args);
	va_end(args);
	return error;
}

int buffer_reserve(struct buffer *buffer, size_t size)
{
	if (size <= buffer->size)
		return 0;
	buffer_free(buffer);
	buffer->data = malloc(size);
	if (!buffer->data)
		return -ENOMEM;
	buffer->size = size;
	return 0;
}

void buffer_trim(struct buffer *buffer)
{
	if (buffer->size > KEEP_BYTES)
		buffer_free(buffer);
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){0};
}

int load_context_new(struct load_context **ret)
{
	struct load_context *context = calloc(1, sizeof(*context));
	int err = context ? 0 : -ENOMEM;
	for (size_t i = 0; !err && i < N_CODECS; i++)
		err = codecs[i]->create(&context->codec_states[i]);
	if (err)
		load_context_free(&context);
	*ret = context;
	return err;
}

void load_context_free(struct load_context **context_pointer)
{
	struct load_context *context = *context_pointer;
	*context_pointer = NULL;
	if (!context)
		return;
	for (size_t i = 0; i < N_CODECS; i++)
		if (context->codec_states[i])
			codecs[i]->destroy(context->codec_states[i]);
	buffer_free(&context->source);
	buffer_free(&context->pixels);
	free(context);
}

static int fail_errno(struct load_task *task, int error)
{
	load_fail(task, 0, "%s", strerror(error));
	if (error == ENOENT || error == ENOTDIR)
		return -ENOENT;
	return error == ENOMEM ? -ENOMEM : -EIO;
}

static int fail_memory(struct load_task *task)
{
	return load_fail(task, -ENOMEM, "no memory");
}

static int check_fault(struct load_task *task, const char *place)
{
	int err = fault_hit(place);
	if (err)
		load_fail(task, 0, "%s: %s, as asked for", place, strerror(-err));
	return err;
}

static int check_unchanged(struct load_task *task, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return fail_errno(task, errno);
	if (!S_ISREG(st.st_mode))
		return load_fail(task, -EIO, "not a regular file");
	int64_t mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if ((uint64_t)st.st_size != task->expected_bytes ||
		mtime_ns != task->expected_mtime_ns)
		return load_fail(task, -ESTALE, "changed since the scan");
	return 0;
}

static int read_bytes(struct load_task *task, int fd, uint8_t *out)
{
	uint64_t done = 0;
	while (done < task->expected_bytes) {
		ssize_t n = read(fd, out + done, task->expected_bytes - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(task, errno);
		if (n == 0)
			break;
		done += (uint64_t)n;
	}
	stats_add(STAT_SOURCE_BYTES, done);
	/* Once more, for a file that is written to while it is read. */
	int err = check_unchanged(task, fd);
	if (!err && done < task->expected_bytes)
		err = load_fail(task, -EIO, "ends before its size");
	return err;
}

static int open_source(struct load_task *task, int *ret)
{
	/* O_NONBLOCK: a FIFO in its place would wait for a writer. */
	*ret = open(task->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*ret < 0)
		return fail_errno(task, errno);
	int err = check_unchanged(task, *ret);
	return err ? err : check_fault(task, "load.read");
}

static int prepare_encoded(struct load_task *task, int fd)
{
	task->tensor = tensor_new((struct tensor_shape){0}, task->expected_bytes);
	if (!task->tensor)
		return fail_memory(task);
	return read_bytes(task, fd, task->tensor->data);
}

/* What PIL might read and we do not. */
static const struct {
	const char *name;
	size_t offset;
	size_t bytes;
	const char *magic;
} unsupported[] = {
	{"webp", 8, 4, "WEBP"},
	{"gif", 0, 4, "GIF8"},
	{"bmp", 0, 2, "BM"},
	{"tiff", 0, 4, "II*\0"},
	{"tiff", 0, 4, "MM\0*"},
	{"heif or avif", 4, 4, "ftyp"},
	{"jpeg 2000", 4, 4, "jP  "},
	{"jpeg 2000", 0, 4, "\xff\x4f\xff\x51"},
	{"jpeg xl", 4, 4, "JXL "},
	{"jpeg xl", 0, 2, "\xff\x0a"},
	{"psd", 0, 4, "8BPS"},
	{"pgm", 0, 2, "P5"},
	{"ppm", 0, 2, "P6"},
};

static int fail_unknown(struct load_task *task, const uint8_t *data, size_t size)
{
	if (size == 0)
		return load_fail(task, -EIO, "empty file");
	for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
		size_t end = unsupported[i].offset + unsupported[i].bytes;
		if (size >= end &&
			memcmp(data + unsupported[i].offset, unsupported[i].magic,
				unsupported[i].bytes) == 0)
			return load_fail(
				task, -EIO, "unsupported: %s", unsupported[i].name);
	}
	return load_fail(task, -EIO, "not an image");
}

/* Decodes the open image into the tensor, by way of context->pixels if anything is to be
 * done to it. */
static int make_tensor(struct load_context *context, struct load_task *task,
	const struct codec *codec, void *state, struct tensor_shape image)
{
	struct tensor_shape size = preparation_resized(task->preparation, image);
	struct tensor_shape shape = preparation_output(task->preparation, image);
	struct crop_axis rows = crop_axis(size.height, shape.height);
	struct crop_axis columns = crop_axis(size.width, shape.width);
	uint64_t bytes = (uint64_t)shape.height * shape.width * 3;
	size_t stride = (size_t)shape.width * 3;

	task->tensor = tensor_new(shape, bytes);
	if (!task->tensor)
		return fail_memory(task);
	if (size.height == image.height && size.width == image.width &&
		shape.height == image.height && shape.width == image.width)
		return codec->read(state, task->tensor->data);
	if (buffer_reserve(&context->pixels, (size_t)image.height * image.width * 3))
		return fail_memory(task);
	int err = codec->read(state, context->pixels.data);
	if (err)
		return err;
	if (rows.length < shape.height || columns.length < shape.width)
		memset(task->tensor->data, 0, bytes);
	err = resample(context->pixels.data, image, size, rows, columns,
		task->tensor->data + rows.pad * stride + (size_t)columns.pad * 3, stride);
	return err ? fail_memory(task) : 0;
}

static int check_image(struct load_task *task, struct tensor_shape image)
{
	uint64_t pixels = (uint64_t)image.height * image.width;
	if (pixels > MAX_PIXELS)
		return load_fail(task, -EIO,
			"%" PRIu64 " pixels are more than the limit of %" PRIu64, pixels,
			MAX_PIXELS);
	if (image.height != task->expected_image.height ||
		image.width != task->expected_image.width)
		return load_fail(task, -ESTALE, "is %ux%u, was %ux%u at the scan",
			image.width, image.height, task->expected_image.width,
			task->expected_image.height);
	return 0;
}

static int decode(struct load_context *context, struct load_task *task)
{
	const uint8_t *data = context->source.data;
	size_t size = task->expected_bytes;
	struct tensor_shape image;
	size_t i = 0;
	while (i < N_CODECS &&
		(size < codecs[i]->magic_bytes ||
			memcmp(data, codecs[i]->magic, codecs[i]->magic_bytes) != 0))
		i++;
	if (i == N_CODECS)
		return fail_unknown(task, data, size);
	int err = check_fault(task, "load.decode");
	if (err)
		return err;
	void *state = context->codec_states[i];
	err = codecs[i]->open(state, task, data, size, &image);
	if (!err)
		err = check_image(task, image);
	if (!err)
		err = make_tensor(context, task, codecs[i], state, image);
	codecs[i]->close(state);
	return err;
}

static int prepare(struct load_context *context, struct load_task *task)
{
	auto_close int fd = -1;
	int err = open_source(task, &fd);
	if (err)
		return err;
	if (task->preparation->encoded)
		return prepare_encoded(task, fd);
	if (task->expected_bytes > MAX_FILE_BYTES)
		return load_fail(task, -EIO, "too large for an image");
	if (buffer_reserve(&context->source, task->expected_bytes))
		return fail_memory(task);
	err = read_bytes(task, fd, context->source.data);
	return err ? err : decode(context, task);
}

void load_prepare(struct load_context *context, struct load_task *task)
{
	uint64_t begin = clock_now_ns();
	task->tensor = NULL;
	task->message[0] = '\0';
	task->status = prepare(context, task);
	if (task->status) {
		free(task->tensor);
		task->tensor = NULL;
	}
	ensure((task->status == 0) == (task->tensor != NULL));
	buffer_trim(&context->source);
	buffer_trim(&context->pixels);
	stats_add(task->status ? STAT_DECODE_ERRORS : STAT_DECODES, 1);
	stats_add(STAT_DECODE_NS, clock_now_ns() - begin);
}
