// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "config/config_internal.h"
#include "config/config_owner.h"

#include <errno.h>
#include <string.h>

/* Most bytes of `path` in [view], after %name was replaced. A longer path would make its line in
 * the printed job.ini too long for the parser. */
#define MAX_PATH 180
#define ARRAYS_ONLY "only with format = npy, record or raw"

/* Tells whether option number i changes samples, and the ini gives it another value than the
 * default. Default values do not count: config_print_job prints them for all keys, and the printed
 * ini must be accepted again. */
static bool asks_for_change(const struct ini *ini, size_t i)
{
	const struct option *option = config_option(i);
	const struct ini_section *section = ini_section(ini, option->section);
	const char *text = section ? section->values[i].text : NULL;
	bool changes =
		option->section == SECTION_AUGMENT ||
		(option->section == SECTION_TENSOR && strcmp(option->key, "format") != 0);
	return changes && text && (!option->preset || strcmp(text, option->preset) != 0);
}

void config_check_source(struct ini *ini, struct job_config *job)
{
	job->preparation.encoded = job->format == FORMAT_SOURCE;
	for (size_t i = 0; job->preparation.encoded && i < config_n_options(); i++) {
		const struct option *option = config_option(i);
		if (asks_for_change(ini, i))
			config_refuse(ini, option->section, option->key, option->key,
				"not with format = source, which gives the file as it "
				"is");
	}
}

/* Demands a gray fill if channels = keep: an image may then have a single channel. */
static void check_fill(struct ini *ini, const struct preparation *preparation)
{
	const uint8_t *fill = preparation->fill;
	if (preparation->channels == CHANNELS_KEEP &&
		(fill[1] != fill[0] || fill[2] != fill[0]))
		ini_mistake(ini, ini_line(ini, SECTION_TENSOR, "fill"), "tensor", "fill",
			"found %u %u %u, allowed: one number, with channels = keep",
			fill[0], fill[1], fill[2]);
}

static void check_pixels(struct ini *ini, const struct job_config *job)
{
	bool array = config_holds_arrays(job->format);
	bool bytes = job->pixels.dtype == DTYPE_UINT8;
	if (!array && !bytes)
		config_refuse(ini, SECTION_TENSOR, "dtype", "dtype", ARRAYS_ONLY);
	if (!array && job->pixels.axes != AXES_HWC)
		config_refuse(ini, SECTION_TENSOR, "axes", "axes", ARRAYS_ONLY);
	enum preparation_channels channels = job->preparation.channels;
	if (channels == CHANNELS_GRAY && job->format == FORMAT_BMP)
		config_refuse(ini, SECTION_TENSOR, "channels", "gray",
			"rgb, with format = bmp; ppm, png, npy, record and raw hold "
			"gray");
	unsigned n = channels == CHANNELS_GRAY ? 1 : 3;
	if (job->augment.normalize.given && channels != CHANNELS_KEEP &&
		job->augment.normalize.channels != n)
		ini_mistake(ini, ini_line(ini, SECTION_AUGMENT, "normalize"), "augment",
			"normalize",
			"found %u means / %u standard deviations, allowed: %u / %u, with "
			"channels = %s in [tensor]",
			job->augment.normalize.channels, job->augment.normalize.channels,
			n, n, n == 1 ? "gray" : "rgb");
	if (job->augment.normalize.given && bytes)
		config_refuse(ini, SECTION_AUGMENT, "normalize", "normalize",
			"only with dtype = float32 or float16 in [tensor]");
}

/* Tells whether the crop is larger than every image. If [tensor] fixes only the shorter
 * side of images, the crop is larger if both its sides are longer than this side. */
static bool never_fits(const struct preparation *preparation, struct tensor_shape crop)
{
	if (preparation_fixed_size(preparation)) {
		struct tensor_shape any = {.height = 1, .width = 1};
		struct tensor_shape size = preparation_output(preparation, any);
		return crop.width > size.width || crop.height > size.height;
	}
	if (preparation->resize_long)
		return crop.width > preparation->resize_long ||
		       crop.height > preparation->resize_long;
	return preparation->resize_short && crop.width > preparation->resize_short &&
	       crop.height > preparation->resize_short;
}

static void check_random_crop(struct ini *ini, const struct job_config *job)
{
	unsigned line = ini_line(ini, SECTION_AUGMENT, "random_crop");
	struct tensor_shape crop = job->augment.random_crop;
	if (line && job->augment.random_resized_crop.width)
		config_refuse(ini, SECTION_AUGMENT, "random_crop", "random_crop",
			"not with random_resized_crop");
	else if (line && never_fits(&job->preparation, crop))
		ini_mistake(ini, line, "augment", "random_crop",
			"found %ux%u, allowed: at most the size that resize and crop of "
			"[tensor] give",
			crop.width, crop.height);
}

