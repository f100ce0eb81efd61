// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/kept.h"
#include "base/log.h"
#include "control/control_request.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

/* Uses posix_spawn, because a fork would make all memory of this process copy-on-write. The kernel
 * would have to copy a page before it writes a FUSE request to this page. The kernel copies no page
 * for a thread that is being killed, so the request would fail. */
static int spawn(char *program, char *question, int out, pid_t *ret)
{
	char *const arguments[] = {program, question, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigemptyset(&none);
	int err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawnattr_init(&attributes);
	if (err) {
		posix_spawn_file_actions_destroy(&actions);
		return -err;
	}
	err = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	if (!err)
		err = posix_spawnattr_setsigmask(&attributes, &none);
	if (!err)
		err = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (!err)
		err = posix_spawn(
			ret, program, &actions, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

static void copy(int from, FILE *out)
{
	char part[1024];
	ssize_t n;
	while ((n = read(from, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			fwrite(part, 1, (size_t)n, out);
}

/* Asks the program whether it supports the format of the state directory, and the layout
 * of the memory that the supervisor keeps. */
static bool can_follow(const char *state, char *program, FILE *out)
{
	int ends[2], status = -1;
	auto_free char *question = aprintf(
		"--can-follow=%u,%zu,%s", KEPT_VERSION, sizeof(struct kept), state);
	if (!question || pipe2(ends, O_CLOEXEC) != 0) {
		fprintf(out, "%s\n", strerror(errno));
		return false;
	}
	pid_t child = 0;
	int err = spawn(program, question, ends[1], &child);
	close(ends[1]);
	if (err)
		fprintf(out, "%s: %s\n", program, strerror(-err));
	else
		copy(ends[0], out);
	close(ends[0]);
	while (!err && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return !err && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

bool control_upgrade(const struct request *request)
{
	const char *program = request->n_arguments == 2 ? request->argument[1] : NULL;
	const char *state = request->context->config->state;
	auto_free char *path = program ? realpath(program, NULL) : NULL;
	if (!kept_is_supervised())
		return request_refuse(request,
			"upgrade: the daemon was started with --no-supervisor, so no "
			"process can start another engine");
	if (request->session && !session_is_resent(request->session))
		return request_refuse(request,
			"upgrade: this kernel can't send pending requests to another "
			"engine (Linux 6.9 and later can): unmount, and start the other "
			"program");
	if (program && (!path || strlen(path) >= sizeof(kept()->program)))
		return request_refuse(request, "%s: %s", program,
			strerror(path ? ENAMETOOLONG : errno));
	if (path && !can_follow(state, path, request->out))
		return request_refuse(request,
			"%s can't take over from the running engine, which continues",
			path);
	if (path)
		strcpy(kept()->program, path);
	fputs("the supervisor starts another engine\n", request->out);
	request->client->hands_over = true;
	return true;
}

/* Ends this engine process, so that the supervisor starts another one. No answer is lost, because
 * the journals record all answers, and the kernel sends unanswered requests again. */
_Noreturn void control_hand_over(void)
{
	log_info("this engine ends, and another one takes over%s%s",
		kept()->program[0] ? ", " : "", kept()->program);
	atomic_store(&kept()->hands_over, true);
	_exit(EXIT_SUCCESS);
}
