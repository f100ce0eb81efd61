// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "commands.h"
#include "config/config.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

/* The arguments of the request that adds jobs, and all texts to free after the request. */
struct inis {
	const char **arguments;
	size_t n;
	char **texts;
	size_t n_texts;
	int import; /* descriptor of the imported file, or -1 */
	bool template;
};

/* Adds two arguments to the request. Returns true. */
static bool add_two(struct inis *inis, const char *first, const char *second)
{
	inis->arguments[inis->n++] = first;
	inis->arguments[inis->n++] = second;
	return true;
}

static bool add_file(struct inis *inis, const char *file)
{
	const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
	char *text = NULL;
	size_t bytes = 0;
	int err = read_file(file, &text, &bytes);
	if (err)
		return complain("%s: %s", name, strerror(-err));
	inis->texts[inis->n_texts++] = text;
	if (strlen(text) != bytes)
		return complain("%s: not a text file: it has a NUL byte", name);
	char *filled;
	struct config_unset unset;
	err = config_environment(text, &filled, &unset);
	if (err == -EINVAL)
		return complain(
			"%s:%u:[job]:%s: %s", name, unset.line, unset.key, unset.text);
	if (err)
		return complain("%s: %s", name, strerror(-err));
	inis->texts[inis->n_texts++] = filled;
	return add_two(inis, name, filled);
}

static bool add_import(struct inis *inis, const char *file)
{
	if (inis->n != 1)
		return complain("add: --import comes once, before the other options");
	inis->import = open(file, O_RDONLY | O_CLOEXEC);
	if (inis->import < 0)
		return complain("%s: %s", file, strerror(errno));
	return add_two(inis, "--import", file);
}

static bool add_at(struct inis *inis, const char *place)
{
	if (inis->import < 0 || inis->n != 3)
		return complain(
			"add: --at comes after --import, before the other options");
	return add_two(inis, "--at", place);
}

static bool add_setting(struct inis *inis, const char *setting)
{
	char *filled;
	struct config_unset unset;
	int err = config_environment_setting(setting, &filled, &unset);
	if (err)
		return complain(
			"%s: %s", setting, err == -EINVAL ? unset.text : strerror(-err));
	inis->texts[inis->n_texts++] = filled;
	return add_two(inis, "--set", filled);
}

static bool add_template(struct inis *inis, const char *name)
{
	inis->template = true;
	return add_two(inis, "--template", name);
}

static bool add_name(struct inis *inis, const char *name)
{
	char *setting = aprintf("job.name=%s", name);
	if (!setting)
		return complain("%s", strerror(ENOMEM));
	inis->texts[inis->n_texts++] = setting;
	return add_setting(inis, setting);
}

/* Returns an exit status if the command ends here, otherwise -1. */
static int take_options(struct inis *inis, int argc, char **argv)
{
	static const struct option options[] = {{"name", required_argument, NULL, 'n'},
		{"set", required_argument, NULL, 'S'},
		{"import", required_argument, NULL, 'i'},
		{"at", required_argument, NULL, 'a'},
		{"template", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int option;
	optind = 0; /* restarts getopt after joaderctl's own options */
	while ((option = getopt_long(argc, argv, "n:S:t:h", options, NULL)) != -1) {
		bool ok = false;
		if (option == 'h')
			return help_of("add", stdout);
		else if (option == 'n')
			ok = add_name(inis, optarg);
		else if (option == 'S')
			ok = add_setting(inis, optarg);
		else if (option == 'i')
			ok = add_import(inis, optarg);
		else if (option == 'a')
			ok = add_at(inis, optarg);
		else if (option == 't')
			ok = add_template(inis, optarg);
		if (!ok)
			return EXIT_USAGE;
	}
	if (optind < argc || inis->template)
		return -1;
	return exit_usage(
		"add: no file or template given; joaderctl add --help says more");
}

static int send_inis(struct inis *inis, const char *socket_path, int argc,
	char *const *argv, FILE *out)
{
	/* Reads all files before connecting, because standard input may take long. */
	for (int i = optind; i < argc; i++)
		if (!add_file(inis, argv[i]))
			return EXIT_FAILURE;
	return request(socket_path, inis->arguments, inis->n,
		inis->import < 0 ? NULL : &inis->import, out);
}

int add_jobs(const char *socket_path, int argc, char **argv, bool own, FILE *out)
{
	/* Each argument of the command becomes at most two arguments of the request. */
	size_t most = 2 * (size_t)argc + 3;
	struct inis inis = {.arguments = calloc(most, sizeof(*inis.arguments)),
		.texts = calloc(most, sizeof(*inis.texts)),
		.import = -1};
	int status = EXIT_FAILURE;
	if (!inis.arguments || !inis.texts) {
		complain("%s", strerror(ENOMEM));
	} else {
		inis.arguments[inis.n++] = "add";
		if (own)
			inis.arguments[inis.n++] = "--own-name";
		status = take_options(&inis, argc, argv);
		if (status < 0)
			status = send_inis(&inis, socket_path, argc, argv, out);
	}
	if (inis.import >= 0)
		close(inis.import);
	for (size_t i = 0; i < inis.n_texts; i++)
		free(inis.texts[i]);
	free(inis.texts);
	free(inis.arguments);
	return status;
}