/* Returns the largest size of an image before the pad; UINT32_MAX: any size. */
static struct tensor_shape before_pad(const struct preparation *preparation)
{
	uint32_t side = preparation->resize_long ? preparation->resize_long : UINT32_MAX;
	if (preparation->crop_width)
		return (struct tensor_shape){.height = preparation->crop_height,
			.width = preparation->crop_width};
	if (preparation->resize_width)
		return (struct tensor_shape){.height = preparation->resize_height,
			.width = preparation->resize_width};
	return (struct tensor_shape){.height = side, .width = side};
}

static void check_pad(struct ini *ini, const struct job_config *job)
{
	const struct preparation *preparation = &job->preparation;
	struct tensor_shape most = before_pad(preparation);
	if (preparation->pad_width && (most.width > preparation->pad_width ||
					      most.height > preparation->pad_height))
		ini_mistake(ini, ini_line(ini, SECTION_TENSOR, "pad"), "tensor", "pad",
			"found %ux%u, allowed: square, or a size into which every image "
			"fits by resize = max:N, resize = WxH or crop",
			preparation->pad_width, preparation->pad_height);
}

static bool has_fixed_size(const struct job_config *job)
{
	return job->prepare || preparation_fixed_size(&job->preparation) ||
	       augment_fixed_size(&job->augment);
}

static void check_raw(struct ini *ini, const struct job_config *job)
{
	if (job->format == FORMAT_RAW && !has_fixed_size(job))
		config_refuse(ini, SECTION_TENSOR, "format", "raw",
			"only with crop, pad, random_crop, random_resized_crop or resize "
			"= WxH, since a raw file does not state its size");
}

void config_refuse(struct ini *ini, enum section_id section, const char *key,
	const char *found, const char *allowed)
{
	ini_mistake(ini, ini_line(ini, section, key), config_sections[section].name, key,
		"found \"%s\", allowed: %s", found, allowed);
}

/* Refuses settings that do not fit layout = batch. A batch is one array, so all its samples must
 * have one size. */
static void check_batch(struct ini *ini, const struct job_config *job)
{
	if (job->format != FORMAT_NPY)
		config_refuse(ini, SECTION_TENSOR, "format", "format",
			"only npy with layout = batch");
	if (!has_fixed_size(job))
		config_refuse(ini, SECTION_VIEW, "layout", "batch",
			"only with crop, pad, random_crop, random_resized_crop or resize "
			"= WxH, since all images of a batch have one size");
	if (job->json)
		config_refuse(
			ini, SECTION_VIEW, "json", "json", "not with layout = batch");
}

/* Refuses settings that do not fit layout = tar. The offset of each file in a tar must be known
 * before a sample is chosen for the file. */
static void check_tar(struct ini *ini, const struct job_config *job)
{
	if (job->format == FORMAT_RECORD)
		config_refuse(ini, SECTION_TENSOR, "format", "record",
			"any other format with layout = tar, where labels are members of "
			"their own");
	if (job->size == SIZE_EXACT &&
		(!has_fixed_size(job) || job->preparation.channels == CHANNELS_KEEP))
		config_refuse(ini, SECTION_VIEW, "size", "exact",
			"only padded with layout = tar and images of several sizes or "
			"kinds of pixels");
	if (job->io == IO_CACHED)
		config_refuse(ini, SECTION_VIEW, "io", "cached",
			"only auto or direct with layout = tar, whose reads wait for "
			"samples");
}

/* Tells whether the path names a place below data/; "a//b", "/a" and "../a" do not. */
static bool is_relative_path(const char *path)
{
	size_t n;
	for (;; path += n + 1) {
		n = strcspn(path, "/");
		bool dots = n <= 2 && strspn(path, ".") >= n;
		if (dots || path[n] == '\0')
			return !dots;
	}
}

