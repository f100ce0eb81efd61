// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/content.h"
#include "base/log.h"
#include "files/content_bytes.h"
#include "image/augment.h"

#include <errno.h>
#include <inttypes.h>

/* A reader was told st_size: a shorter content is wrong data, a longer one would
 * be cut. */
static int check_size(const struct content *content, struct sched_job *job,
	const struct sched_handle *handle)
{
	const struct job_config *config = sched_job_config(job);
	if (content->format.bytes == content->size ||
		(content_is_padded(config) && content->format.bytes < content->size))
		return 0;
	log_warn("job %s: sample %" PRIu32 ": %" PRIu64 " bytes, not %" PRIu64
		 ": its file was changed after the dataset was scanned",
		config->name, sched_handle_sample(handle), content->format.bytes,
		content->size);
	return -EIO;
}

/* How the job's samples look, or those that are prepared by a section. */
struct look {
	enum sample_format format;
	struct pixel_type pixels;
	struct normalize_config normalize;
	bool as_it_is; /* the shared tensor is not changed */
};

static const struct job_section *section_of(
	struct sched_job *job, uint32_t epoch, const struct sched_handle *handle)
{
	const struct job_config *config = sched_job_config(job);
	if (!config->n_sections)
		return NULL;
	auto_edition *edition = sched_edition(job, epoch);
	return content_section(config, edition->dataset, sched_handle_sample(handle));
}

static struct look look_of(struct sched_job *job, const struct content_place *place,
	const struct sched_handle *handle)
{
	const struct job_config *config = sched_job_config(job);
	const struct job_section *section = section_of(job, place->epoch, handle);
	if (section)
		return (struct look){.format = section->format,
			.pixels = section->pixels,
			.as_it_is = section->preparation.encoded};
	return (struct look){.format = place->format,
		.pixels = config->pixels,
		.normalize = config->augment.normalize,
		.as_it_is = config->preparation.encoded || config->pixels.array};
}

static int augment(const struct job_config *config, uint64_t daemon_seed,
	const struct content_place *place, const struct look *look,
	const struct tensor *tensor, struct tensor **ret)
{
	*ret = NULL;
	if (look->as_it_is)
		return 0;
	uint64_t seed = augment_seed(&config->augment, config->name, daemon_seed);
	struct augment_plan plan = augment_plan(
		&config->augment, seed, place->epoch, place->position, tensor->shape);
	return augment_apply(&look->normalize, look->pixels, &plan, tensor, ret);
}

static uint32_t label_in(struct sched_job *job, enum sample_format format, uint32_t epoch,
	const struct sched_handle *handle)
{
	if (format != FORMAT_RECORD)
		return 0;
	auto_edition *edition = sched_edition(job, epoch);
	return dataset_label(edition->dataset, sched_handle_sample(handle));
}

static int make(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret)
{
	const struct job_config *config = sched_job_config(job);
	const struct look look = look_of(job, place, handle);
	ret->tensor = sched_handle_tensor(handle);
	int err = augment(config, context->config->seed, place, &look, ret->tensor,
		&ret->augmented);
	if (err)
		return err;
	if (ret->augmented)
		ret->tensor = ret->augmented;
	err = format_make(look.format, look.pixels, ret->tensor,
		label_in(job, look.format, place->epoch, handle), &ret->format);
	if (err)
		return err;
	if (ret->format.encoded) {
		tensor_free(ret->augmented);
		ret->augmented = NULL;
		ret->tensor = NULL;
	}
	return check_size(ret, job, handle);
}

/* The tensor itself counts in the cache. */
static int hold(struct content *content)
{
	uint64_t bytes = content->augmented ? content->augmented->bytes : 0;
	if (content->format.encoded)
		bytes += content->format.bytes;
	int err = bytes > 0 ? sched_hold_content(content->sched, bytes) : 0;
	content->held = err ? 0 : bytes;
	return err;
}

int content_make(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret)
{
	*ret = (struct content){.size = place->size, .sched = context->sched};
	int err = make(context, job, place, handle, ret);
	if (!err)
		err = hold(ret);
	if (err)
		content_free(ret);
	return err;
}

void content_free(struct content *content)
{
	if (content->held > 0)
		sched_drop_content(content->sched, content->held);
	format_free(&content->format);
	tensor_free(content->augmented);
	*content = (struct content){0};
}

struct content_parts content_parts(const struct content *content)
{
	const struct formatted *format = &content->format;
	if (format->encoded)
		return (struct content_parts){.body = format->encoded,
			.body_bytes = format->bytes,
			.size = content->size};
	return (struct content_parts){.head = format->head,
		.head_bytes = format->head_bytes,
		.body = content->tensor->data,
		.body_bytes = format->bytes - format->head_bytes,
		.size = content->size};
}
