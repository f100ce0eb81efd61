// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "prepare/process.h"
#include "prepare/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 20)
#define STACK_BYTES (64 << 10)
#define END_MS 2000

/* fork() would copy the page tables of the daemon, whose cache may be large, so the child shares
 * the daemon's memory (CLONE_VM, CLONE_VFORK) until it executes the program. The child makes system
 * calls directly: setuid() and other functions of libc would act on all threads of the daemon. */

struct child {
	const struct command *command;
	int in, out, err;
	bool filtered;	  /* filter_sockets has succeeded */
	const char *step; /* the step that failed, for the message; NULL: none */
	int error;
	sigset_t mask; /* signal mask of the program */
};

static void give_up(struct child *child, const char *step)
{
	child->step = step;
	child->error = -errno;
	_exit(127);
}

static void limit(int resource, uint64_t most)
{
	struct rlimit value = {most, most};
	(void)setrlimit(resource, &value);
}

static void reset_signals(void)
{
	struct sigaction normal = {.sa_handler = SIG_DFL};
	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, &normal, NULL);
}

/* Makes the kernel kill this process, not the daemon, when memory is short. */
static void be_the_first_to_end(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	ssize_t ignored = fd < 0 ? 0 : write(fd, "1000", 4);
	(void)ignored;
	if (fd >= 0)
		close(fd);
}

static void become_user(struct child *child)
{
	const struct command *command = child->command;
	if (!command->changes_user)
		return;
	if (syscall(SYS_setgroups, 1, &command->group) != 0 ||
		syscall(SYS_setresgid, command->group, command->group, command->group) !=
			0 ||
		syscall(SYS_setresuid, command->user, command->user, command->user) != 0)
		give_up(child, "its user");
}

__attribute__((no_sanitize("address", "undefined"))) static int child_main(void *argument)
{
	struct child *child = argument;
	const struct command *command = child->command;
	reset_signals();
	setsid();
	if (dup2(child->in, 0) < 0 || dup2(child->out, 1) < 0 || dup2(child->err, 2) < 0)
		give_up(child, "its input and output");
	syscall(SYS_close_range, 3, ~0U, 0);
	be_the_first_to_end();
	limit(RLIMIT_AS, command->memory);
	limit(RLIMIT_CORE, 0);
	if (chdir("/") != 0)
		give_up(child, "its directory");
	become_user(child);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		give_up(child, "its rights");
	child->filtered = filter_sockets() == 0;
	sigprocmask(SIG_SETMASK, &child->mask, NULL);
	execve(command->words[0], command->words, command->environment);
	give_up(child, command->words[0]);
	return 127;
}

/* Starts the child in new namespaces, without network. If the kernel or a container forbids new
 * namespaces, starts the child in those of the daemon. A daemon that is not root also needs a new
 * user namespace. */
static pid_t clone_child(
	struct child *child, uint8_t *stack, int *ret_pidfd, bool *ret_isolated)
{
	const int base = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
	int apart = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWUTS;
	if (geteuid() != 0)
		apart |= CLONE_NEWUSER;
	pid_t pid =
		clone(child_main, stack + STACK_BYTES, base | apart, child, ret_pidfd);
	*ret_isolated = pid > 0;
	if (pid < 0 && errno != ENOMEM && errno != EAGAIN)
		pid = clone(child_main, stack + STACK_BYTES, base, child, ret_pidfd);
	return pid < 0 ? -errno : pid;
}

static pid_t spawn(struct child *child, int *ret_pidfd, bool *ret_isolated)
{
	auto_free uint8_t *stack = malloc(STACK_BYTES);
	sigset_t all, old;
	if (!stack)
		return -ENOMEM;
	sigemptyset(&child->mask);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid_t pid = clone_child(child, stack, ret_pidfd, ret_isolated);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pid;
}

/* The two ends of a pipe, closed when the scope ends; -1: none, or given away. */
#define auto_pipe __attribute__((cleanup(close_pipe)))

static void close_pipe(int (*ends)[2])
{
	cleanup_close(&(*ends)[0]);
	cleanup_close(&(*ends)[1]);
}

/* Makes a pipe. The daemon's end, ends[ours], becomes non-blocking. */
static int make_pipe(int ends[static 2], int ours)
{
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	/* a larger pipe is faster; if this fails, the pipe keeps its default size */
	(void)fcntl(ends[ours], F_SETPIPE_SZ, PIPE_BYTES);
	return fcntl(ends[ours], F_SETFL, O_NONBLOCK) == 0 ? 0 : -errno;
}

int process_start(const struct command *command, struct process *ret, bool *ret_isolated,
	char message[static COMMAND_MESSAGE])
{
	auto_pipe int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
	struct child child = {.command = command};
	int failed = make_pipe(in, 1), pidfd = -1;
	*ret = (struct process){0};
	if (!failed)
		failed = make_pipe(out, 0);
	if (!failed)
		failed = make_pipe(err, 0);
	child.in = in[0];
	child.out = out[1];
	child.err = err[1];
	pid_t pid = failed ? failed : spawn(&child, &pidfd, ret_isolated);
	if (pid < 0) {
		snprintf(message, COMMAND_MESSAGE, "%s", strerror(-pid));
		return pid;
	}
	*ret_isolated = *ret_isolated || child.filtered;
	*ret = (struct process){
		.pid = pid, .pidfd = pidfd, .in = in[1], .out = out[0], .err = err[0]};
	in[1] = out[0] = err[0] = -1;
	if (!child.step)
		return 0;
	snprintf(message, COMMAND_MESSAGE, "%s: %s", child.step, strerror(-child.error));
	process_end(ret);
	return child.error;
}

/* Kills the process and its group. If the process has its own PID namespace, all processes of this
 * namespace end with it. */
void process_kill(const struct process *process)
{
	kill(-process->pid, SIGKILL);
	kill(process->pid, SIGKILL);
}

/* Kills the process, and waits until it has ended, but at most END_MS: a process that waits for a
 * device ends only after the device's answer. */
void process_end(struct process *process)
{
	struct pollfd ended = {.fd = process->pidfd, .events = POLLIN};
	if (process->pid == 0)
		return;
	process_kill(process);
	close(process->in);
	close(process->out);
	close(process->err);
	while (poll(&ended, 1, END_MS) < 0 && errno == EINTR)
		;
	waitpid(process->pid, NULL, WNOHANG);
	close(process->pidfd);
	*process = (struct process){0};
}
