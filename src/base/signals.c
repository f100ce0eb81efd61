// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/signals.h"
#include "base/ensure.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const int ignored[] = {SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,
	SIGIO, SIGPWR, SIGSTKFLT, SIGXFSZ};

/* Sends SIGTERM to the process. The thread that serves the mount receives the signal. */
static void ask_to_end(int number)
{
	int saved = errno;
	(void)number;
	kill(getpid(), SIGTERM);
	errno = saved;
}

/* Lets the signal end the process, unless the signal was ignored when the process started. There is
 * no SA_RESTART, because a waiting system call must return. */
static void end_by(int number)
{
	struct sigaction action = {.sa_handler = ask_to_end}, old;
	ensure(sigaction(number, NULL, &old) == 0);
	if (old.sa_handler != SIG_IGN)
		ensure(sigaction(number, &action, NULL) == 0);
}

void signals_begin_supervisor(void)
{
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		ensure(signal(ignored[i], SIG_IGN) != SIG_ERR);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		ensure(signal(number, SIG_IGN) != SIG_ERR);
}

static void do_nothing(int number)
{
	(void)number;
}

static void mask_wake(int how)
{
	sigset_t wake;
	sigemptyset(&wake);
	sigaddset(&wake, SIGRTMIN);
	ensure(pthread_sigmask(how, &wake, NULL) == 0);
}

void signals_begin(void)
{
	/* no SA_RESTART, so that the signal of signals_wake interrupts system calls */
	struct sigaction action = {.sa_handler = do_nothing};
	signals_begin_supervisor();
	mask_wake(SIG_BLOCK);
	ensure(sigaction(SIGRTMIN, &action, NULL) == 0);
	end_by(SIGQUIT);
	end_by(SIGXCPU);
}

static void mask_ends(int how)
{
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	ensure(pthread_sigmask(how, &ends, NULL) == 0);
}

void signals_hold(void)
{
	mask_ends(SIG_BLOCK);
}

void signals_release(void)
{
	mask_ends(SIG_UNBLOCK);
}

void signals_wakeable(void)
{
	mask_wake(SIG_UNBLOCK);
}

void signals_wake(pid_t thread)
{
	(void)tgkill(getpid(), thread, SIGRTMIN);
}

int signals_thread(pthread_t *ret, void *(*run)(void *context), void *context)
{
	sigset_t all, old;
	sigfillset(&all);
	ensure(pthread_sigmask(SIG_SETMASK, &all, &old) == 0);
	int err = pthread_create(ret, NULL, run, context);
	ensure(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
	return -err;
}
