// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "config/config.h"
#include "memory_file.h"

#include <string.h>

/* Inis of the daemon and of a job. Each is refused with a message, or accepted. The effective
 * configuration of an accepted job must be read back as the same. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counts mistakes. Warnings are no mistakes. */
static void count(void *context, const char *message)
{
	unsigned *mistakes = context;
	ensure(message[0] && !strchr(message, '\n'));
	*mistakes += strncmp(message, CONFIG_WARNING, strlen(CONFIG_WARNING)) != 0;
}

static char *printed(const struct job_config *job)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	ensure(out);
	config_print_job(out, job);
	ensure(fclose(out) == 0);
	return text;
}

static void try_job(const char *text)
{
	unsigned mistakes = 0;
	struct job_config job, again;
	int err = config_parse_job("job.ini", text, count, &mistakes, &job);
	ensure((err == 0) == (mistakes == 0));
	if (err)
		return;
	auto_free char *first = printed(&job);
	ensure(config_parse_job("job.ini", first, count, &mistakes, &again) == 0);
	auto_free char *second = printed(&again);
	ensure(strcmp(first, second) == 0);
	ensure(preparation_equal(&job.preparation, &again.preparation));
	config_job_free(&job);
	config_job_free(&again);
}

static void try_daemon(const uint8_t *data, size_t size)
{
	unsigned mistakes = 0;
	struct daemon_config daemon;
	struct memory_file file;
	memory_file_open(&file, data, size);
	int err = config_parse_daemon(file.path, NULL, count, &mistakes, &daemon);
	ensure((err == 0) == (mistakes == 0));
	if (!err)
		config_daemon_free(&daemon);
	memory_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = strndup((const char *)data, size);
	ensure(text);
	try_job(text);
	try_daemon(data, size);
	return 0;
}
