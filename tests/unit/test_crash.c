// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/cleanup.h"
#include "base/crash.h"
#include "base/ensure.h"
#include "base/lock.h"
#include "base/log.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct lock lock;
static const int all[] = {
	SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXFSZ};
static struct sigaction sanitizer; /* the handler before crash_install */

/* Returns what the process writes to its log until the signal ends it. */
static const char *log_of(void (*body)(void), int ended_by)
{
	static char text[65536];
	char path[] = "/tmp/joaderfs-crash.XXXXXX";
	int fd = mkstemp(path), status;
	pid_t child = fork();
	if (child == 0) {
		struct rlimit none = {0};
		setrlimit(RLIMIT_CORE, &none);
		/* Criterion and sanitizers have installed handlers. */
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			signal(all[i], SIG_DFL);
		if (sanitizer.sa_sigaction)
			sigaction(SIGFPE, &sanitizer, NULL);
		if (log_to_file(path) != 0)
			_exit(99);
		crash_install();
		lock_init(&lock, LOCK_RANK_SCHED, "a lock");
		body();
		_exit(98);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == ended_by, "%x", status);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	cr_assert_geq(n, 0);
	text[n] = '\0';
	close(fd);
	unlink(path);
	return text;
}

static void contains(const char *text, const char *part)
{
	cr_assert(strstr(text, part), "\"%s\" is not in \"%s\"", part, text);
}

/* --- signals ----------------------------------------------------------------------- */

static volatile size_t depth;

static size_t overflow(volatile char *above) /* NOLINT(misc-no-recursion) */
{
	volatile char frame[4096];
	frame[0] = above[0];
	return ++depth == SIZE_MAX ? 0 : overflow(frame) + (size_t)frame[0];
}

static void *overflow_thread(void *argument)
{
	volatile char first = 0;
	(void)argument;
	LOCK_SCOPE(&lock);
	overflow(&first);
	return NULL;
}

static void overflow_in_a_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, overflow_thread, NULL) == 0)
		pthread_join(thread, NULL);
}

Test(crash, a_stack_that_overflows_is_told_of)
{
	const char *text = log_of(overflow_in_a_thread, SIGSEGV);
	contains(text, "crash: signal 11 in process ");
	contains(text, "backtrace of thread ");
	contains(text, "[0x");
	contains(text, "locks held: a lock\n");
}

static int ends_by;

static void end(void)
{
	raise(ends_by);
}

Test(crash, every_signal_that_ends_the_process_is_told_of)
{
	char line[64];
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		ends_by = all[i];
		const char *text = log_of(end, ends_by);
		snprintf(line, sizeof(line), "crash: signal %d in process ", ends_by);
		contains(text, line);
		contains(text, "backtrace of thread ");
	}
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	log_error("the sanitizer's report");
	signal(number, SIG_DFL);
	raise(number);
}

Test(crash, a_sanitizer_has_its_turn_after_the_backtrace)
{
	sanitizer = (struct sigaction){
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	ends_by = SIGFPE;
	const char *text = log_of(end, SIGFPE);
	const char *report = strstr(text, "the sanitizer's report");
	contains(text, "backtrace of thread ");
	cr_assert(report && report > strstr(text, "backtrace of thread "));
}

/* --- bugs -------------------------------------------------------------------------- */

static void dump(void *context, FILE *out)
{
	fprintf(out, "the state is %s\n", (const char *)context);
}

static void fail_with_a_lock(void)
{
	static char fine[] = "fine";
	crash_dump_by(dump, fine);
	LOCK_SCOPE(&lock);
	ensure(depth > 0);
}

Test(crash, a_bug_leaves_the_locks_and_the_state)
{
	const char *text = log_of(fail_with_a_lock, SIGABRT);
	contains(text, "fail_with_a_lock: depth > 0 does not hold\nbacktrace of thread ");
	contains(text, "locks held: a lock\nthe state is fine\n");
	cr_assert_null(strstr(text, "crash: signal"), "told twice");
}

static void dump_with_a_bug(void *context, FILE *out)
{
	dump(context, out);
	ensure(depth > 1);
}

static void fail_twice(void)
{
	static char damaged[] = "damaged";
	crash_dump_by(dump_with_a_bug, damaged);
	ensure(depth > 0);
}

Test(crash, a_bug_in_the_dump_ends_it)
{
	const char *text = log_of(fail_twice, SIGABRT);
	contains(text, "the state is damaged\n");
	contains(text, "depth > 1 does not hold\nthe state ends here");
}

static void *keep_lock(void *started)
{
	lock_take(&lock);
	*(atomic_bool *)started = true;
	pause();
	return NULL;
}

static void dump_with_the_lock(void *context, FILE *out)
{
	(void)context;
	fputs(lock_seize(&lock) ? "seized\n" : "kept by another\n", out);
}

static void fail_beside_a_thread_that_keeps_the_lock(void)
{
	static atomic_bool started;
	pthread_t thread;
	crash_dump_by(dump_with_the_lock, NULL);
	if (pthread_create(&thread, NULL, keep_lock, &started) != 0)
		_exit(97);
	while (!started)
		sched_yield();
	ensure(depth > 0);
}

static void fail_with_the_lock_of_the_dump(void)
{
	crash_dump_by(dump_with_the_lock, NULL);
	LOCK_SCOPE(&lock);
	ensure(depth > 0);
}

Test(crash, the_dump_waits_for_no_lock_for_long)
{
	contains(log_of(fail_beside_a_thread_that_keeps_the_lock, SIGABRT),
		"kept by another");
	contains(log_of(fail_with_the_lock_of_the_dump, SIGABRT), "seized");
}
