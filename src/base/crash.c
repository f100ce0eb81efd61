// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/crash.h"
#include "base/kept.h"
#include "base/lock.h"
#include "base/log.h"

#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define FRAMES 64

/* Signal handlers of this thread use this stack. It takes hardly any memory until a handler
 * runs. */
static _Thread_local char signal_stack[65536];
static _Thread_local bool telling;
static atomic_bool told; /* the thread that reports the crash sets this */

/* main sets both variables before jobs begin, and clears them when the scheduler has stopped. */
static void (*dump_state)(void *context, FILE *out);
static void *dump_context;

/* Signal handlers call the functions from here to on_signal, so these must not wait for a lock. */

static void put(int fd, const char *text)
{
	(void)!write(fd, text, strlen(text)); /* a failure can't be reported anywhere */
}

static void put_number(int fd, unsigned long number)
{
	char digits[24];
	size_t i = sizeof(digits) - 1;
	digits[i] = '\0';
	do
		digits[--i] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	put(fd, digits + i);
}

static void put_backtrace(int fd)
{
	void *frames[FRAMES];
	put(fd, "backtrace of thread ");
	put_number(fd, (unsigned long)gettid());
	put(fd, ":\n");
	backtrace_symbols_fd(frames, backtrace(frames, FRAMES), fd);
	put(fd, "locks held:");
	lock_each_held(put, fd);
	put(fd, "\n");
}

static const int signals[] = {
	SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXFSZ};
static struct sigaction earlier[sizeof(signals) / sizeof(signals[0])];

/* Calls the earlier handler, such as a sanitizer's. Then lets the signal end the process. */
static void go_on(int number, siginfo_t *info, void *context)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signals[i] == number && earlier[i].sa_flags & SA_SIGINFO)
			earlier[i].sa_sigaction(number, info, context);
	signal(number, SIG_DFL);
	raise(number); /* takes effect when this handler returns */
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int fd = log_descriptor();
	kept_note_crashed();
	if (!telling) {
		/* One thread reports. Other threads wait here until the process ends. */
		while (atomic_exchange(&told, true))
			pause();
		put(fd, "crash: signal ");
		put_number(fd, (unsigned long)number);
		put(fd, " in process ");
		put_number(fd, (unsigned long)getpid());
		put(fd, "\n");
		put_backtrace(fd);
	}
	go_on(number, info, context);
}

static void put_state(int fd)
{
	int copy = dup(fd);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out)
		return;
	/* Line buffering: a line is written even if the dump crashes later. */
	setvbuf(out, NULL, _IOLBF, BUFSIZ);
	dump_state(dump_context, out);
	fclose(out);
}

void crash_tell_bug(void)
{
	int fd = log_descriptor();
	if (telling) {
		put(fd, "the state ends here: its dump failed\n");
		return;
	}
	while (atomic_exchange(&told, true))
		pause();
	telling = true;
	put_backtrace(fd);
	if (dump_state)
		put_state(fd);
}

void crash_dump_by(void (*dump)(void *context, FILE *out), void *context)
{
	dump_context = context;
	dump_state = dump;
}

void crash_prepare_thread(void)
{
	stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
	stack_t before;
	if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE))
		sigaltstack(&stack, NULL);
}

/* Tells whether crash_install may set its handler: the signal has the default action, or a
 * sanitizer's handler, which go_on calls. */
static bool is_free(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ? action->sa_sigaction != on_signal
					     : action->sa_handler == SIG_DFL;
}

void crash_install(void)
{
	struct sigaction action = {
		.sa_sigaction = on_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO};
	void *frame;
	/* The first backtrace loads a library, which a signal handler must not do. */
	(void)backtrace(&frame, 1);
	crash_prepare_thread();
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &earlier[i]) == 0 && is_free(&earlier[i]))
			sigaction(signals[i], &action, NULL);
}
