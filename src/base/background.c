// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/background.h"
#include "base/ensure.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Socket to the parent. The child sends one byte when the daemon is ready. -1: no parent waits. */
static int ready_fd = -1;

static int status_of_failed(pid_t child)
{
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	if (WIFSIGNALED(status))
		log_error("ended by signal %d (%s) before it was ready", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		return WEXITSTATUS(status);
	return EXIT_FAILURE;
}

static _Noreturn void wait_for_child(pid_t child, int fd)
{
	char byte;
	ssize_t n;
	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	/* _exit, because exit would write buffers and run handlers that the child owns now */
	_exit(n == 1 ? EXIT_SUCCESS : status_of_failed(child));
}

void background_fill_stdio(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int background_begin(void)
{
	int ends[2];
	ensure(ready_fd < 0);
	background_fill_stdio();
	/* SOCK_CLOEXEC: a helper program that outlives the child has no copy of the socket, so the
	 * parent does not wait for the helper. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	fflush(NULL); /* otherwise parent and child would both write the buffered text */
	pid_t parent = getpid();
	pid_t child = fork();
	if (child < 0) {
		int err = -errno;
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (child > 0) {
		close(ends[1]);
		wait_for_child(child, ends[0]);
	}
	close(ends[0]);
	ready_fd = ends[1];
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		log_warn("cannot follow the starting process: %s", strerror(errno));
	else if (getppid() != parent)
		raise(SIGTERM); /* the parent ended before prctl was called */
	return 0;
}

static void redirect_stdio(void)
{
	int null = open("/dev/null", O_RDWR);
	if (null < 0) {
		log_warn("cannot open /dev/null: %s", strerror(errno));
		return;
	}
	fflush(NULL);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			log_warn(
				"cannot redirect descriptor %d: %s", fd, strerror(errno));
	/* background_fill_stdio has opened all standard descriptors, so `null` is none of them. */
	close(null);
}

void background_leave(void)
{
	if (chdir("/") < 0)
		log_warn("cannot change to the root directory: %s", strerror(errno));
	redirect_stdio();
}

void background_ready(void)
{
	if (ready_fd < 0)
		return;
	ensure(setsid() > 0);
	ensure(prctl(PR_SET_PDEATHSIG, 0) == 0);
	background_leave();
	/* A failed send is ignored: the child continues if the parent was killed. */
	(void)!send(ready_fd, "", 1, MSG_NOSIGNAL);
	close(ready_fd);
	ready_fd = -1;
}
