// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* Replaces load.c and read.c: makes a tensor of one shade, which the number of the file decides. */

#include "simulation.h"

#include "base/clock.h"
#include "load/load_internal.h"

#include <errno.h>
#include <string.h>

struct load_context {
	int unused;
};

int load_context_new(struct load_context **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void load_context_free(struct load_context **context)
{
	free(*context);
	*context = NULL;
}

/* This simulation has no programs. */
void load_context_use_programs(struct load_context *context, struct programs *programs)
{
	(void)context;
	(void)programs;
}

bool is_bad(sample_id sample)
{
	return simulation.bad >> simulation.number_of[sample] & 1;
}

uint8_t shade_of(unsigned number, const struct preparation *preparation)
{
	return (uint8_t)(1 + number * 16 + preparation->resize_width % 16);
}

static unsigned number_in(const char *path)
{
	return (unsigned)strtoul(strrchr(path, '/') + 1, NULL, 10);
}

static struct tensor *make(const struct load_task *task, const struct load_task *first)
{
	struct tensor_shape image = preparation_image(
		task->preparation, first->expected_image, first->orientation);
	uint64_t bytes =
		preparation_bytes(task->preparation, image, first->expected_bytes);
	struct tensor *tensor =
		tensor_new(preparation_output(task->preparation, image), bytes);
	if (tensor)
		memset(tensor->data, shade_of(number_in(first->path), task->preparation),
			bytes);
	return tensor;
}

static int status_of(struct load_task *task)
{
	if (simulation.passing_in && co_one_in(simulation.passing_in)) {
		task->passing = true;
		return co_one_in(2) ? -EIO : -ENOMEM;
	}
	return simulation.bad >> number_in(task->path) & 1 ? -EIO : 0;
}

static void free_all(struct load_task *task)
{
	for (; task; task = task->also) {
		tensor_free(task->tensor);
		task->tensor = NULL;
	}
}

struct load_read *load_read_new(void)
{
	return calloc(1, sizeof(struct load_read));
}

void load_read_free(struct load_read **read)
{
	free(*read);
	*read = NULL;
}

void load_read_trim(struct load_read *read)
{
	(void)read;
}

int load_read_prepare(struct load_read *read, const struct load_task *task)
{
	(void)task;
	read->status = 0;
	return 0;
}

void load_read_run(struct load_read *read)
{
	(void)read;
	if (co_one_in(2))
		co_sleep(co_random(3000000));
}

/* Tells whether the task was refused, or had no memory for its read. */
static bool has_failed(struct load_task *task)
{
	if (task->read)
		return false;
	if (task->status == 0) {
		task->passing = true;
		task->status = -ENOMEM;
	}
	return true;
}

void load_decode(struct load_context *context, struct load_task *task)
{
	(void)context;
	for (struct load_task *one = task; one; one = one->also)
		one->tensor = NULL;
	task->message[0] = '\0';
	if (co_one_in(2))
		co_sleep(co_random(3000000));
	if (!has_failed(task)) {
		task->passing = false;
		task->status = status_of(task);
	}
	task->decode_ns = 1 + co_random(3000000);
	for (struct load_task *one = task; one && !task->status; one = one->also) {
		co_pause();
		one->tensor = make(one, task);
		if (!one->tensor) {
			task->passing = true;
			task->status = -ENOMEM;
		}
	}
	if (task->status)
		free_all(task);
	for (struct load_task *one = task; one; one = one->also)
		one->status = task->status;
}
