// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "dataset/dataset_pairs.h"
#include "dataset/dataset_paths.h"
#include "edition/edition.h"
#include "sched/admit.h"
#include "supply/supply.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Tells whether `path` equals `link` or lies below it. The `path` of each job ([view]) becomes a
 * link below data/, and its parents become directories. So the path of a job must neither equal the
 * path of another job nor lie below it. */
static bool leads_through(const char *path, const char *link)
{
	size_t n = strlen(link);
	return strncmp(path, link, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

const struct sched_job *admit_conflict_locked(
	const struct sched *sched, const struct job_config *config)
{
	const struct sched_job *job;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		const char *other = job->is.config.path;
		if (config->path && other &&
			(leads_through(config->path, other) ||
				leads_through(other, config->path)))
			return job;
	}
	return NULL;
}

int admit_path(struct sched *sched, const struct job_config *config,
	config_report *report, void *context)
{
	auto_free char *message = NULL;
	lock_take(&sched->lock);
	const struct sched_job *other = admit_conflict_locked(sched, config);
	if (other)
		message = aprintf("%s:[view]:path: found \"%s\", but job %s has \"%s\", "
				  "allowed: a path that is not the same, below it or "
				  "above it",
			config->file, config->path, other->is.config.name,
			other->is.config.path);
	lock_release(&sched->lock);
	if (!other)
		return 0;
	report(context, message ? message : "out of memory");
	return -EEXIST;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns NULL if both jobs can exist; "rank" or "node_rank" if both are the same rank of one
 * training; otherwise a key that must be equal for all ranks, but differs. */
static const char *rank_conflict(const struct job_config *a, const struct job_config *b)
{
	if (a->ranks == 0 || b->ranks == 0 || strcmp(a->training, b->training) != 0)
		return NULL;
	if (a->processes.ranks != b->processes.ranks)
		return "ranks";
	if (a->processes.local_ranks != b->processes.local_ranks)
		return "local_ranks";
	if (a->global_batch != b->global_batch)
		return "global_batch";
	if (strcmp(a->dataset, b->dataset) != 0)
		return "dataset";
	if (!same_text(a->where, b->where))
		return "where";
	if (a->rank != b->rank)
		return NULL;
	return a->processes.local_ranks ? "node_rank" : "rank";
}

bool admit_rank_locked(const struct sched *sched, const struct job_config *config,
	const struct sched_job **ret_other, const char **ret_key)
{
	const struct sched_job *job;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		*ret_other = job;
		*ret_key = rank_conflict(config, &job->is.config);
		if (*ret_key)
			return false;
	}
	return true;
}

int admit_rank(struct sched *sched, const struct job_config *config,
	config_report *report, void *context)
{
	const struct sched_job *other;
	const char *key;
	char name[65] = "";
	lock_take(&sched->lock);
	bool fits = admit_rank_locked(sched, config, &other, &key);
	if (!fits)
		snprintf(name, sizeof(name), "%s", other->is.config.name);
	lock_release(&sched->lock);
	if (fits)
		return 0;
	bool same = strcmp(key, "rank") == 0 || strcmp(key, "node_rank") == 0;
	config_report_text(report, context,
		"%s:[job]:%s: found %s that of job %s, of the same training, allowed: "
		"its own rank or node_rank for each job of a training, and equal ranks, "
		"local_ranks, global_batch, dataset and where for all of them",
		config->file, key, same ? "the same as" : "another than", name);
	return -EEXIST;
}

int admit_batch(const struct edition *edition, config_report *report, void *context)
{
	const struct job_config *config = &edition->job->config;
	uint64_t most = memory_most_open(edition->job->supply);
	uint64_t n = config->batch < edition->set.positions ? config->batch
							    : edition->set.positions;
	if (config->layout != LAYOUT_BATCH || edition->largest_bytes == 0 ||
		n <= most / edition->largest_bytes)
		return 0;
	config_report_text(report, context,
		"%s:[view]:batch: found %u, but %" PRIu64 " samples of %" PRIu64
		" bytes do not fit into memory at once, allowed: at most %" PRIu64
		", which fit into %" PRIu64 " bytes: the cache of %" PRIu64
		" and the memory beside it",
		config->file, config->batch, n, edition->largest_bytes,
		most / edition->largest_bytes, most,
		edition->job->supply->config->cache_bytes);
	return -EINVAL;
}

/* --- channels = keep --------------------------------------------------------------------- */

/* The check of a job with channels = keep. sample: the sample that was checked last. */
struct kept {
	const struct edition *edition;
	sample_id sample;
	/* mode: pixel mode of `sample`. first, second: pixel modes of the two files that the
	 * edition's first sample has */
	enum pixel_mode mode, first, second;
	/* NULL: the job allows `mode`; otherwise the allowed modes, for a message */
	const char *allowed;
};

/* The preparation of a sample: from the section [tensor NAME] that selects the sample, or, if no
 * section does, from [tensor]. */
struct look {
	const struct preparation *preparation;
	enum sample_format format;
};

static struct look look_of(const struct edition *edition, sample_id id)
{
	const struct job_config *config = &edition->job->config;
	const struct job_section *section = NULL;
	if (config->n_sections) {
		struct path_text path = {0};
		section = config_section(
			config, dataset_relative(edition->is.dataset, id, &path));
	}
	return section ? (struct look){&section->preparation, section->format}
		       : (struct look){&config->preparation, config->format};
}

static bool keeps_any(const struct job_config *config)
{
	bool keeps = config->preparation.channels == CHANNELS_KEEP;
	for (size_t i = 0; i < config->n_sections; i++)
		keeps |= config->sections[i].preparation.channels == CHANNELS_KEEP;
	return keeps;
}

static bool resizes(const struct job_config *config, const struct look *look)
{
	return preparation_resizes(look->preparation) ||
	       config->augment.random_resized_crop.width;
}

/* Returns NULL if the job allows the pixel mode, otherwise the allowed modes, for a message. first:
 * the mode of the edition's first sample. */
static const char *allowed_mode(const struct job_config *config, const struct look *look,
	enum pixel_mode mode, enum pixel_mode first)
{
	const struct normalize_config *normalize = &config->augment.normalize;
	if (look->format == FORMAT_PPM && mode != PIXELS_RGB && mode != PIXELS_L)
		return "RGB or gray of 8 bits, with format = ppm; png, npy, record and "
		       "raw hold more";
	if (look->format == FORMAT_BMP && mode != PIXELS_RGB)
		return "RGB of 8 bits, with format = bmp; png, npy, record and raw hold "
		       "more";
	if (look->format == FORMAT_PNG && mode == PIXELS_F)
		return "8 or 16 bits, with format = png; npy, record and raw hold floats";
	if (mode == PIXELS_P && resizes(config, look) &&
		look->preparation->filter != FILTER_NEAREST)
		return "a palette only with filter = nearest, since two indices can't be "
		       "interpolated";
	if (normalize->given && look->preparation == &config->preparation &&
		normalize->channels > 1 &&
		normalize->channels != pixel_modes[mode].channels)
		return "as many channels as normalize in [augment] has means, or one "
		       "mean for all";
	if (mode != first &&
		(config->layout == LAYOUT_BATCH || look->format == FORMAT_RAW))
		return "one kind for all samples with layout = batch or format = raw; "
		       "where can select by channels, bits and palette";
	return NULL;
}

static bool check_one(
	struct kept *kept, const struct look *look, sample_id id, enum pixel_mode first)
{
	if (look->preparation->channels != CHANNELS_KEEP)
		return true;
	kept->sample = id;
	kept->mode = dataset_image_shape(kept->edition->is.dataset, id).mode;
	kept->allowed =
		allowed_mode(&kept->edition->job->config, look, kept->mode, first);
	return !kept->allowed;
}

static bool check_kept(uint32_t id, void *context)
{
	struct kept *kept = context;
	const struct job_config *config = &kept->edition->job->config;
	const struct look look = look_of(kept->edition, id);
	if (!check_one(kept, &look, id, kept->first))
		return false;
	sample_id second =
		dataset_second(kept->edition->is.dataset, &config->preparation, id);
	if (second == SAMPLE_NONE)
		return true;
	const struct look of_second = {
		&config->sections[0].preparation, config->sections[0].format};
	return check_one(kept, &of_second, second, kept->second);
}

/* Samples of one shape have one pixel mode, so one sample of each shape is checked. All samples
 * are checked if sections [tensor NAME] select samples by path. */
static void check_all_kept(struct kept *kept)
{
	const struct edition *edition = kept->edition;
	size_t n;
	const struct dataset_shape *shapes =
		edition->job->config.n_sections
			? NULL
			: dataset_shapes(edition->is.dataset, edition->readable, &n);
	if (!shapes)
		roaring_iterate(edition->readable, check_kept, kept);
	for (size_t i = 0; shapes && i < n && check_kept(shapes[i].first, kept); i++)
		;
}

/* Returns the pixel mode of the sample's second file, or RGB if it has none. */
static enum pixel_mode second_mode(const struct edition *edition, sample_id id)
{
	sample_id second = dataset_second(
		edition->is.dataset, &edition->job->config.preparation, id);
	return second == SAMPLE_NONE
		       ? PIXELS_RGB
		       : dataset_image_shape(edition->is.dataset, second).mode;
}

int admit_channels(const struct edition *edition, config_report *report, void *context)
{
	const struct job_config *config = &edition->job->config;
	struct kept kept = {.edition = edition};
	struct dataset_sample sample;
	if (!keeps_any(config) || roaring_bitmap_is_empty(edition->readable))
		return 0;
	if (!dataset_knows_pixels(edition->is.dataset)) {
		config_report_text(report, context,
			"%s:[tensor]:channels: found keep, but an older version scanned "
			"dataset %s, allowed: keep after joaderctl dataset rescan",
			config->file, config->dataset);
		return -EINVAL;
	}
	kept.first = dataset_image_shape(
		edition->is.dataset, roaring_bitmap_minimum(edition->readable))
			     .mode;
	kept.second = second_mode(edition, roaring_bitmap_minimum(edition->readable));
	check_all_kept(&kept);
	if (!kept.allowed)
		return 0;
	int err = dataset_get(edition->is.dataset, kept.sample, &sample);
	if (err)
		return err;
	config_report_text(report, context,
		"%s:[tensor]:channels: found keep, but sample %u, %s, is %s (the first "
		"sample is %s); allowed: %s",
		config->file, kept.sample, sample.relative, pixel_modes[kept.mode].name,
		pixel_modes[kept.first].name, kept.allowed);
	dataset_sample_free(&sample);
	return -EINVAL;
}

int admit_view(const struct edition *edition)
{
	const struct job_config *config = &edition->job->config;
	const struct dataset_paths *paths;
	uint32_t longest;
	int err = 0;
	if (config->layout == LAYOUT_MIRROR)
		err = dataset_paths(edition->is.dataset, &paths);
	if (!err && config->json)
		err = dataset_json_longest(edition->is.dataset, &longest);
	return err;
}

/* --- programs --------------------------------------------------------------------------- */

static int unknown(const struct sched *sched, const struct job_config *config,
	config_report *report, void *context)
{
	const struct daemon_config *daemon = sched->config;
	const char *names[32];
	size_t n = 0;
	for (; n < daemon->n_preparations && n < 32; n++)
		names[n] = daemon->preparations[n].name;
	const char *near = n > 0 ? config_nearest(config->prepare, names, n) : NULL;
	config_report_text(report, context,
		"%s:[tensor]:prepare: found \"%s\", allowed: a [preparation NAME] of the "
		"daemon's ini%s%s%s",
		config->file, config->prepare,
		near	 ? "; did you mean \""
		: n == 0 ? ", which has none"
			 : "",
		near ? near : "", near ? "\"?" : "");
	return -EINVAL;
}

static int refuse(const struct job_config *config, const struct prepared_array *array,
	const char *key, const char *allowed, config_report *report, void *context)
{
	char type[ARRAY_TEXT];
	array_print(&array->type, type);
	config_report_text(report, context,
		"%s:[%s]:%s: found it with prepare = %s, which gives arrays of %s, "
		"allowed: %s",
		config->file, strcmp(key, "random_crop") == 0 ? "augment" : "tensor", key,
		config->prepare, type, allowed);
	return -EINVAL;
}

static bool augments(const struct job_config *config)
{
	const struct augment_config *augment = &config->augment;
	return augment->random_crop.width || augment->random_resized_crop.width ||
	       augment->hflip > 0 || augment->normalize.given;
}

/* Called if the program's arrays are not pixels (uint8, H W 3). Refuses a job with keys about
 * pixels: -EINVAL. */
static int check_array(const struct job_config *config,
	const struct prepared_array *array, config_report *report, void *context)
{
	if (!config_holds_arrays(config->format))
		return refuse(config, array, "format",
			"npy, record or raw; other formats hold uint8 and a shape of H W "
			"3",
			report, context);
	if (config->pixels.dtype != DTYPE_UINT8 || config->pixels.axes != AXES_HWC)
		return refuse(config, array,
			config->pixels.axes != AXES_HWC ? "axes" : "dtype",
			"neither dtype nor axes, which the program determines", report,
			context);
	if (augments(config))
		return refuse(config, array, "random_crop",
			"no key of [augment], which is for uint8 and a shape of H W 3",
			report, context);
	return 0;
}

int program_adopt(struct sched *sched, struct job_config *config, config_report *report,
	void *context)
{
	if (!config->prepare)
		return 0;
	const struct prepared_array *array =
		programs_find(sched->programs, config->prepare);
	if (!array)
		return unknown(sched, config, report, context);
	config->preparation = (struct preparation){.array = array};
	if (array->pixels.height > 0)
		return 0;
	config->pixels.array = &array->type;
	return check_array(config, array, report, context);
}