static void check_beside(struct ini *ini, const struct job_config *job)
{
	bool has_files = job->layout == LAYOUT_FLAT || job->layout == LAYOUT_TAR;
	if (job->beside.n > 0 && !has_files)
		config_refuse(ini, SECTION_VIEW, "beside", "beside",
			"only with layout = flat or tar");
	if (job->text && !has_files)
		config_refuse(ini, SECTION_VIEW, "text", job->text,
			"only with layout = flat or tar");
	for (uint32_t i = 0; i < job->beside.n; i++) {
		const char *ending = job->beside.of[i];
		if (strcmp(ending, job->extension ? job->extension : "") == 0)
			config_refuse(ini, SECTION_VIEW, "beside", ending,
				"endings other than the extension of the samples' files");
		if (job->json && strcmp(ending, "json") == 0)
			config_refuse(ini, SECTION_VIEW, "beside", ending,
				"endings other than json, since json = yes");
		if (job->text && strcmp(ending, "txt") == 0)
			config_refuse(ini, SECTION_VIEW, "beside", ending,
				"endings other than txt, which text takes");
	}
	if (job->text && job->extension && strcmp(job->extension, "txt") == 0)
		config_refuse(ini, SECTION_VIEW, "extension", "txt",
			"any other extension, since text takes txt");
}

static void check_targets(struct ini *ini, const struct job_config *job)
{
	if (job->n_targets > 0 && job->layout != LAYOUT_BATCH &&
		job->format != FORMAT_RECORD)
		config_refuse(ini, SECTION_VIEW, "labels", job->labels,
			"columns only with layout = batch or format = record");
}

static void check_names(struct ini *ini, const struct job_config *job)
{
	if (job->json && job->extension && strcmp(job->extension, "json") == 0)
		config_refuse(ini, SECTION_VIEW, "extension", "json",
			"any other extension, since json = yes");
	if (job->path && (!is_relative_path(job->path) || strchr("\"'~", *job->path)))
		config_refuse(ini, SECTION_VIEW, "path", job->path,
			"names separated by /, none of them . or .., without quotes and "
			"~");
	else if (job->path && strlen(job->path) > MAX_PATH)
		config_refuse(ini, SECTION_VIEW, "path", job->path, "at most 180 bytes");
}

/* Replaces %name in the path by the name. The caller frees the result; NULL: no memory. */
static char *with_name(const char *path, const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (const char *at; (at = strstr(path, "%name")); path = at + strlen("%name"))
		fprintf(out, "%.*s%s", (int)(at - path), path, name);
	fputs(path, out);
	return close_text(out, &text);
}

static void expand_path(struct ini *ini, struct job_config *job)
{
	if (!job->path || !job->name)
		return;
	char *text = with_name(job->path, job->name);
	if (!text) {
		ini->err = -ENOMEM;
		return;
	}
	free(job->path);
	job->path = text;
}

static void check_layout(struct ini *ini, const struct job_config *job)
{
	bool tar = job->layout == LAYOUT_TAR, batch = job->layout == LAYOUT_BATCH;
	bool flat = job->layout == LAYOUT_FLAT;
	if (batch)
		check_batch(ini, job);
	if (tar)
		check_tar(ini, job);
	if (job->drop_last && !tar && !batch)
		config_refuse(ini, SECTION_VIEW, "drop_last", "yes",
			"only with layout = tar or batch");
	if (job->shard && !flat && !tar)
		config_refuse(ini, SECTION_VIEW, "shard", "shard",
			"only with layout = flat or tar");
	if (job->fixed_labels && !flat)
		config_refuse(ini, SECTION_VIEW, "labels", "fixed",
			"only with layout = flat; in classes they are fixed");
	bool classes = job->layout == LAYOUT_CLASSES && job->order == ORDER_SHUFFLED;
	if (job->mapping == MAPPING_FIXED && !classes)
		config_refuse(ini, SECTION_VIEW, "mapping", "fixed",
			"only with layout = classes and order = shuffled");
	if (job->json && !flat && !tar && !batch)
		config_refuse(ini, SECTION_VIEW, "json", "yes",
			"only with layout = flat or tar");
	check_names(ini, job);
	check_beside(ini, job);
	check_targets(ini, job);
}

/* Tells whether a job with `prepare` may give this key of [tensor]. Most keys are refused, because
 * the program determines the arrays. `filter` is allowed if [augment] has random_resized_crop,
 * which uses it. */
static bool fits_program(const struct job_config *job, const char *key)
{
	return strcmp(key, "prepare") == 0 || strcmp(key, "dtype") == 0 ||
	       strcmp(key, "axes") == 0 ||
	       (strcmp(key, "filter") == 0 && job->augment.random_resized_crop.width);
}

