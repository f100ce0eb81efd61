// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config_helpers.h"

#include <errno.h>

/* Options that layouts require, refuse or change. */

#define JOB "[job]\nname = a\ndataset = b\n[tensor]\n"

static void check_right(const char *text, struct job_config *ret)
{
	struct messages messages;
	cr_assert_eq(0, parse_job(text, &messages, ret), "%s", messages.text);
}

static void check_wrong(const char *text, const char *expected)
{
	struct messages messages;
	struct job_config job;
	cr_assert_eq(-EINVAL, parse_job(text, &messages, &job), "%s", text);
	cr_assert_str_eq(messages.text, expected);
}

Test(config_layout, a_batch_is_an_array_unless_said_otherwise)
{
	struct job_config job;
	check_right(JOB "crop = 8\n[view]\nlayout = batch\n", &job);
	cr_assert_eq(job.format, FORMAT_NPY);
	cr_assert_str_eq(job.extension, "npy");
	cr_assert_eq(job.batch, 64);
	config_job_free(&job);
	check_wrong(JOB "crop = 8\nformat = ppm\n[view]\nlayout = batch\n",
		"job.ini:6:[tensor]:format: found \"format\", allowed: only npy with "
		"layout "
		"= batch\n");
}

Test(config_layout, look_ahead_covers_the_next_batch)
{
	static const struct {
		const char *text;
		uint32_t lookahead;
	} cases[] = {{"", 128}, {"batch = 300\n", 600}, {"batch = 65536\n", 65536},
		{"batch = 300\nlookahead = 20\n", 20}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_config job;
		auto_free char *text = NULL;
		cr_assert(asprintf(&text, JOB "crop = 8\n[view]\nlayout = batch\n%s",
				  cases[i].text) > 0);
		check_right(text, &job);
		cr_assert_eq(
			config_lookahead(&job), cases[i].lookahead, "%s", cases[i].text);
		config_job_free(&job);
	}
}

Test(config_layout, a_batch_has_one_size)
{
	struct job_config job;
	check_wrong(JOB "resize = 8\n[view]\nlayout = batch\n",
		"job.ini:7:[view]:layout: found \"batch\", allowed: only with crop, "
		"pad, random_crop, random_resized_crop or resize = WxH, since all images "
		"of a "
		"batch have one size\n");
	check_right(JOB "resize = 8x9\n[view]\nlayout = batch\n", &job);
	config_job_free(&job);
	check_right(JOB "[augment]\nrandom_crop = 8\n[view]\nlayout = batch\n", &job);
	config_job_free(&job);
}

Test(config_layout, members_of_a_tar_have_a_size_before_they_are_bound)
{
	struct job_config job;
	check_wrong(JOB "[view]\nlayout = tar\nsize = exact\n",
		"job.ini:7:[view]:size: found \"exact\", allowed: only padded with "
		"layout = "
		"tar and images of several sizes or kinds of pixels\n");
	check_right(JOB "[view]\nlayout = tar\n", &job);
	config_job_free(&job);
	check_right(JOB "crop = 8\n[view]\nlayout = tar\nsize = exact\n", &job);
	config_job_free(&job);
}

Test(config_layout, what_another_layout_has_is_refused)
{
	check_wrong(JOB "[view]\nlayout = tar\nio = cached\n",
		"job.ini:7:[view]:io: found \"cached\", allowed: only auto or direct "
		"with "
		"layout = tar, whose reads wait for samples\n");
	check_wrong(JOB "[view]\ndrop_last = yes\n",
		"job.ini:6:[view]:drop_last: found \"yes\", allowed: only with layout = "
		"tar or batch\n");
	check_wrong(JOB "crop = 8\n[view]\nlayout = batch\njson = yes\n",
		"job.ini:8:[view]:json: found \"json\", allowed: not with layout = "
		"batch\n");
}

static void check_read_back(const char *text)
{
	struct job_config job, again;
	auto_free char *printed = NULL, *twice = NULL;
	size_t bytes;
	check_right(text, &job);
	FILE *out = open_memstream(&printed, &bytes);
	config_print_job(out, &job);
	fclose(out);
	check_right(printed, &again);
	out = open_memstream(&twice, &bytes);
	config_print_job(out, &again);
	fclose(out);
	cr_assert_str_eq(printed, twice);
	config_job_free(&job);
	config_job_free(&again);
}

Test(config_layout, a_printed_job_is_read_back)
{
	check_read_back(JOB "crop = 8\n[view]\nlayout = batch\nbatch = 300\n");
	check_read_back(JOB "[view]\nlayout = tar\nshard = 17\ndrop_last = yes\n");
	check_read_back(JOB "[view]\nlayout = tar\n");
}

Test(config_layout, options_of_a_file_for_each_sample)
{
	check_read_back(JOB "[view]\nshard = 100\njson = yes\npath = a/.b/c\n");
	check_read_back(JOB "[view]\nlabels = fixed\n");
	check_wrong(JOB "[view]\nlayout = tar\nlabels = fixed\n",
		"job.ini:7:[view]:labels: found \"fixed\", allowed: only with layout = "
		"flat; in classes they are fixed\n");
	check_wrong(JOB "[view]\nlayout = classes\nshard = 5\n",
		"job.ini:7:[view]:shard: found \"shard\", allowed: only with layout = "
		"flat or tar\n");
	check_wrong(JOB "[view]\nlayout = mirror\njson = yes\n",
		"job.ini:7:[view]:json: found \"yes\", allowed: only with layout = flat "
		"or tar\n");
	check_wrong(JOB "[view]\nextension = json\njson = yes\n",
		"job.ini:6:[view]:extension: found \"json\", allowed: any other "
		"extension, since json = yes\n");
}

Test(config_layout, a_path_names_a_place_below_data)
{
	static const char *const paths[] = {
		"/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "/"};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char text[100], expected[200];
		snprintf(text, sizeof(text), JOB "[view]\npath = %s\n", paths[i]);
		snprintf(expected, sizeof(expected),
			"job.ini:6:[view]:path: found \"%s\", allowed: names separated "
			"by /, none of them . or .., without quotes and ~\n",
			paths[i]);
		check_wrong(text, expected);
	}
}
