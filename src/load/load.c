// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/load_internal.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "stats/stats.h"

#include <errno.h>
#include <string.h>

struct load_context {
	struct image_decoder *decoder;
	struct programs *programs;
	struct load_read *read; /* used only by load_prepare */
	struct buffer outputs;	/* an array of struct image_output */
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
	if (!err && !(context->read = load_read_new()))
		err = -ENOMEM;
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
	load_read_free(&context->read);
	buffer_free(&context->outputs);
	free(context);
}

int load_context_use_plain(struct load_context *context)
{
	return image_decoder_use_plain(context->decoder);
}

void load_context_use_programs(struct load_context *context, struct programs *programs)
{
	context->programs = programs;
}

struct load_usage load_context_usage(const struct load_context *context)
{
	struct image_usage image = image_decoder_usage(context->decoder);
	return (struct load_usage){.read_ns = context->read_ns,
		.decode_ns = image.decode_ns,
		.resample_ns = image.resample_ns,
		.peak_bytes = context->peak_bytes};
}

static void note_peak(struct load_context *context, const struct load_read *read)
{
	size_t bytes = sizeof(*context) + read->bytes.size +
		       image_decoder_usage(context->decoder).bytes;
	if (bytes > context->peak_bytes)
		context->peak_bytes = bytes;
}

static int fail_memory(struct load_task *task)
{
	task->passing = true;
	return fail(task, -ENOMEM, "no memory");
}

/* Triggers the injected fault load.image.NAME; NAME is the last part of the path. */
static void hit_image_fault(const struct load_task *task)
{
	char place[64];
	const char *name = strrchr(task->path, '/');
	snprintf(place, sizeof(place), "load.image.%s", name ? name + 1 : task->path);
	(void)fault_hit(place);
}

/* Makes an output in context->outputs for each task of the chain. NULL: no memory. */
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

void load_name_second(
	const char *name, const char *message, char ret[static IMAGE_MESSAGE])
{
	snprintf(ret, IMAGE_MESSAGE, "its file %.70s: %.60s", name, message);
}

static struct encoded_image image_of(
	const struct load_read *read, const struct load_task *task)
{
	return (struct encoded_image){.data = read->bytes.data,
		.size = task->expected_bytes,
		.shape = task->expected_image,
		.orientation = task->orientation,
		.max_pixels = task->max_pixels};
}

static uint64_t second_bytes(const struct load_task *second)
{
	struct tensor_shape image = preparation_image(
		second->preparation, second->expected_image, second->orientation);
	return preparation_bytes(second->preparation, image, second->expected_bytes);
}

/* Decodes one file of a sample of several files, and copies its pixels to `to`, where the tensor
 * has `bytes` bytes for them. Sets *ret to their shape. */
static int decode_one(struct load_context *context, const struct load_task *file,
	const struct load_read *read, uint8_t *to, uint64_t bytes,
	struct tensor_shape *ret, char message[static IMAGE_MESSAGE])
{
	struct preparation preparation = *file->preparation;
	struct image_output output = {.preparation = &preparation};
	struct encoded_image image = image_of(read, file);
	preparation.frames = 0;
	int err = image_decode(context->decoder, &image, &output, 1, message);
	if (!err) {
		ensure(output.tensor->bytes == bytes);
		memcpy(to, output.tensor->data, bytes);
		*ret = output.tensor->shape;
	}
	tensor_free(output.tensor);
	return err;
}

/* Decodes a sample's second file, such as a mask. Its pixels follow those of the first file. */
static int decode_second(
	struct load_context *context, struct load_task *task, struct tensor *tensor)
{
	const struct load_task *second = task->second;
	uint64_t at = tensor_second_at(tensor_shape_bytes(tensor->shape));
	char message[IMAGE_MESSAGE];
	int err = decode_one(context, second, task->read->second, tensor->data + at,
		tensor->bytes - at, &tensor->second, message);
	if (err)
		load_name_second(second->name, message, task->message);
	else
		tensor->second_at = at;
	return err;
}

/* Decodes the frames of a video (a directory of files), one after another. */
static int decode_frames(struct load_context *context, struct load_task *task)
{
	const struct preparation *preparation = task->preparation;
	struct tensor_shape shape = preparation_output(preparation,
		preparation_image(preparation, task->expected_image, task->orientation));
	struct tensor *tensor = tensor_new(shape, tensor_shape_bytes(shape));
	struct tensor_shape one;
	uint64_t bytes = tensor_shape_bytes(shape) / shape.frames;
	const struct load_read *read = task->read;
	const struct load_task *frame = task;
	char message[IMAGE_MESSAGE];
	int err = 0;
	if (!tensor)
		return fail_memory(task);
	for (uint32_t i = 0; !err && i < shape.frames; i++) {
		ensure(frame);
		err = decode_one(context, frame, read, tensor->data + i * bytes, bytes,
			&one, message);
		if (err && i > 0)
			load_name_second(frame->name, message, task->message);
		else if (err)
			memcpy(task->message, message, sizeof(message));
		frame = frame->second;
		read = read->second;
	}
	task->tensor = tensor;
	return err;
}

