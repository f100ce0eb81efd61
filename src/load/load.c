// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/load.h"
#include "load/passing.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "image/buffer.h"
#include "load/beneath.h"
#include "stats/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* More than any sensible image needs. */
#define MAX_FILE_BYTES (UINT64_C(2) << 30)

struct load_context {
	struct image_decoder *decoder;
	struct buffer source;  /* the file */
	struct buffer outputs; /* an array of struct image_output */
	uint64_t read_ns;
	size_t peak_bytes;
};

static int fail(struct load_task *task, int error, const char *text)
{
	snprintf(task->message, sizeof(task->message), "%s", text);
	return error;
}

int load_context_new(struct load_context **ret)
{
	struct load_context *context = calloc(1, sizeof(*context));
	int err = context ? image_decoder_new(&context->decoder) : -ENOMEM;
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
	image_decoder_free(&context->decoder);
	buffer_free(&context->source);
	buffer_free(&context->outputs);
	free(context);
}

int load_context_use_plain(struct load_context *context)
{
	return image_decoder_use_plain(context->decoder);
}

struct load_usage load_context_usage(const struct load_context *context)
{
	struct image_usage image = image_decoder_usage(context->decoder);
	return (struct load_usage){.read_ns = context->read_ns,
		.decode_ns = image.decode_ns,
		.resample_ns = image.resample_ns,
		.peak_bytes = context->peak_bytes};
}

