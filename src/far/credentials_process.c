// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "far/credentials.h"
#include "far/far_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

/* Runs the command of a profile's credential_process as the daemon's user. */

#define MOST_OUTPUT 65536
#define TIMEOUT_NS UINT64_C(30000000000)
#define POLL_MS 200 /* pause between two checks for far_stop */

extern char **environ;

static int spawn(char *command, int out, pid_t *ret)
{
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	posix_spawn_file_actions_addopen(
		&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
		POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	int err = posix_spawn(ret, "/bin/sh", &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* Reads the command's output. Returns false after TIMEOUT_NS, after far_stop, or if the output is
 * too long. */
static bool read_all(int fd, char *text)
{
	uint64_t until_ns = clock_now_ns() + TIMEOUT_NS;
	size_t used = 0;
	while (!transfer_is_stopped() && clock_now_ns() < until_ns) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		if (poll(&poll_fd, 1, POLL_MS) <= 0)
			continue;
		ssize_t n = read(fd, text + used, MOST_OUTPUT - used);
		if (n <= 0)
			return n == 0 && used < MOST_OUTPUT;
		used += (size_t)n;
	}
	return false;
}

/* Runs the command, and kills it if read_all fails. Returns the command's exit status, or -1. */
static int run(char *command, char *text)
{
	int fds[2], status = -1;
	pid_t pid;
	if (pipe2(fds, O_CLOEXEC) != 0)
		return -1;
	int err = spawn(command, fds[1], &pid);
	close(fds[1]);
	bool good = !err && read_all(fds[0], text);
	close(fds[0]);
	if (err)
		return -1;
	if (!good)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return good && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int process_credentials(
	const char *command, struct credentials *ret, struct far_error *error)
{
	auto_free char *text = calloc(1, MOST_OUTPUT + 1);
	auto_free char *copy = strdup(command);
	if (!text || !copy)
		return far_no_memory(error);
	int status = run(copy, text);
	if (status < 0)
		return far_fail(error, -EIO,
			"credentials: credential_process did not end within 30 s, or a "
			"signal ended it");
	if (status > 0)
		return far_fail(error, -EIO,
			"credentials: credential_process ended with the status %d",
			status);
	int err = credentials_of_json(
		text, "SessionToken", "credential_process", ret, error);
	explicit_bzero(text, MOST_OUTPUT);
	ret->read_anew = !err && ret->expires == 0;
	return err;
}
