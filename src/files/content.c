// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "files/content.h"
#include "files/content_bytes.h"
#include "image/augment.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/sched.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Checks the length of a content. Readers were told `size` as the file's st_size. A padded content
 * may be shorter, because zeros follow it. Returns -EIO if the length is wrong, because readers
 * would get wrong data, or only a part. */
static int check_bytes(const struct job_config *config, const struct sched_handle *handle,
	uint64_t bytes, uint64_t size)
{
	if (bytes == size || (bytes < size && content_is_padded(config)))
		return 0;
	log_warn("job %s: sample %" PRIu32 " has %" PRIu64 " bytes instead of %" PRIu64
		 ": its file was changed after the scan of the dataset",
		config->name, sched_handle_sample(handle), bytes, size);
	return -EIO;
}

/* The format of a file, from [tensor] or a section [tensor NAME]. */
struct look {
	enum sample_format format;
	struct pixel_type pixels;
	struct normalize_config normalize;
	bool as_it_is; /* the file has the shared tensor, unchanged */
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

static void put_targets(struct sched_job *job, const struct content_place *place,
	enum sample_format format, const struct sched_handle *handle,
	struct formatted *file)
{
	size_t n = sched_job_config(job)->pixels.targets, bytes = n * sizeof(float);
	if (n == 0 || format != FORMAT_RECORD)
		return;
	auto_edition *edition = sched_edition(job, place->epoch);
	memcpy(file->head + file->head_bytes - bytes,
		edition->targets + sched_handle_sample(handle) * n, bytes);
}

/* Augments the tensor, and formats the result as a file. Only FORMAT_RECORD uses `label`. */
static int make_one(const struct job_config *config, uint64_t daemon_seed,
	const struct content_place *place, const struct look *look,
	const struct tensor *tensor, uint32_t label, struct content_made *ret)
{
	ret->tensor = tensor;
	int err = augment(config, daemon_seed, place, look, tensor, &ret->augmented);
	if (err)
		return err;
	if (ret->augmented)
		ret->tensor = ret->augmented;
	err = format_make(look->format, look->pixels, ret->tensor, label, &ret->format);
	if (err)
		return err;
	if (ret->format.encoded) {
		tensor_free(ret->augmented);
		ret->augmented = NULL;
		ret->tensor = NULL;
	}
	return 0;
}

static int make_single(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret)
{
	const struct job_config *config = sched_job_config(job);
	const struct look look = look_of(job, place, handle);
	int err = make_one(config, context->config->seed, place, &look,
		sched_handle_tensor(handle),
		label_in(job, look.format, place->epoch, handle), &ret->first);
	if (!err)
		put_targets(job, place, look.format, handle, &ret->first.format);
	return err ? err
		   : check_bytes(config, handle, ret->first.format.bytes, ret->size);
}

/* --- pairs: both images of a position get the same random augmentation ------------- */

static struct look look_of_second(const struct job_config *second, bool joined)
{
	return (struct look){
		.format = joined ? FORMAT_RAW : second->format, .pixels = second->pixels};
}

static int make_second(const struct job_config *second, uint64_t daemon_seed,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret)
{
	const struct look look = look_of_second(second, false);
	int err = make_one(
		second, daemon_seed, place, &look, &ret->views[1], 0, &ret->first);
	return err ? err
		   : check_bytes(second, handle, ret->first.format.bytes, ret->size);
}

static struct file_head_field field_of(
	const char *name, struct pixel_type type, struct tensor_shape shape)
{
	bool planes = type.axes == AXES_CHW;
	uint32_t channels = tensor_channels(shape);
	return (struct file_head_field){.name = name,
		.type = pixel_type_npy(type, shape),
		.shape = {planes ? channels : shape.height,
			planes ? shape.height : shape.width,
			planes ? shape.width : channels}};
}

void content_pair_fields(const struct job_config *config, struct tensor_shape first,
	struct tensor_shape second, struct file_head_field ret[static 2])
{
	const struct job_section *section = &config->sections[0];
	ret[0] = field_of("image", config->pixels, first);
	ret[1] = field_of(section->name, section->pixels, second);
}

/* Makes the head of a record with a pair: descriptions of both arrays, and the label. */
static void make_record_head(
	const struct job_config *config, uint32_t label, struct content *ret)
{
	struct formatted *format = &ret->first.format;
	struct file_head_field fields[2];
	int64_t number = (int64_t)htole64(label);
	_Static_assert(PAIR_HEAD + sizeof(number) <= FILE_HEAD_MOST, "room for the head");
	content_pair_fields(
		config, ret->first.tensor->shape, ret->second.tensor->shape, fields);
	file_head_pair(fields, NULL, PAIR_HEAD, format->head);
	memcpy(format->head + PAIR_HEAD, &number, sizeof(number));
	format->bytes += PAIR_HEAD + sizeof(number);
	format->head_bytes = PAIR_HEAD + sizeof(number);
}

/* Appends the second file. -EIO: a length differs from the size that readers were told. */
static int join(struct sched_job *job, const struct content_place *place,
	const struct sched_handle *handle, struct content *ret)
{
	const struct job_config *config = sched_job_config(job);
	uint64_t first = ret->first.format.bytes, second = ret->second.format.bytes;
	if (!place->header) {
		if (place->format == FORMAT_RECORD)
			make_record_head(config,
				label_in(job, FORMAT_RECORD, place->epoch, handle), ret);
		ret->second_at = ret->first.format.bytes;
		return check_bytes(config, handle, ret->second_at + second, ret->size);
	}
	const struct job_config look = config_second(config);
	ret->second_at = place->second_at;
	ret->header_bytes = CONTENT_HEADER;
	memcpy(ret->header, place->header, CONTENT_HEADER);
	int err = check_bytes(config, handle, first, place->first_size);
	return err ? err : check_bytes(&look, handle, second, place->second_size);
}

static int make_pair(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret)
{
	const struct job_config *config = sched_job_config(job);
	const struct job_config second = config_second(config);
	const uint64_t seed = context->config->seed;
	const struct tensor *tensor = sched_handle_tensor(handle);
	tensor_view(tensor, false, &ret->views[0]);
	tensor_view(tensor, true, &ret->views[1]);
	if (place->second)
		return make_second(&second, seed, place, handle, ret);
	const bool joins = content_joins(config);
	struct look look = look_of(job, place, handle);
	const struct look of_second = look_of_second(&second, joins);
	if (joins)
		look.format = FORMAT_RAW;
	int err = make_one(config, seed, place, &look, &ret->views[0], 0, &ret->first);
	if (!err && !joins && !place->header)
		return check_bytes(config, handle, ret->first.format.bytes, ret->size);
	if (!err)
		err = make_one(&second, seed, place, &of_second, &ret->views[1], 0,
			&ret->second);
	return err ? err : join(job, place, handle, ret);
}

static uint64_t made_bytes(const struct content_made *made)
{
	return (made->augmented ? made->augmented->bytes : 0) +
	       (made->format.encoded ? made->format.bytes : 0);
}

/* Counts the bytes that the content has computed as memory of the daemon. The cache counts the
 * handle's tensor. */
static int hold(struct content *content)
{
	uint64_t bytes = made_bytes(&content->first) + made_bytes(&content->second);
	int err = bytes > 0 ? sched_hold_content(content->sched, bytes) : 0;
	content->held = err ? 0 : bytes;
	return err;
}

int content_make(const struct files_context *context, struct sched_job *job,
	const struct content_place *place, const struct sched_handle *handle,
	struct content *ret)
{
	*ret = (struct content){.size = place->size, .sched = context->sched};
	int err = config_is_pair(sched_job_config(job))
			  ? make_pair(context, job, place, handle, ret)
			  : make_single(context, job, place, handle, ret);
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
	format_free(&content->first.format);
	format_free(&content->second.format);
	tensor_free(content->first.augmented);
	tensor_free(content->second.augmented);
	*content = (struct content){0};
}

static const uint8_t *body_of(const struct content_made *made)
{
	return made->format.encoded ? made->format.encoded : made->tensor->data;
}

struct content_parts content_parts(const struct content *content)
{
	const struct formatted *first = &content->first.format;
	struct content_parts parts = {.head = first->head,
		.head_bytes = first->head_bytes,
		.body = body_of(&content->first),
		.body_bytes = first->bytes - first->head_bytes,
		.size = content->size};
	if (content->second_at == 0)
		return parts;
	const struct formatted *second = &content->second.format;
	parts.second_at = content->second_at;
	parts.second_header = content->header;
	parts.second_header_bytes = content->header_bytes;
	parts.second_head = second->head;
	parts.second_head_bytes = second->head_bytes;
	parts.second_body = body_of(&content->second);
	parts.second_body_bytes = second->bytes - second->head_bytes;
	return parts;
}
