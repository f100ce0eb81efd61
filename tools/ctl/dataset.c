// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "commands.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>

static int usage(const char *verb)
{
	return exit_usage("dataset %s: joaderctl dataset --help says more", verb);
}

static int send_ini(const char *socket_path, const char *file, const char *text)
{
	const char *arguments[] = {"dataset", "add", file, text};
	return request(socket_path, arguments, 4, NULL, stdout);
}

static int add_file(const char *socket_path, const char *file)
{
	auto_free char *path = realpath(file, NULL);
	auto_close int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	auto_free char *text = NULL;
	size_t bytes = 0;
	int err = fd < 0 ? -errno : read_all(fd, &text, &bytes);
	if (!err && strlen(text) != bytes)
		err = -EILSEQ;
	if (!err)
		return send_ini(socket_path, path, text);
	return exit_failure("%s: %s", file,
		err == -EILSEQ ? "not a text file: it has a NUL byte" : strerror(-err));
}

/* Adds the dataset `name`. Relative paths in its settings start from the current directory. */
static int add_name(const char *socket_path, const char *name, const char *settings)
{
	auto_free char *here = getcwd(NULL, 0);
	auto_free char *file = here ? aprintf("%s/%s", here, name) : NULL;
	auto_free char *text = aprintf("[dataset %s]\n%s", name, settings);
	if (!file || !text)
		return exit_failure("%s", strerror(errno));
	return send_ini(socket_path, file, text);
}

static int print_settings(FILE *out, int argc, char **argv)
{
	static const struct option options[] = {
		{"set", required_argument, NULL, 'S'}, {NULL, 0, NULL, 0}};
	int option, n = 0;
	optind = 0; /* restarts getopt after joaderctl's own options */
	while ((option = getopt_long(argc, argv, "S:", options, NULL)) != -1) {
		if (option != 'S' || strchr(optarg, '\n'))
			return -1;
		fprintf(out, "%s\n", optarg);
		n++;
	}
	return n;
}

static int add(const char *socket_path, int argc, char **argv)
{
	auto_free char *settings = NULL;
	size_t size;
	FILE *lines = open_memstream(&settings, &size);
	int n = lines ? print_settings(lines, argc, argv) : 0;
	if (!lines || fclose(lines) != 0)
		return exit_failure("%s", strerror(ENOMEM));
	if (n < 0 || argc - optind != 1)
		return usage("add");
	if (n == 0)
		return add_file(socket_path, argv[optind]);
	return add_name(socket_path, argv[optind], settings);
}

int dataset_command(const char *socket_path, int argc, char **argv)
{
	if (argc < 2)
		return usage("");
	if (strcmp(argv[1], "add") == 0)
		return add(socket_path, argc - 1, argv + 1);
	return request(
		socket_path, (const char *const *)argv, (size_t)argc, NULL, stdout);
}
