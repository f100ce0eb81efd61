// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config_helpers.h"

#include <errno.h>

/* Settings outside of an ini, %name, and warnings about settings that are probably mistakes. */

#define JOB "[job]\nname = a\ndataset = b\n"

static struct messages messages;

static int parse_with(const char *text, const char *setting, struct job_config *ret)
{
	messages.text[0] = '\0';
	return config_parse_job_with(
		"job.ini", text, &setting, 1, collect, &messages, ret);
}

static void expect_wrong_setting(const char *setting, const char *expected)
{
	struct job_config job;
	cr_expect_eq(parse_with(JOB, setting, &job), -EINVAL, "%s", setting);
	cr_expect_str_eq(messages.text, expected);
}

Test(config_settings, replace_what_the_ini_has)
{
	struct job_config job;
	cr_assert_eq(parse_with(JOB "idle = 2x\n", "job.idle=3s", &job), 0, "%s",
		messages.text);
	cr_expect_eq(job.idle_s, 3);
	config_job_free(&job);
	cr_assert_eq(parse_with(JOB, "view.layout = classes ; as in an ini", &job), 0);
	cr_expect_eq(job.layout, LAYOUT_CLASSES);
	config_job_free(&job);
	const char *both[] = {"job.name=c", "job.name=d"};
	cr_assert_eq(
		config_parse_job_with("f", JOB, both, 2, collect, &messages, &job), 0);
	cr_expect_str_eq(job.name, "d");
	config_job_free(&job);
}

Test(config_settings, mistakes_in_them)
{
	expect_wrong_setting("job.idle=2x",
		"job.ini:--set:[job]:idle: found \"2x\", allowed: seconds, or a number "
		"with s, m or h, like 600, 10m or 1h; at least 1 s\n");
	expect_wrong_setting("vew.layout=flat",
		"job.ini:--set:[vew]: found \"vew\", allowed: [job], [tensor], "
		"[augment], [view]; did you mean \"view\"?\n");
	expect_wrong_setting("joaderfs.cache=1",
		"job.ini:--set:[joaderfs]: found \"joaderfs\", allowed: [job], [tensor], "
		"[augment], [view]\n");
	expect_wrong_setting("layout=flat",
		"job.ini:--set: found \"layout=flat\", allowed: SECTION.KEY=VALUE, a "
		"line of at most 197 bytes\n");
}

Test(config_settings, name_in_path)
{
	struct job_config job;
	char text[400];
	cr_assert_eq(parse_job(JOB "[view]\npath = %name/x%name%\n", &messages, &job), 0);
	cr_expect_str_eq(job.path, "a/xa%");
	config_job_free(&job);
	snprintf(text, sizeof(text), JOB "[view]\npath = %s\n",
		"%name/%name/%name/%name/%name/%name");
	cr_assert_eq(parse_with(text, "job.name=a123456789b123456789c123456789d", &job),
		-EINVAL);
	cr_expect(
		strstr(messages.text, "allowed: at most 180 bytes"), "%s", messages.text);
}

Test(config_settings, quotes_and_tilde)
{
	static const char *const paths[] = {"\"/data\"", "'/data'", "~/data", "~"};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct daemon_config daemon;
		char text[100];
		snprintf(text, sizeof(text), "[dataset d]\npath = %s\n", paths[i]);
		cr_expect_eq(load_daemon(text, &messages, &daemon), -EINVAL);
		cr_expect(strstr(messages.text, "without quotes and without ~"), "%s: %s",
			paths[i], messages.text);
	}
	struct daemon_config daemon;
	cr_expect_eq(load_daemon("[dataset d]\npath = ./~\n", &messages, &daemon), 0);
	cr_expect_str_eq(messages.text, "");
	config_daemon_free(&daemon);
}

Test(config_settings, a_comment_that_is_none)
{
	struct job_config job;
	cr_assert_eq(parse_job(JOB "where = label < 3 # three\n", &messages, &job), 0);
	cr_expect_str_eq(messages.text,
		"warning: job.ini:4:[job]:where: \"# three\" belongs to the value: after "
		"a value, a comment begins with ; and not with #\n");
	config_job_free(&job);
	cr_assert_eq(parse_job(JOB "# a\nwhere = label < 3 ; # b\n", &messages, &job), 0);
	cr_expect_str_eq(messages.text, "");
	config_job_free(&job);
	cr_assert_eq(parse_job(JOB "where = path != 'a#b'\n", &messages, &job), 0);
	cr_expect_str_eq(messages.text, "");
	config_job_free(&job);
}
