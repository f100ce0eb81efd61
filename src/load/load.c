// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/load.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "load/load_internal.h"
#include "load/metadata.h"
#include "load/orient.h"
#include "stats/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* More than an image of sense can need. */
#define MAX_FILE_BYTES (UINT64_C(2) << 30)

static const struct codec *const codecs[] = {&codec_jpeg, &codec_png};
#define N_CODECS (sizeof(codecs) / sizeof(codecs[0]))

static int (*const check_metadata[N_CODECS])(struct load_task *task, const uint8_t *data,
	size_t size) = {metadata_check_jpeg, metadata_check_png};

struct load_context {
	void *codec_states[N_CODECS];
	struct buffer source; /* the file */
	struct buffer pixels; /* the decoded image, before resize and crop */
	struct buffer turned; /* while it is turned */
	struct resampler *resampler;
	struct load_usage usage;
};

int load_fail(struct load_task *task, int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(task->message, sizeof(task->message), format, args);
	va_end(args);
	return error;
}

int load_context_new(struct load_context **ret)
{
	struct load_context *context = calloc(1, sizeof(*context));
	int err = context ? resampler_new(false, &context->resampler) : -ENOMEM;
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
	buffer_free(&context->turned);
	resampler_free(&context->resampler);
	free(context);
}

int load_context_use_plain(struct load_context *context)
{
	resampler_free(&context->resampler);
	return resampler_new(true, &context->resampler);
}

struct load_usage load_context_usage(const struct load_context *context)
{
	return context->usage;
}

