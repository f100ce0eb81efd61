// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"

#include <criterion/criterion.h>
#include <string.h>

/* Functions for the tests of config. They collect messages and write an ini to a file. */

struct messages {
	char text[4096]; /* the messages, each with a newline */
};

static inline void collect(void *context, const char *message)
{
	struct messages *messages = context;
	size_t n = strlen(messages->text);
	snprintf(messages->text + n, sizeof(messages->text) - n, "%s\n", message);
}

/* Parses the ini of a job. Returns the result; *ret_messages are the messages. */
static inline int parse_job(
	const char *text, struct messages *ret_messages, struct job_config *ret)
{
	ret_messages->text[0] = '\0';
	return config_parse_job("job.ini", text, collect, ret_messages, ret);
}

/* Writes the ini to a new directory, and changes to this directory, so that messages name
 * joaderfs.ini. */
static inline int load_daemon(
	const char *text, struct messages *ret_messages, struct daemon_config *ret)
{
	char dir[] = "/tmp/test_config.XXXXXX";
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	FILE *file = fopen("joaderfs.ini", "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	ret_messages->text[0] = '\0';
	int err = config_parse_daemon("joaderfs.ini", NULL, collect, ret_messages, ret);
	unlink("joaderfs.ini");
	cr_assert_eq(chdir("/"), 0);
	rmdir(dir);
	return err;
}
