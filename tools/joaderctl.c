// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* joaderctl: speaks to a running joaderfs. */

#include "config/config.h"
#include "ctl/mount.h"
#include "ctl/request.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>

#define EXIT_USAGE 2

static const char help[] =
	"usage: joaderctl [-s SOCKET] COMMAND [ARGUMENT]...\n"
	"\n"
	"  add FILE...          add jobs: each FILE is a job's ini, - is standard input\n"
	"  rm JOB...            remove jobs\n"
	"  mount [-o allow_other] JOB DIR\n"
	"                       mount the directory of a job here, as in a container\n"
	"  grant JOB            make a socket that can only mount and read the job, for "
	"a\n"
	"                       container, and print its path\n"
	"  revoke JOB           remove this socket\n"
	"  ls                   list the jobs\n"
	"  status [JOB]         where a job is and how it was served; without JOB: all\n"
	"  order JOB [EPOCH]    the samples of an epoch in the order in which they were\n"
	"                       given out; without EPOCH: of the latest one\n"
	"  stats                counters of the daemon\n"
	"  datasets [DATASET]   the datasets, or one of them\n"
	"\n"
	"  -s, --socket SOCKET  control socket of the daemon; otherwise "
	"$JOADERFS_SOCKET,\n"
	"                       otherwise the daemon's default\n"
	"  -h, --help           this text\n"
	"      --version        the version\n"
	"\n"
	"Exit status: 0 done, 1 refused or no daemon, 2 wrong usage.\n";

/* --- commands ---------------------------------------------------------------------- */

static int read_file(const char *file, char **ret, size_t *ret_bytes)
{
	if (strcmp(file, "-") == 0)
		return read_all(STDIN_FILENO, ret, ret_bytes);
	auto_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : read_all(fd, ret, ret_bytes);
}

static int add(const char *path, const char *file)
{
	auto_free char *text = NULL;
	size_t bytes = 0;
	/* Before it connects: standard input may take its time. */
	int err = read_file(file, &text, &bytes);
	const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
	if (err) {
		complain("%s: %s", name, strerror(-err));
		return EXIT_FAILURE;
	}
	if (strlen(text) != bytes) {
		complain("%s: not a text file: it has a NUL byte", name);
		return EXIT_FAILURE;
	}
	const char *arguments[] = {"add", name, text};
	return request(path, arguments, 3, NULL);
}

static int rm(const char *path, const char *job)
{
	const char *arguments[] = {"rm", job};
	return request(path, arguments, 2, NULL);
}

static int each(const char *path, char **arguments, int n,
	int (*command)(const char *path, const char *argument))
{
	int status = EXIT_SUCCESS;
	if (n == 0) {
		complain("nothing given; joaderctl --help says more");
		return EXIT_USAGE;
	}
	for (int i = 0; i < n; i++)
		if (command(path, arguments[i]) != EXIT_SUCCESS)
			status = EXIT_FAILURE;
	return status;
}

static int mount(const char *path, char **arguments, int n)
{
	bool allow_other = false;
	if (n > 1 && strcmp(arguments[0], "-o") == 0) {
		if (strcmp(arguments[1], "allow_other") != 0) {
			complain("mount: -o %s: the only option is allow_other",
				arguments[1]);
			return EXIT_USAGE;
		}
		allow_other = true;
		arguments += 2;
		n -= 2;
	}
	if (n != 2) {
		complain("usage: joaderctl mount [-o allow_other] JOB DIR");
		return EXIT_USAGE;
	}
	return mount_job(path, arguments[0], arguments[1], allow_other);
}

static int run(const char *path, char **arguments, int n)
{
	if (strcmp(arguments[0], "add") == 0)
		return each(path, arguments + 1, n - 1, add);
	if (strcmp(arguments[0], "rm") == 0)
		return each(path, arguments + 1, n - 1, rm);
	if (strcmp(arguments[0], "mount") == 0)
		return mount(path, arguments + 1, n - 1);
	return request(path, (const char *const *)arguments, (size_t)n, NULL);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"socket", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0}};
	const char *socket_path = getenv("JOADERFS_SOCKET");
	auto_free char *default_path = NULL;
	int option;
	/* +: options behind the command belong to it */
	while ((option = getopt_long(argc, argv, "+s:h", options, NULL)) != -1) {
		if (option == 's') {
			socket_path = optarg;
		} else if (option == 'h') {
			return fputs(help, stdout) < 0 || fflush(stdout) != 0;
		} else if (option == 'V') {
			return printf("joaderctl %s\n", JOADERFS_VERSION) < 0 ||
			       fflush(stdout) != 0;
		} else {
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		fputs(help, stderr);
		return EXIT_USAGE;
	}
	if (!socket_path || !socket_path[0])
		socket_path = default_path = config_default_socket();
	if (!socket_path) {
		complain("%s", strerror(ENOMEM));
		return EXIT_FAILURE;
	}
	/* It must not die by a signal when the user leaves a pager. */
	signal(SIGPIPE, SIG_IGN);
	return run(socket_path, argv + optind, argc - optind);
}
