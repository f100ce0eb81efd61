// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config_helpers.h"

#include <errno.h>

/* Datasets that are added while the daemon runs. */

static struct messages messages;

static int parse(const char *text, struct dataset_config **ret, size_t *ret_n)
{
	messages.text[0] = '\0';
	return config_parse_datasets(
		"/data/new.ini", text, SAMPLER_EXCHANGE, collect, &messages, ret, ret_n);
}

Test(config_dataset, what_is_printed_is_read_back)
{
	struct dataset_config *configs, *again, copy;
	size_t n, size;
	char *text = NULL;
	cr_assert_eq(0, parse("[dataset a]\npath = x\n[dataset b]\npath = /y.zip\n"
			      "label = json:c\nsymlinks = follow\nsame_images = "
			      "content\nsampler = isa\n"
			      "tier = /t, 3M\ntimeout = 7s\nscan = never\n",
				&configs, &n));
	cr_assert_eq(n, 2);
	cr_assert_str_eq(configs[0].path, "/data/x");
	cr_assert_eq(configs[0].sampler, SAMPLER_EXCHANGE);
	cr_assert_eq(0, config_dataset_copy(&configs[1], &copy));
	FILE *out = open_memstream(&text, &size);
	cr_assert_not_null(out);
	config_print_dataset(out, &copy);
	cr_assert_eq(0, fclose(out));
	cr_assert_eq(0, parse(text, &again, &n), "%s", messages.text);
	cr_assert_eq(n, 1);
	cr_assert_str_eq(again->name, "b");
	cr_assert_str_eq(again->path, "/y.zip");
	cr_assert_str_eq(again->label, "json:c");
	cr_assert_str_eq(again->extensions, configs[1].extensions);
	cr_assert(again->follow_outside);
	cr_assert(again->same_content && !configs[0].same_content);
	cr_assert_str_eq(again->tier.directory, "/t");
	cr_assert_eq(again->tier.bytes, 3u << 20);
	cr_assert_eq(again->timeout_s, configs[1].timeout_s);
	cr_assert(again->look == LOOK_NEVER && configs[0].look == LOOK_BEHIND);
	cr_assert_eq(again->sampler, SAMPLER_ISA);
	config_dataset_free(again);
	free(again);
	free(text);
	config_dataset_free(&copy);
	for (size_t i = 0; i < 2; i++)
		config_dataset_free(&configs[i]);
	free(configs);
}

static void refused(const char *text, const char *message)
{
	struct dataset_config *configs;
	size_t n;
	cr_assert_eq(-EINVAL, parse(text, &configs, &n));
	cr_assert(strstr(messages.text, message), "%s", messages.text);
}

Test(config_dataset, there_is_nothing_else_in_the_ini)
{
	refused("[joaderfs]\n[dataset a]\npath = x\n", "allowed: [dataset NAME]");
	refused("", "found no [dataset NAME], allowed: at least one");
	refused("[dataset a]\n", "path");
	refused("[job]\nname = a\n", "this is the ini of a job");
}
