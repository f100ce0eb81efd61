// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/sample_content.h"
#include "base/log.h"
#include "files/sample_bytes.h"
#include "image/augment.h"

#include <errno.h>
#include <inttypes.h>

/* A reader was told st_size: less is wrong data, more would be cut off. */
static int check_size(const struct sample_content *content, struct sched_job *job,
	const struct sched_handle *handle)
{
	const struct job_config *config = sched_job_config(job);
	if (content->format.bytes == content->size ||
		(sample_bytes_padded(config) && content->format.bytes < content->size))
		return 0;
	log_warn("job %s: sample %" PRIu32 ": %" PRIu64 " bytes, not %" PRIu64
		 ": its file was changed after the dataset was scanned",
		config->name, sched_handle_sample(handle), content->format.bytes,
		content->size);
	return -EIO;
}

static int augment(const struct job_config *config, uint64_t daemon_seed,
	const struct sample_place *place, const struct tensor *tensor,
	struct tensor **ret)
{
	*ret = NULL;
	if (config->preparation.encoded)
		return 0;
	uint64_t seed = augment_seed(&config->augment, config->name, daemon_seed);
	struct augment_plan plan = augment_plan(
		&config->augment, seed, place->epoch, place->position, tensor->shape);
	return augment_apply(
		&config->augment.normalize, config->pixels, &plan, tensor, ret);
}

static int make(const struct view_context *context, struct sched_job *job,
	const struct sample_place *place, const struct sched_handle *handle,
	struct sample_content *ret)
{
	const struct job_config *config = sched_job_config(job);
	ret->tensor = sched_handle_tensor(handle);
	int err = augment(
		config, context->config->seed, place, ret->tensor, &ret->augmented);
	if (err)
		return err;
	if (ret->augmented)
		ret->tensor = ret->augmented;
	err = format_file_make(place->format, config->pixels, ret->tensor, &ret->format);
	if (err)
		return err;
	if (ret->format.encoded) {
		tensor_free(ret->augmented);
		ret->augmented = NULL;
		ret->tensor = NULL;
	}
	return check_size(ret, job, handle);
}

int sample_content_make(const struct view_context *context, struct sched_job *job,
	const struct sample_place *place, const struct sched_handle *handle,
	struct sample_content *ret)
{
	*ret = (struct sample_content){.size = place->size};
	int err = make(context, job, place, handle, ret);
	if (err)
		sample_content_free(ret);
	return err;
}

void sample_content_free(struct sample_content *content)
{
	format_file_free(&content->format);
	tensor_free(content->augmented);
	*content = (struct sample_content){0};
}

struct slice_source sample_content_source(const struct sample_content *content)
{
	const struct format_file *format = &content->format;
	if (format->encoded)
		return (struct slice_source){.body = format->encoded,
			.body_bytes = format->bytes,
			.size = content->size};
	return (struct slice_source){.head = format->head,
		.head_bytes = format->head_bytes,
		.body = content->tensor->data,
		.body_bytes = format->bytes - format->head_bytes,
		.size = content->size};
}
