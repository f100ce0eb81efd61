// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "commands.h"
#include "request.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int restore_job(const char *socket_path, int argc, char **argv)
{
	static const struct option options[] = {{"at", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	const char *at = NULL;
	int option;
	optind = 0; /* restarts getopt after joaderctl's own options */
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return help_of("restore", stdout);
		if (option != 'a')
			return EXIT_USAGE;
		at = optarg;
	}
	if (argc - optind != 2)
		return exit_usage(
			"usage: joaderctl restore [--at EPOCH:POSITION] JOB FILE");
	auto_free char *text = NULL;
	size_t bytes;
	int err = read_file(argv[optind + 1], &text, &bytes);
	if (err)
		return exit_failure("%s: %s", argv[optind + 1], strerror(-err));
	const char *arguments[] = {"restore", argv[optind], text, at};
	return request(socket_path, arguments, at ? 4 : 3, NULL, stdout);
}

static bool is_regular(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       lseek(fd, 0, SEEK_CUR) == 0 && st.st_size == 0;
}

static int copy_to_output(int fd)
{
	char block[65536];
	ssize_t n;
	off_t offset = 0;
	while ((n = pread(fd, block, sizeof(block), offset)) > 0) {
		if (fwrite(block, 1, (size_t)n, stdout) != (size_t)n)
			return -errno;
		offset += n;
	}
	if (n < 0 || fflush(stdout) != 0)
		return -errno;
	return 0;
}

/* Runs joaderctl export. The daemon must not wait for a slow reader, so it writes to a regular
 * file. If standard output is an empty regular file, the daemon writes to it. Otherwise the daemon
 * writes to a temporary file, which joaderctl copies to standard output. */
int export_job(const char *socket_path, int argc, char **argv)
{
	if (argc != 2)
		return exit_usage("usage: joaderctl export JOB >FILE");
	if (isatty(STDOUT_FILENO))
		return exit_usage(
			"export: this is no text for a terminal; joaderctl export JOB "
			">FILE");
	const char *arguments[] = {"export", argv[1]};
	bool direct = is_regular(STDOUT_FILENO);
	auto_fclose FILE *file = direct ? NULL : tmpfile();
	int fd = direct ? STDOUT_FILENO : file ? fileno(file) : -1;
	int descriptor = fd < 0 ? -1 : dup(fd);
	if (descriptor < 0)
		return exit_failure("%s", strerror(errno));
	int status = request(socket_path, arguments, 2, &descriptor, stdout);
	int err = status == EXIT_SUCCESS && !direct ? copy_to_output(fd) : 0;
	if (err)
		complain("cannot write: %s", strerror(-err));
	return err ? EXIT_FAILURE : status;
}
