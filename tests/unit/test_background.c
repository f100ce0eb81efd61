// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/background.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Runs in the background process after background_begin; the process ends with it. */
typedef void body(int report, int wait);

struct start {
	pid_t parent;	 /* the process that was started */
	int report, say; /* from the background process, to it */
};

static bool without_stdio;

static struct start start(body *run)
{
	int report[2], say[2];
	cr_assert_eq(pipe2(report, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(say, O_CLOEXEC), 0);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		close(report[0]);
		close(say[1]);
		for (int fd = 0; without_stdio && fd <= STDERR_FILENO; fd++)
			close(fd);
		if (background_begin() < 0)
			_exit(99);
		run(report[1], say[0]);
		_exit(0);
	}
	close(report[1]);
	close(say[0]);
	return (struct start){pid, report[0], say[1]};
}

static int exit_status(const struct start *started)
{
	int status;
	cr_assert_eq(waitpid(started->parent, &status, 0), started->parent);
	cr_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool ended(const struct start *started)
{
	return waitpid(started->parent, NULL, WNOHANG) != 0;
}

static char hear(const struct start *started)
{
	char byte = '-';
	cr_assert_eq(read(started->report, &byte, 1), 1);
	return byte;
}

static void tell(int fd, char byte)
{
	if (write(fd, &byte, 1) != 1)
		_exit(98);
}

static void wait_for_word(int fd)
{
	char byte;
	if (read(fd, &byte, 1) != 1)
		_exit(97);
}

static bool is_null(int fd)
{
	char link[64], target[64] = "";
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, target, sizeof(target) - 1) > 0 &&
	       strcmp(target, "/dev/null") == 0;
}

static void ready_when_told(int report, int wait)
{
	tell(report, 'b');
	wait_for_word(wait);
	background_ready();
	char directory[64] = "";
	bool cut_off = getsid(0) == getpid() && is_null(0) && is_null(1) && is_null(2) &&
		       getcwd(directory, sizeof(directory)) &&
		       strcmp(directory, "/") == 0;
	wait_for_word(wait);
	tell(report, cut_off ? 'y' : 'n');
}

Test(background, the_parent_exits_with_0_when_ready_and_not_before)
{
	struct start started = start(ready_when_told);
	cr_assert_eq(hear(&started), 'b');
	cr_assert_not(ended(&started));
	tell(started.say, '1');
	cr_assert_eq(exit_status(&started), 0);
	/* the daemon lives on without the terminal */
	tell(started.say, '2');
	cr_assert_eq(hear(&started), 'y');
}

static void exit_with_3(int report, int wait)
{
	(void)report, (void)wait;
	_exit(3);
}

static void exit_with_0(int report, int wait)
{
	(void)report, (void)wait;
	_exit(0);
}

static void kill_itself(int report, int wait)
{
	(void)report, (void)wait;
	kill(getpid(), SIGKILL);
}

Test(background, a_start_that_fails_makes_the_parent_fail)
{
	struct start started = start(exit_with_3);
	cr_assert_eq(exit_status(&started), 3);
	started = start(exit_with_0);
	cr_assert_eq(exit_status(&started), 1);
	started = start(kill_itself);
	cr_assert_eq(exit_status(&started), 1);
}

static void wait_for_signal(int report, int wait)
{
	(void)wait;
	sigset_t set;
	int got;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	tell(report, 'b');
	sigwait(&set, &got);
	tell(report, got == SIGTERM ? 'y' : 'n');
}

Test(background, a_start_that_is_killed_ends_the_child_too)
{
	struct start started = start(wait_for_signal);
	cr_assert_eq(hear(&started), 'b');
	cr_assert_eq(kill(started.parent, SIGKILL), 0);
	cr_assert_eq(hear(&started), 'y');
	waitpid(started.parent, NULL, 0);
}

/* The caller may start the daemon with closed standard descriptors. */
static void ready(int report, int wait)
{
	wait_for_word(wait);
	background_ready();
	tell(report, is_null(0) && is_null(1) && is_null(2) ? 'y' : 'n');
}

Test(background, closed_standard_descriptors_do_no_harm)
{
	without_stdio = true;
	struct start started = start(ready);
	tell(started.say, '1');
	cr_assert_eq(exit_status(&started), 0);
	cr_assert_eq(hear(&started), 'y');
}

Test(background, in_the_foreground_ready_changes_nothing)
{
	char before[256], after[256];
	pid_t session = getsid(0);
	cr_assert(getcwd(before, sizeof(before)));
	background_ready();
	cr_assert(getcwd(after, sizeof(after)));
	cr_assert_str_eq(before, after);
	cr_assert_eq(getsid(0), session);
	cr_assert_not(is_null(STDERR_FILENO) && is_null(STDOUT_FILENO));
}