static int decode_images(struct load_context *context, struct load_task *task)
{
	struct encoded_image image = image_of(task->read, task);
	size_t n;
	struct image_output *outputs = new_outputs(context, task, &n);
	if (!outputs)
		return fail_memory(task);
	if (task->second)
		outputs[0].room = second_bytes(task->second);
	int err = image_decode(context->decoder, &image, outputs, n, task->message);
	if (!err && task->second)
		err = decode_second(context, task, outputs[0].tensor);
	struct load_task *one = task;
	for (size_t i = 0; i < n; i++, one = one->also)
		one->tensor = outputs[i].tensor;
	return err;
}

static int decode(struct load_context *context, struct load_task *task)
{
	int err = task->preparation->frames ? decode_frames(context, task)
					    : decode_images(context, task);
	task->passing = err == -ENOMEM;
	task->damaged = err && !task->passing;
	note_peak(context, task->read);
	return err;
}

static int run_program(struct load_context *context, struct load_task *task)
{
	const struct program_sample sample = {
		.name = task->name ? task->name : task->path,
		.data = task->read->bytes.data,
		.size = task->expected_bytes};
	ensure(context->programs);
	int err = fault_hit("load.run");
	if (err)
		return fail(task, err, "load.run, as asked for");
	err = programs_run(context->programs, task->preparation->array, &sample,
		&task->tensor, task->message);
	task->passing = err == -ENOMEM || err == -EINTR;
	task->damaged = err && !task->passing;
	return err;
}

/* Copies the error of a failed read to the task. Returns the error, or 0. */
static int take_read(struct load_context *context, struct load_task *task)
{
	const struct load_read *read = task->read;
	if (!read)
		return task->status ? task->status : fail_memory(task);
	context->read_ns += read->cpu_ns;
	if (read->status == 0)
		return 0;
	task->passing = read->passing;
	task->told = read->told;
	task->retry_ns = read->retry_ns;
	return fail(task, read->status, read->message);
}

static int prepare(struct load_context *context, struct load_task *task)
{
	int err = take_read(context, task);
	if (err)
		return err;
	if (fault_is_any())
		hit_image_fault(task);
	if (task->preparation->array)
		return run_program(context, task);
	if (!task->preparation->encoded)
		return decode(context, task);
	task->tensor = task->read->tensor;
	task->read->tensor = NULL;
	return 0;
}

static void to_file(struct load_task *task)
{
	uint8_t head[FILE_HEAD_SIZE];
	size_t head_bytes = file_head_make(task->head, task->tensor->shape, head);
	task->tensor = tensor_to_file(task->tensor, task->backings, head, head_bytes);
}

/* The tasks of a chain succeed or fail together, because they are decoded from the same file. */
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

/* Gives the tasks of the chain the finished tensors that next_decode found in the cache. */
static void take_same(struct load_task *task)
{
	tensor_free(task->read->tensor);
	task->read->tensor = NULL;
	task->decode_ns = task->cpu_ns = 0;
	for (; task; task = task->also) {
		task->status = 0;
		task->tensor = task->same;
		stats_add(STAT_SAME, 1);
	}
}

void load_decode(struct load_context *context, struct load_task *task)
{
	if (task->same) {
		take_same(task);
		return;
	}
	uint64_t begin = clock_now_ns(), cpu_begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (struct load_task *one = task; one; one = one->also)
		one->tensor = NULL;
	task->damaged = false;
	task->status = prepare(context, task);
	for (struct load_task *one = task; one; one = one->also)
		finish(one, task);
	image_decoder_trim(context->decoder);
	stats_add(task->status ? STAT_DECODE_ERRORS : STAT_DECODES, 1);
	task->decode_ns = clock_now_ns() - begin;
	task->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
	stats_add(STAT_DECODE_NS, task->decode_ns);
}

void load_prepare(struct load_context *context, struct load_task *task)
{
	struct load_read *read = context->read;
	task->status = 0;
	task->passing = task->told = false;
	task->retry_ns = 0;
	task->message[0] = '\0';
	task->read = NULL;
	if (load_read_prepare(read, task) == 0) {
		load_read_run(read);
		task->read = read;
	}
	load_decode(context, task);
	task->read = NULL;
	load_read_trim(read);
}