static void check_prepare(struct ini *ini, const struct job_config *job)
{
	if (!job->prepare)
		return;
	if (job->format == FORMAT_SOURCE)
		config_refuse(ini, SECTION_TENSOR, "format", "source",
			"any other format with prepare");
	for (size_t i = 0; i < config_n_options(); i++) {
		const struct option *option = config_option(i);
		if (option->section == SECTION_TENSOR && asks_for_change(ini, i) &&
			!fits_program(job, option->key))
			config_refuse(ini, SECTION_TENSOR, option->key, option->key,
				"not with prepare, whose program makes the arrays");
	}
}

/* Checks the keys `group` and `frames`, which make each directory one sample. The array of such a
 * sample has one axis more than an image, so only some formats can hold it. */
static void check_group(struct ini *ini, const struct job_config *job)
{
	if (job->groups_directories != (job->preparation.frames > 0))
		config_refuse(ini, SECTION_TENSOR,
			job->groups_directories ? "group" : "frames",
			job->groups_directories ? "directory" : "frames",
			"both group = directory and frames = N, or neither");
	if (!job->groups_directories)
		return;
	if (!config_holds_arrays(job->format))
		config_refuse(ini, SECTION_TENSOR, "format", "format",
			"npy, record or raw, with group = directory, whose samples have "
			"one axis more than an image");
	if (job->layout == LAYOUT_MIRROR || config_is_mixed(job))
		config_refuse(ini, SECTION_TENSOR, "group", "directory",
			"not with layout = mirror, or several datasets");
}

/* Sets the format to npy if the files hold arrays instead of images, and the ini gives no
 * format. */
static void default_format(struct ini *ini, struct job_config *job)
{
	bool array =
		job->layout == LAYOUT_BATCH || job->prepare || job->groups_directories;
	if (array && !ini_line(ini, SECTION_TENSOR, "format"))
		job->format = FORMAT_NPY;
}

#define SMALL_TENSOR (64 * 64 * 3)

bool config_has_small_files(const struct job_config *job, uint64_t tensor_bytes)
{
	return job->layout != LAYOUT_TAR && job->layout != LAYOUT_BATCH &&
	       tensor_bytes <= SMALL_TENSOR;
}

/* The default is at least two batches: one is prepared while the other is read. */
uint32_t config_lookahead(const struct job_config *job)
{
	const uint32_t least = 128, most = 65536;
	uint32_t batch = job->layout == LAYOUT_BATCH ? job->batch : 0;
	uint32_t two = batch > most / 2 ? most : 2 * batch;
	if (job->lookahead > 0)
		return job->lookahead;
	return two > least ? two : least;
}

uint32_t config_file_samples(const struct job_config *job)
{
	if (job->layout == LAYOUT_TAR)
		return job->shard ? job->shard : CONFIG_TAR_SAMPLES;
	return job->layout == LAYOUT_BATCH && job->batch ? job->batch : 1;
}

const char *config_extension_of(enum sample_format format)
{
	static const char *const endings[] = {
		[FORMAT_PPM] = "ppm",
		[FORMAT_BMP] = "bmp",
		[FORMAT_PNG] = "png",
		[FORMAT_NPY] = "npy",
		[FORMAT_RAW] = "raw",
		[FORMAT_SOURCE] = "jpg",
		[FORMAT_RECORD] = "npy",
	};
	return endings[format];
}

static void default_extension(struct ini *ini, struct job_config *job)
{
	if (job->extension)
		return;
	job->extension = strdup(config_extension_of(job->format));
	if (!job->extension)
		ini->err = -ENOMEM;
}

/* Refuses order = replay:FILE with layout = mirror. A file of this layout always has the same
 * sample, so there is no order to replay. */
static void check_replay(struct ini *ini, const struct job_config *job)
{
	if (job->order == ORDER_REPLAY && job->layout == LAYOUT_MIRROR)
		config_refuse(ini, SECTION_JOB, "order", job->order_text,
			"any other order, since layout = mirror has no order to replay");
}

/* Refuses bad_sample = skip where epochs can't leave out a sample: in other layouts than flat and
 * classes, for ranks, and for a replayed order. */
static void check_bad_sample(struct ini *ini, const struct job_config *job)
{
	bool single = job->layout == LAYOUT_FLAT || job->layout == LAYOUT_CLASSES;
	if (job->skips_bad && (!single || job->ranks > 0 || job->order == ORDER_REPLAY))
		config_refuse(ini, SECTION_JOB, "bad_sample", "skip",
			"skip only with layout = flat or classes, without ranks, and "
			"with order = shuffled or sequential");
}

#define OF_ONE "since dataset names several datasets"

/* Refuses settings that do not fit a job with several datasets. Each position of such a job may
 * have a sample of any of its datasets. */