/* Of this thread: waiting for the disk or for a processor is not the stage's. */
static uint64_t cpu_ns(void)
{
	struct timespec now;
	ensure(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void note_peak(struct load_context *context)
{
	size_t bytes = sizeof(*context) + context->source.size + context->pixels.size +
		       context->turned.size + resampler_bytes(context->resampler);
	for (size_t i = 0; i < N_CODECS; i++)
		bytes += codecs[i]->bytes(context->codec_states[i]);
	if (bytes > context->usage.peak_bytes)
		context->usage.peak_bytes = bytes;
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

/* What is done to the open image. */
struct transform {
	struct resample_window window;
	struct tensor_shape shape; /* of the tensor */
	struct image_part part;	   /* of the decoded image */
};

static bool same_shape(struct tensor_shape a, struct tensor_shape b)
{
	return a.height == b.height && a.width == b.width;
}

/* image: as decoded; original: as it is in the file. */
static struct transform plan(const struct preparation *preparation,
	struct tensor_shape original, struct tensor_shape image)
{
	struct tensor_shape size = preparation_resized(preparation, original);
	struct tensor_shape shape = preparation_output(preparation, original);
	struct crop_axis rows = crop_axis(size.height, shape.height);
	struct crop_axis columns = crop_axis(size.width, shape.width);
	return (struct transform){
		.window = {image, size, rows, columns},
		.shape = shape,
		.part = {.rows = resample_source(image.height, size.height, rows),
			.columns = resample_source(image.width, size.width, columns)},
	};
}

static struct image_part whole(struct tensor_shape image)
{
	return (struct image_part){
		.rows.length = image.height, .columns.length = image.width};
}

/* Begins to decode what the transform needs; its part becomes what is decoded. */
static int begin(const struct codec *codec, void *state, struct transform *transform)
{
	if (codec->begin)
		return codec->begin(state, &transform->part);
	transform->part = whole(transform->window.image);
	return 0;
}

/* Whether the tensor is the part as it was decoded. */
static bool nothing_to_do(const struct transform *transform)
{
	const struct image_part *part = &transform->part;
	struct tensor_shape decoded = {
		.height = part->rows.length, .width = part->columns.length};
	return same_shape(transform->window.image, transform->window.size) &&
	       same_shape(decoded, transform->shape);
}

static int resize_and_crop(struct load_context *context,
	const struct transform *transform, struct tensor *tensor)
{
	const struct resample_window *window = &transform->window;
	const struct image_part *part = &transform->part;
	struct crop_axis rows = window->rows, columns = window->columns;
	struct crop_axis from_rows =
		resample_source(window->image.height, window->size.height, rows);
	struct crop_axis from_columns =
		resample_source(window->image.width, window->size.width, columns);
	size_t in_stride = (size_t)part->columns.length * 3;
	size_t stride = (size_t)transform->shape.width * 3;
	if (rows.length < transform->shape.height ||
		columns.length < transform->shape.width)
		memset(tensor->data, 0, tensor->bytes);
	return resampler_run(context->resampler, window,
		context->pixels.data + (from_rows.first - part->rows.first) * in_stride +
			(size_t)(from_columns.first - part->columns.first) * 3,
		in_stride, tensor->data + rows.pad * stride + (size_t)columns.pad * 3,
		stride);
}

/* Decodes the open image into the tensor, by way of context->pixels if anything is to be
 * done to it. */
static int make_tensor(struct load_context *context, struct load_task *task,
	const struct codec *codec, void *state, struct tensor_shape image)
{
	const struct preparation *preparation = task->preparation;
	struct tensor_shape decoded = image;
	if (preparation->approximate && codec->scale)
		decoded = codec->scale(state, preparation_resized(preparation, image));
	struct transform transform = plan(preparation, image, decoded);
	int err = begin(codec, state, &transform);
	if (err)
		return err;
	uint64_t bytes = (uint64_t)transform.shape.height * transform.shape.width * 3;
	task->tensor = tensor_new(transform.shape, bytes);
	if (!task->tensor)
		return fail_memory(task);
	if (nothing_to_do(&transform))
		return codec->read(state, task->tensor->data);
	if (buffer_reserve(&context->pixels, (size_t)transform.part.rows.length *
						     transform.part.columns.length * 3))
		return fail_memory(task);
	err = codec->read(state, context->pixels.data);
	if (err)
		return err;
	uint64_t begun = cpu_ns();
	err = resize_and_crop(context, &transform, task->tensor);
	context->usage.resample_ns += cpu_ns() - begun;
	return err ? fail_memory(task) : 0;
}

static bool is_turned(const struct load_task *task)
{
	return task->preparation->exif && task->orientation > 1;
}

/* context->pixels, turned, becomes the tensor. */
static int turn(struct load_context *context, const struct load_task *task,
	struct tensor_shape image, const struct transform *transform)
{
	struct buffer pixels = context->pixels;
	if (nothing_to_do(transform)) {
		orient(image, task->orientation, pixels.data, task->tensor->data);
		return 0;
	}
	if (buffer_reserve(&context->turned, (size_t)image.height * image.width * 3))
		return -ENOMEM;
	orient(image, task->orientation, pixels.data, context->turned.data);
	context->pixels = context->turned;
	context->turned = pixels;
	return resize_and_crop(context, transform, task->tensor);
}

/* As make_tensor, of all pixels, which are turned before anything else. */
static int make_turned_tensor(struct load_context *context, struct load_task *task,
	const struct codec *codec, void *state, struct tensor_shape image)
{
	struct tensor_shape seen =
		preparation_image(task->preparation, image, task->orientation);
	struct transform transform = plan(task->preparation, seen, seen);
	transform.part = whole(seen);
	struct image_part part = whole(image);
	int err = codec->begin ? codec->begin(state, &part) : 0;
	if (err)
		return err;
	task->tensor = tensor_new(transform.shape,
		(uint64_t)transform.shape.height * transform.shape.width * 3);
	if (!task->tensor ||
		buffer_reserve(&context->pixels, (size_t)image.height * image.width * 3))
		return fail_memory(task);
	err = codec->read(state, context->pixels.data);
	if (err)
		return err;
	uint64_t begun = cpu_ns();
	err = turn(context, task, image, &transform);
	context->usage.resample_ns += cpu_ns() - begun;
	return err ? fail_memory(task) : 0;
}

/* The smallest span that has both. */
static struct crop_axis cover(struct crop_axis a, struct crop_axis b)
{
	uint32_t first = a.first < b.first ? a.first : b.first;
	uint32_t end_a = a.first + a.length, end_b = b.first + b.length;
	uint32_t end = end_a > end_b ? end_a : end_b;
	return (struct crop_axis){.first = first, .length = end - first};
}

static int resize_one(struct load_context *context, struct load_task *task,
	struct tensor_shape image, const struct image_part *part)
{
	struct transform transform = plan(task->preparation, image, image);
	transform.part = *part;
	task->tensor = tensor_new(transform.shape,
		(uint64_t)transform.shape.height * transform.shape.width * 3);
	if (!task->tensor)
		return -ENOMEM;
	return resize_and_crop(context, &transform, task->tensor);
}

/* One decode, several preparations: what all of them need is decoded, then each is made.
 */
static int make_tensors(struct load_context *context, struct load_task *task,
	const struct codec *codec, void *state, struct tensor_shape image)
{
	struct transform all = plan(task->preparation, image, image);
	for (struct load_task *also = task->also; also; also = also->also) {
		struct transform one = plan(also->preparation, image, image);
		ensure(!also->preparation->encoded && !also->preparation->approximate &&
			!also->preparation->exif);
		all.part.rows = cover(all.part.rows, one.part.rows);
		all.part.columns = cover(all.part.columns, one.part.columns);
	}
	int err = begin(codec, state, &all);
	if (err)
		return err;
	if (buffer_reserve(&context->pixels,
		    (size_t)all.part.rows.length * all.part.columns.length * 3))
		return fail_memory(task);
	err = codec->read(state, context->pixels.data);
	if (err)
		return err;
	uint64_t begun = cpu_ns();
	for (struct load_task *one = task; !err && one; one = one->also)
		err = resize_one(context, one, image, &all.part);
	context->usage.resample_ns += cpu_ns() - begun;
	return err ? fail_memory(task) : 0;
}

static int check_image(struct load_task *task, struct tensor_shape image)
{
	uint64_t pixels = (uint64_t)image.height * image.width;
	uint64_t limit = task->max_pixels ? task->max_pixels : LOAD_MAX_PIXELS;
	if (pixels > limit)
		return load_fail(task, -EIO,
			"%" PRIu64 " pixels are more than the limit of %" PRIu64, pixels,
			limit);
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
		return load_fail_unknown(task, data, size);
	int err = check_fault(task, "load.decode");
	if (err)
		return err;
	void *state = context->codec_states[i];
	err = check_metadata[i](task, data, size);
	if (err)
		return err;
	err = codecs[i]->open(state, task, data, size, &image);
	if (!err)
		err = check_image(task, image);
	if (!err)
		err = (is_turned(task) ? make_turned_tensor
			: task->also
				? make_tensors
				: make_tensor)(context, task, codecs[i], state, image);
	note_peak(context);
	codecs[i]->close(state);
	return err;
}

/* begun: reading the file. */
static int decode_timed(
	struct load_context *context, struct load_task *task, uint64_t begun)
{
	struct load_usage *usage = &context->usage;
	uint64_t read = cpu_ns(), resample_ns = usage->resample_ns;
	int err = decode(context, task);
	usage->read_ns += read - begun;
	usage->decode_ns += cpu_ns() - read - (usage->resample_ns - resample_ns);
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
		return load_fail(task, -EIO, "too large for an image");
	if (buffer_reserve(&context->source, task->expected_bytes))
		return fail_memory(task);
	err = read_bytes(task, fd, context->source.data);
	return err ? err : decode_timed(context, task, begun);
}

static void to_file(struct load_task *task)
{
	uint8_t head[HEAD_SIZE];
	size_t head_bytes = head_make(task->head, task->tensor->shape, head);
	task->tensor = tensor_to_file(task->tensor, task->backings, head, head_bytes);
}

/* All that came from one file succeed or fail together. */
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
	task->status = prepare(context, task);
	for (struct load_task *one = task; one; one = one->also)
		finish(one, task);
	buffer_trim(&context->source);
	buffer_trim(&context->pixels);
	buffer_trim(&context->turned);
	stats_add(task->status ? STAT_DECODE_ERRORS : STAT_DECODES, 1);
	stats_add(STAT_DECODE_NS, clock_now_ns() - begin);
}
