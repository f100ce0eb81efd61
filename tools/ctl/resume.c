// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "resume.h"
#include "help.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

/* The caller frees *ret. */
static int read_checkpoint(const char *file, char **ret)
{
	size_t bytes = 0;
	bool is_input = strcmp(file, "-") == 0;
	auto_close int fd = is_input ? -1 : open(file, O_RDONLY | O_CLOEXEC);
	int err = !is_input && fd < 0
			  ? -errno
			  : read_all(is_input ? STDIN_FILENO : fd, ret, &bytes);
	if (err)
		complain("%s: %s", file, strerror(-err));
	return err;
}

int restore_job(const char *socket_path, int argc, char **argv)
{
	static const struct option options[] = {{"at", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	const char *at = NULL;
	int option;
	optind = 0; /* anew, behind the options of joaderctl */
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return help_of("restore", stdout);
		if (option != 'a')
			return EXIT_USAGE;
		at = optarg;
	}
	if (argc - optind != 2) {
		complain("usage: joaderctl restore [--at EPOCH:POSITION] JOB FILE");
		return EXIT_USAGE;
	}
	auto_free char *text = NULL;
	if (read_checkpoint(argv[optind + 1], &text) != 0)
		return EXIT_FAILURE;
	const char *arguments[] = {"restore", argv[optind], text, at};
	return request(socket_path, arguments, at ? 4 : 3, NULL);
}