/* The thread's own time: waiting for the disk or for a processor does not count. */
static uint64_t cpu_ns(void)
{
	struct timespec now;
	ensure(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void note_peak(struct load_context *context)
{
	size_t bytes = sizeof(*context) + context->source.size +
		       image_decoder_usage(context->decoder).bytes;
	if (bytes > context->peak_bytes)
		context->peak_bytes = bytes;
}

static int fail_errno(struct load_task *task, int error)
{
	fail(task, 0, strerror(error));
	task->passing = load_error_passes(error, task->path);
	if (error == ENOENT || error == ENOTDIR)
		return -ENOENT;
	return error == ENOMEM ? -ENOMEM : -EIO;
}

static int fail_memory(struct load_task *task)
{
	task->passing = true;
	return fail(task, -ENOMEM, "no memory");
}

/* load.image.NAME, where NAME is that of the file. */
static void hit_image_fault(const struct load_task *task)
{
	char place[64];
	const char *name = strrchr(task->path, '/');
	snprintf(place, sizeof(place), "load.image.%s", name ? name + 1 : task->path);
	(void)fault_hit(place);
}

static int check_fault(struct load_task *task)
{
	if (fault_is_any())
		hit_image_fault(task);
	int err = fault_hit("load.read"), remote = fault_hit("load.remote");
	if (err)
		task->passing = load_error_passes(-err, task->path);
	else if (remote)
		task->passing = true;
	err = err ? err : remote;
	if (err)
		snprintf(task->message, sizeof(task->message), "%s: %s, as asked for",
			remote ? "load.remote" : "load.read", strerror(-err));
	return err;
}

static int check_unchanged(struct load_task *task, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return fail_errno(task, errno);
	if (!S_ISREG(st.st_mode))
		return fail(task, -EIO, "not a regular file");
	int64_t mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if ((uint64_t)st.st_size != task->expected_bytes ||
		mtime_ns != task->expected_mtime_ns)
		return fail(task, -ESTALE, "changed since the scan");
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
	/* Checks again, for a file that was written to while it was read. */
	int err = check_unchanged(task, fd);
	if (!err && done < task->expected_bytes)
		err = fail(task, -EIO, "ends before its size");
	return err;
}

static int try_to_open(const struct load_task *task)
{
	/* O_NONBLOCK: opening a FIFO would wait for a writer. */
	static const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	if (task->root)
		return open_beneath(task->root, task->path, flags);
	int fd = open(task->path, flags);
	return fd < 0 ? -errno : fd;
}

static int open_path(const struct load_task *task)
{
	int fd;
	do
		fd = try_to_open(task);
	while (fd == -EINTR);
	return fd;
}

static int open_source(struct load_task *task, int *ret)
{
	*ret = open_path(task);
	if (*ret == -EXDEV)
		return fail(task, -EIO,
			"a symbolic link leads out of the dataset "
			"(symlinks = follow allows it)");
	if (*ret < 0)
		return fail_errno(task, -*ret);
	int err = check_unchanged(task, *ret);
	return err ? err : check_fault(task);
}

static int prepare_encoded(struct load_task *task, int fd)
{
	task->tensor = tensor_new((struct tensor_shape){0}, task->expected_bytes);
	if (!task->tensor)
		return fail_memory(task);
	return read_bytes(task, fd, task->tensor->data);
}

/* One for each task of the chain. Their memory is kept from one sample to the next. */
static struct image_output *new_outputs(
	struct load_context *context, const struct load_task *task, size_t *ret_n)
{
	size_t n = 0;
	for (const struct load_task *one = task; one; one = one->also)
		n++;
	*ret_n = n;
	if (buffer_reserve(&context->outputs, n * sizeof(struct image_output)))
		return NULL;
	struct image_output *outputs = (void *)context->outputs.data;
	for (size_t i = 0; i < n; i++, task = task->also)
		outputs[i] = (struct image_output){.preparation = task->preparation};
	return outputs;
}

static int decode(struct load_context *context, struct load_task *task)
{
	struct encoded_image image = {.data = context->source.data,
		.size = task->expected_bytes,
		.shape = task->expected_image,
		.orientation = task->orientation,
		.max_pixels = task->max_pixels};
	size_t n;
	struct image_output *outputs = new_outputs(context, task, &n);
	if (!outputs)
		return fail_memory(task);
	int err = image_decode(context->decoder, &image, outputs, n, task->message);
	struct load_task *one = task;
	for (size_t i = 0; i < n; i++, one = one->also)
		one->tensor = outputs[i].tensor;
	task->passing = err == -ENOMEM;
	note_peak(context);
	return err;
}

static int prepare(struct load_context *context, struct load_task *task)
{
	auto_close int fd = -1;
	uint64_t begun = cpu_ns();
	int err = open_source(task, &fd);
	if (err)
		return err;
	if (task->preparation->encoded)
		return prepare_encoded(task, fd);
	if (task->expected_bytes > MAX_FILE_BYTES)
		return fail(task, -EIO, "too large for an image");
	if (buffer_reserve(&context->source, task->expected_bytes))
		return fail_memory(task);
	err = read_bytes(task, fd, context->source.data);
	context->read_ns += cpu_ns() - begun;
	return err ? err : decode(context, task);
}

static void to_file(struct load_task *task)
{
	uint8_t head[HEAD_SIZE];
	size_t head_bytes = head_make(task->head, task->tensor->shape, head);
	task->tensor = tensor_to_file(task->tensor, task->backings, head, head_bytes);
}

/* The tasks of a chain succeed or fail together. */
static void finish(struct load_task *one, const struct load_task *first)
{
	one->status = first->status;
	if (one != first)
		memcpy(one->message, first->message, sizeof(one->message));
	if (one->status) {
		tensor_free(one->tensor);
		one->tensor = NULL;
	} else if (one->backings) {
		to_file(one);
	}
	ensure((one->status == 0) == (one->tensor != NULL));
}

void load_prepare(struct load_context *context, struct load_task *task)
{
	uint64_t begin = clock_now_ns();
	for (struct load_task *one = task; one; one = one->also)
		one->tensor = NULL;
	task->message[0] = '\0';
	task->passing = false;
	task->status = prepare(context, task);
	for (struct load_task *one = task; one; one = one->also)
		finish(one, task);
	buffer_trim(&context->source);
	image_decoder_trim(context->decoder);
	stats_add(task->status ? STAT_DECODE_ERRORS : STAT_DECODES, 1);
	stats_add(STAT_DECODE_NS, clock_now_ns() - begin);
}
