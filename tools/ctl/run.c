// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "commands.h"
#include "request.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNAL 128

struct run {
	const char *socket_path;
	bool keeps;
	int n_options; /* number of words in argv that are passed to `add` */
	char **command;
	char *name, *directory; /* directory: path of the job's current/ */
	/* signals: the signals for which this process waits while the command runs
	 * mask: the signal mask before these signals were blocked */
	sigset_t signals, mask;
};

static const int forwarded[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

/* Takes the job's name and directory from the daemon's answer, which is: name, tab, directory,
 * newline. Returns false after a failure, which was printed. */
static bool take_answer(struct run *run, char *answer)
{
	char *tab = strchr(answer, '\t');
	char *end = tab ? strchr(tab, '\n') : NULL;
	if (!end)
		return complain(
			"run: the daemon at %s is too old: it does not know this command",
			run->socket_path);
	*tab = *end = '\0';
	run->name = strdup(answer);
	run->directory = aprintf("%s/current", tab + 1);
	if (!run->name || !run->directory)
		return complain("%s", strerror(ENOMEM));
	return true;
}

static bool add_job(struct run *run, char **argv)
{
	auto_free char *answer = NULL;
	size_t bytes;
	FILE *out = open_memstream(&answer, &bytes);
	if (!out)
		return complain("%s", strerror(ENOMEM));
	int status = add_jobs(run->socket_path, run->n_options + 1, argv, true, out);
	return fclose(out) == 0 && status == EXIT_SUCCESS && take_answer(run, answer);
}

static void remove_job(const struct run *run)
{
	const char *arguments[] = {"rm", run->name};
	auto_free char *answer = NULL;
	if (!request_text(run->socket_path, arguments, 2, &answer))
		complain("run: job %s can't be removed; joaderctl rm removes it",
			run->name);
}

/* Replaces {} in the argument by the directory. The caller frees the text; NULL: no memory. */
static char *filled_in(const char *argument, const char *directory)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	for (const char *at; (at = strstr(argument, "{}")); argument = at + 2) {
		fwrite(argument, 1, (size_t)(at - argument), out);
		fputs(directory, out);
	}
	fputs(argument, out);
	return close_text(out, &text);
}

static _Noreturn void become(const struct run *run)
{
	for (char **argument = run->command; *argument; argument++) {
		*argument = filled_in(*argument, run->directory);
		if (!*argument)
			_exit(EXIT_NOT_EXECUTABLE);
	}
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &run->mask, NULL);
	if (setenv("JOADERFS_JOB", run->name, 1) == 0)
		execvp(run->command[0], run->command);
	int err = errno;
	complain("%s: %s", run->command[0], strerror(err));
	_exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* Stops this process, because the command (the process `child`) was stopped. When this process goes
 * on, lets the command go on, too. */
static void stop_with(pid_t child)
{
	raise(SIGSTOP);
	kill(child, SIGCONT);
}

static int wait_for(pid_t child, const sigset_t *signals)
{
	for (;;) {
		int status;
		int number = sigwaitinfo(signals, NULL);
		if (number > 0 && number != SIGCHLD)
			kill(child, number);
		while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
			if (WIFEXITED(status))
				return WEXITSTATUS(status);
			if (WIFSIGNALED(status))
				return EXIT_SIGNAL + WTERMSIG(status);
			stop_with(child);
		}
	}
}

static int run_child(const struct run *run)
{
	pid_t child = fork();
	if (child == 0)
		become(run);
	if (child > 0)
		return wait_for(child, &run->signals);
	return exit_failure("fork: %s", strerror(errno));
}

static void take_signals(struct run *run)
{
	sigemptyset(&run->signals);
	sigaddset(&run->signals, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&run->signals, forwarded[i]);
	sigprocmask(SIG_BLOCK, &run->signals, &run->mask);
}

static int usage(const char *text)
{
	return exit_usage("run: %s; joaderctl run --help says more", text);
}

/* Removes --keep from argv. Returns an exit status if the command ends here, otherwise -1. */
static int take_arguments(struct run *run, int argc, char **argv)
{
	int n = 1, i = 1;
	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--keep") == 0)
			run->keeps = true;
		else
			argv[n++] = argv[i];
	if (i == argc)
		return usage("no -- before the command");
	if (i + 1 == argc)
		return usage("no command given");
	if (n == 1)
		return usage("no file or template given");
	run->command = argv + i + 1;
	run->n_options = n - 1;
	return -1;
}

int run_command(const char *socket_path, int argc, char **argv)
{
	struct run run = {.socket_path = socket_path};
	int status = take_arguments(&run, argc, argv);
	if (status >= 0)
		return status;
	status = EXIT_FAILURE;
	/* Signals must not end this process now, because it has to remove the job. */
	take_signals(&run);
	if (add_job(&run, argv)) {
		complain("job %s: %s", run.name, run.directory);
		status = run_child(&run);
	}
	if (run.name && !run.keeps)
		remove_job(&run);
	free(run.name);
	free(run.directory);
	return status;
}
