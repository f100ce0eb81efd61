// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config.h"
#include "ctl/commands.h"
#include "ctl/request.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>

static int rm_each(const char *path, char **arguments, int n)
{
	int status = EXIT_SUCCESS;
	if (n == 0)
		return exit_usage("rm: no job given; joaderctl rm --help says more");
	for (int i = 0; i < n; i++)
		status |= request(
			path, (const char *[]){"rm", arguments[i]}, 2, NULL, stdout);
	return status;
}

static int mount(const char *path, char **arguments, int n)
{
	bool allow_other = false;
	if (n > 1 && strcmp(arguments[0], "-o") == 0) {
		if (strcmp(arguments[1], "allow_other") != 0)
			return exit_usage("mount: -o %s: the only option is allow_other",
				arguments[1]);
		allow_other = true;
		arguments += 2;
		n -= 2;
	}
	if (n != 2)
		return exit_usage("usage: joaderctl mount [-o allow_other] JOB DIR");
	return mount_job(path, arguments[0], arguments[1], allow_other);
}

static bool asks_for_help(char **arguments, int n)
{
	return n > 1 &&
	       (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0);
}

/* The path is made absolute, because the daemon runs in another directory. */
static int upgrade(const char *path, char **arguments, int n)
{
	char *program = n == 2 ? realpath(arguments[1], NULL) : NULL;
	if (n == 2 && !program)
		return exit_failure("%s: %s", arguments[1], strerror(errno));
	const char *absolute[] = {arguments[0], program};
	int status = request(path, absolute, n == 2 ? 2 : (size_t)n, NULL, stdout);
	free(program);
	return status;
}

static int cluster_command(const char *path, char **arguments, int n)
{
	const char *asks[] = {NULL, arguments[2], n > 3 ? arguments[3] : NULL,
		n > 4 ? arguments[4] : NULL};
	if (n == 3 && strcmp(arguments[1], "forget") == 0)
		asks[0] = "cluster-forget";
	else if ((n == 4 || n == 5) && strcmp(arguments[1], "resize") == 0)
		asks[0] = "cluster-resize";
	if (asks[0])
		return request(path, asks, (size_t)n - 1, NULL, stdout);
	return exit_usage(
		"usage: joaderctl cluster [forget NODE|TRAINING | resize TRAINING "
		"RANKS [LOCAL_RANKS]]");
}

static int carry_out(const char *path, char **arguments, int n)
{
	if (asks_for_help(arguments, n)) {
		int status = help_of(arguments[0], stdout);
		if (status != EXIT_USAGE)
			return status;
	}
	if (strcmp(arguments[0], "add") == 0)
		return add_jobs(path, n, arguments, false, stdout);
	if (strcmp(arguments[0], "doctor") == 0)
		return doctor(n, arguments);
	if (strcmp(arguments[0], "explain") == 0)
		return explain(path, n, arguments);
	if (strcmp(arguments[0], "run") == 0)
		return run_command(path, n, arguments);
	if (strcmp(arguments[0], "trace") == 0)
		return trace(path, n, arguments);
	if (strcmp(arguments[0], "top") == 0)
		return top(path, n, arguments);
	if (strcmp(arguments[0], "rm") == 0)
		return rm_each(path, arguments + 1, n - 1);
	if (strcmp(arguments[0], "restore") == 0)
		return restore_job(path, n, arguments);
	if (strcmp(arguments[0], "export") == 0)
		return export_job(path, n, arguments);
	if (strcmp(arguments[0], "ls") == 0 && n == 1)
		return list_jobs(path);
	if (strcmp(arguments[0], "mount") == 0)
		return mount(path, arguments + 1, n - 1);
	if (strcmp(arguments[0], "dataset") == 0)
		return dataset_command(path, n, arguments);
	if (strcmp(arguments[0], "cluster") == 0 && n > 1)
		return cluster_command(path, arguments, n);
	if (strcmp(arguments[0], "upgrade") == 0 && n <= 2)
		return upgrade(path, arguments, n);
	return request(path, (const char *const *)arguments, (size_t)n, NULL, stdout);
}

/* Returns the path of the socket that the daemon's ini sets. Returns NULL if the ini can't be
 * loaded; the mistake was reported. */
static char *socket_of(const char *config_path)
{
	struct daemon_config config;
	if (config_parse_daemon(config_path, NULL, complain_of_ini, NULL, &config) != 0)
		return NULL;
	char *path = strdup(config.socket);
	config_daemon_free(&config);
	return path;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"socket", required_argument, NULL, 's'},
		{"config", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0}};
	const char *socket_path = getenv("JOADERFS_SOCKET");
	auto_free char *default_path = NULL;
	int option;
	/* The + stops getopt at the command: all later options belong to the command. */
	while ((option = getopt_long(argc, argv, "+s:c:h", options, NULL)) != -1) {
		if (option == 's') {
			socket_path = optarg;
		} else if (option == 'c') {
			free(default_path);
			socket_path = default_path = socket_of(optarg);
			if (!socket_path)
				return EXIT_FAILURE;
		} else if (option == 'h') {
			return help_all(stdout);
		} else if (option == 'V') {
			return printf("joaderctl %s\n", JOADERFS_VERSION) < 0 ||
			       fflush(stdout) != 0;
		} else {
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		(void)help_all(stderr);
		return EXIT_USAGE;
	}
	if (!socket_path || !socket_path[0])
		socket_path = default_path = config_default_socket();
	if (!socket_path)
		return exit_failure("%s", strerror(ENOMEM));
	/* A write to a pager that the user has left fails, but does not end this program. */
	signal(SIGPIPE, SIG_IGN);
	return carry_out(socket_path, argv + optind, argc - optind);
}