static void check_mixture(struct ini *ini, const struct job_config *job)
{
	const char *table = job->label_table;
	if (table && (!config_is_mixed(job) || *table != '/'))
		config_refuse(ini, SECTION_JOB, "label_table", table,
			"an absolute path, only where dataset names several datasets");
	if (!config_is_mixed(job))
		return;
	if (job->layout == LAYOUT_CLASSES || job->layout == LAYOUT_MIRROR)
		config_refuse(ini, SECTION_VIEW, "layout",
			job->layout == LAYOUT_CLASSES ? "classes" : "mirror",
			"flat, tar or batch, " OF_ONE);
	if (job->fixed_labels)
		config_refuse(ini, SECTION_VIEW, "labels", "fixed", "drawn, " OF_ONE);
	if (job->order != ORDER_SHUFFLED)
		config_refuse(
			ini, SECTION_JOB, "order", job->order_text, "shuffled, " OF_ONE);
	if (job->skips_bad)
		config_refuse(ini, SECTION_JOB, "bad_sample", "skip", "fail, " OF_ONE);
	if (job->ranks > 0)
		config_refuse(ini, SECTION_JOB, "ranks", "ranks",
			"only where dataset names one dataset");
}

void config_check_tensor(struct ini *ini, const struct job_config *job)
{
	check_pad(ini, job);
	check_raw(ini, job);
	check_pixels(ini, job);
	check_fill(ini, &job->preparation);
}

static void find_targets(struct job_config *job)
{
	const char *columns = config_label_columns(job);
	char column[CONFIG_LONGEST_COLUMN + 1];
	job->fixed_labels = job->labels && strcmp(job->labels, "fixed") == 0;
	job->n_targets = 0;
	while (columns && config_next_column(&columns, column))
		job->n_targets++;
	job->pixels.targets = job->format == FORMAT_RECORD ? job->n_targets : 0;
}

static void finish_fields(struct ini *ini, unsigned mistakes, struct job_config *job)
{
	job->augment.filter = job->preparation.filter;
	if (job->order_text)
		job->order = config_order_of(job->order_text);
	check_replay(ini, job);
	expand_path(ini, job);
	default_format(ini, job);
	check_prepare(ini, job);
	check_group(ini, job);
	if (job->from)
		config_refuse(
			ini, SECTION_TENSOR, "from", "from", "only in [tensor NAME]");
	config_check_source(ini, job);
	default_extension(ini, job);
	find_targets(job);
	if (ini->mistakes == mistakes) {
		config_check_tensor(ini, job);
		check_random_crop(ini, job);
		check_layout(ini, job);
		config_check_ranks(ini, job);
		check_bad_sample(ini, job);
		check_mixture(ini, job);
		config_fill_sections(ini, job);
	}
}

int config_finish_job(struct ini *ini, struct job_config *ret)
{
	struct job_config job = {.owner = CONFIG_NO_OWNER, .group = CONFIG_NO_OWNER};
	unsigned mistakes = ini->mistakes;
	if (!ini->unusable && !ini->err) {
		for (int id = SECTION_JOB; id <= SECTION_VIEW; id++)
			ini_fill(ini, ini_section(ini, (enum section_id)id),
				(enum section_id)id, &job);
		/* Texts that finish_fields needs are missing if memory ran out. */
		if (!ini->err)
			finish_fields(ini, mistakes, &job);
	}
	job.file = strdup(ini->file);
	if (!job.file)
		ini->err = -ENOMEM;
	int err = ini_result(ini);
	if (err)
		config_job_free(&job);
	else
		*ret = job;
	return err;
}

int config_parse_job_with(const char *file, const char *text, const char *const *settings,
	size_t n, config_report *report, void *context, struct job_config *ret)
{
	struct ini ini = {
		.file = file, .kind = INI_JOB, .report = report, .context = context};
	int err = ini_read(&ini, text);
	for (size_t i = 0; i < n && !err && !ini.unusable; i++)
		ini_set(&ini, settings[i], LINE_OF_SETTING);
	if (!err)
		err = config_finish_job(&ini, ret);
	ini_free(&ini);
	return err;
}

int config_parse_job(const char *file, const char *text, config_report *report,
	void *context, struct job_config *ret)
{
	return config_parse_job_with(file, text, NULL, 0, report, context, ret);
}

void config_job_free(struct job_config *config)
{
	for (int id = SECTION_JOB; id <= SECTION_VIEW; id++)
		config_free_fields((enum section_id)id, config);
	config_free_sections(config);
	free(config->file);
	*config = (struct job_config){0};
}
