// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* --- lock -------------------------------------------------------------------------- */

static struct lock outer, inner;

static void setup_locks(void)
{
	lock_init(&outer, LOCK_RANK_SCHED, "outer");
	lock_init(&inner, LOCK_RANK_STATS, "inner");
}

static bool aborts(void (*misuse)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		const struct rlimit no_core = {0};
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		freopen("/dev/null", "w", stderr);
		misuse();
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void in_order(void)
{
	lock_take(&outer);
	lock_take(&inner);
	lock_assert_held(&outer);
	lock_release(&inner);
	lock_release(&outer);
	lock_take(&inner);
	lock_release(&inner);
}

static void out_of_order(void)
{
	lock_take(&inner);
	lock_take(&outer);
}

static void taken_twice(void)
{
	lock_take(&outer);
	lock_take(&outer);
}

static void released_without(void)
{
	lock_release(&outer);
}

static void released_out_of_order(void)
{
	lock_take(&outer);
	lock_take(&inner);
	lock_release(&outer);
}

static void asserted_without(void)
{
	lock_take(&outer);
	lock_assert_held(&inner);
}

static void waited_without(void)
{
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	lock_wait(&outer, &cond);
}

Test(base_lock, misuse_aborts, .init = setup_locks)
{
	cr_assert_not(aborts(in_order));
	cr_assert(aborts(out_of_order));
	cr_assert(aborts(taken_twice));
	cr_assert(aborts(released_without));
	cr_assert(aborts(released_out_of_order));
	cr_assert(aborts(asserted_without));
	cr_assert(aborts(waited_without));
}

static void *take_inner(void *context)
{
	(void)context;
	LOCK_SCOPE(&inner);
	return NULL;
}

Test(base_lock, ranks_are_per_thread, .init = setup_locks)
{
	pthread_t thread;
	lock_take(&outer);
	cr_assert_eq(pthread_create(&thread, NULL, take_inner, NULL), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	lock_release(&outer);
	{
		LOCK_SCOPE(&outer);
		lock_assert_held(&outer);
	}
	lock_take(&outer); /* the scope has released it */
	lock_release(&outer);
}

Test(base_lock, a_wait_ends_at_its_deadline, .init = setup_locks)
{
	pthread_cond_t cond;
	uint64_t deadline_ns = clock_now_ns() + 20000000;
	condition_init(&cond);
	LOCK_SCOPE(&outer);
	cr_assert_eq(lock_wait_until(&outer, &cond, deadline_ns), ETIMEDOUT);
	cr_assert_geq(clock_now_ns(), deadline_ns);
	lock_assert_held(&outer);
}

Test(base_clock, poll_waits_until_a_time)
{
	uint64_t now_ns = clock_now_ns();
	cr_assert_eq(clock_ms_until(now_ns), 0);
	cr_assert_eq(clock_ms_until(now_ns + 3600 * SECOND_NS), 60000);
	cr_assert_eq(clock_ms_until(UINT64_MAX), -1);
	/* the rest of a millisecond is a whole one */
	int ms = clock_ms_until(clock_now_ns() + 10 * NS_PER_MS);
	cr_assert(ms >= 1 && ms <= 10, "%d ms", ms);
	while ((ms = clock_ms_until(now_ns + 30 * NS_PER_MS)) > 0)
		;
	cr_assert_geq(clock_now_ns(), now_ns + 30 * NS_PER_MS);
}

/* --- rng --------------------------------------------------------------------------- */

/* The vectors published with the two generators. */
Test(base_rng, gives_the_published_numbers)
{
	static const uint64_t seeded[] = {UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431)};
	static const uint64_t numbers[] = {11520, 0, 1509978240,
		UINT64_C(1215971899390074240), UINT64_C(1216172134540287360),
		UINT64_C(607988272756665600), UINT64_C(16172922978634559625),
		UINT64_C(8476171486693032832), UINT64_C(10595114339597558777),
		UINT64_C(2904607092377533576)};
	struct rng rng;
	rng_seed(&rng, 1234567);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(rng.s[i], seeded[i]);
	rng = (struct rng){{1, 2, 3, 4}};
	for (int i = 0; i < 10; i++)
		cr_assert_eq(rng_next(&rng), numbers[i]);
}

static uint64_t modulo(struct rng *rng, uint64_t bound)
{
	return rng_next(rng) % bound;
}

static bool equally_often(const double counts[3], double n)
{
	double chi2 = 0;
	for (int i = 0; i < 3; i++)
		chi2 += (counts[i] - n / 3) * (counts[i] - n / 3) / (n / 3);
	return chi2 < 13.82; /* 99.9 % with 2 degrees of freedom */
}

/* Tells whether the thirds of [0, 3 * 2^62), and the remainders by 3, are equally frequent. */
static bool looks_uniform(uint64_t (*below)(struct rng *, uint64_t))
{
	const uint64_t third = UINT64_C(1) << 62;
	double thirds[3] = {0}, remainders[3] = {0};
	struct rng rng;
	rng_seed(&rng, 1);
	for (int i = 0; i < 30000; i++) {
		uint64_t x = below(&rng, 3 * third);
		cr_assert_lt(x, 3 * third);
		thirds[x / third]++;
		remainders[x % 3]++;
	}
	return equally_often(thirds, 30000) && equally_often(remainders, 30000);
}

static uint64_t multiply_only(struct rng *rng, uint64_t bound)
{
	__extension__ unsigned __int128 m = rng_next(rng);
	return (uint64_t)(m * bound >> 64);
}

/* With this bound, a remainder makes the first third twice as likely, and a product without
 * rejection makes every third number twice as likely. */
Test(base_rng, below_is_not_biased)
{
	cr_assert(looks_uniform(rng_below));
	cr_assert_not(looks_uniform(modulo));
	cr_assert_not(looks_uniform(multiply_only));
}

Test(base_rng, below_gives_every_small_number_equally_often)
{
	struct rng rng;
	for (uint64_t bound = 1; bound <= 10; bound++) {
		double counts[10] = {0}, chi2 = 0, expected = 20000 / (double)bound;
		rng_seed(&rng, bound);
		for (int i = 0; i < 20000; i++)
			counts[rng_below(&rng, bound)]++;
		for (uint64_t i = 0; i < bound; i++)
			chi2 += (counts[i] - expected) * (counts[i] - expected) /
				expected;
		cr_assert_lt(chi2, 27.88); /* 99.9 % with 9 degrees of freedom */
	}
}

Test(base_rng, mixed_seeds_differ)
{
	cr_assert_eq(rng_mix(1, 2), rng_mix(1, 2));
	cr_assert_neq(rng_mix(1, 2), rng_mix(2, 1));
	cr_assert_neq(rng_mix(1, 2), rng_mix(1, 3));
	cr_assert_neq(rng_mix(0, 0), 0);
}

/* --- fault ------------------------------------------------------------------------- */

Test(base_fault, counts_down)
{
	static const int expected[] = {0, 0, 0, -EIO, -EIO, 0, 0};
	cr_assert_eq(fault_hit("load.read"), 0);
	cr_assert_eq(fault_add("load.read:EIO:after=3:times=2"), 0);
	for (int i = 0; i < 7; i++) {
		cr_assert_eq(fault_hit("load.read"), expected[i]);
		cr_assert_eq(fault_hit("load.rea"), 0);
	}
	cr_assert_eq(fault_add("cache.reserve:ENOMEM"), 0);
	for (int i = 0; i < 5; i++)
		cr_assert_eq(
			fault_hit("cache.reserve"), -ENOMEM, "without times: always");
	fault_clear();
	cr_assert_eq(fault_hit("cache.reserve"), 0);
}

Test(base_fault, refuses_what_it_does_not_understand)
{
	static const char *const wrong[] = {"", ":", "load.read", "load.read:", ":EIO",
		"load.read:EWRONG", "load.read:EIO:after",
		"load.read:EIO:after=", "load.read:EIO:after=-1",
		"load.read:EIO:after=1x", "load.read:EIO:later=1", "load.read:EIO:"};
	freopen("/dev/null", "w", stderr);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert_eq(fault_add(wrong[i]), -EINVAL, "%s", wrong[i]);
	cr_assert_eq(fault_hit("load.read"), 0);
}

Test(base_fault, kills_the_process)
{
	cr_assert_eq(fault_add("load.read:CRASH:after=1"), 0);
	pid_t child = fork();
	if (child == 0) {
		(void)fault_hit("load.read");
		(void)fault_hit("load.read");
		_exit(0);
	}
	int status;
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* --- log --------------------------------------------------------------------------- */

/* Returns the content of the file from its start. */
static const char *content(int fd)
{
	static char text[65536];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	cr_assert_geq(n, 0);
	text[n] = '\0';
	return text;
}

Test(base_log, writes_to_standard_error_and_then_to_the_file)
{
	char path[] = "/tmp/test_base_log.XXXXXX", err[] = "/tmp/test_base_err.XXXXXX";
	static const char expected[] =
		"joaderfs: error: a 1\njoaderfs: warning: b\njoaderfs: c\n";
	int fd = mkstemp(path), fd_err = mkstemp(err);
	cr_assert(fd >= 0 && fd_err >= 0);
	fflush(stderr);
	dup2(fd_err, STDERR_FILENO);
	log_error("a %d", 1);
	log_warn("b");
	log_info("c");
	cr_assert_str_eq(content(fd_err), expected);
	cr_assert_eq(log_to_file(path), 0);
	log_warn("d");
	struct tm utc;
	char rest[64];
	const char *end = strptime(content(fd), "%Y-%m-%dT%H:%M:%SZ ", &utc);
	cr_assert_not_null(end);
	strncpy(rest, end, sizeof(rest) - 1);
	cr_assert_str_eq(rest, "warning: d\n");
	cr_assert_str_eq(content(fd_err), expected);
	unlink(path);
	unlink(err);
}

Test(base_log, names_of_files_make_no_lines_of_their_own)
{
	char path[] = "/tmp/test_base_log.XXXXXX";
	int fd = mkstemp(path);
	cr_assert_eq(log_to_file(path), 0);
	log_warn("%s: truncated", "a\njoaderfs: error: all is lost\033[2J\t\\n\303\266");
	const char *expected = "warning: a\\njoaderfs: error: all is "
			       "lost\\x1b[2J\\t\\n\303\266: truncated\n";
	const char *text = strstr(content(fd), " ");
	cr_assert_not_null(text);
	cr_assert_str_eq(text + 1, expected);
	cr_assert_eq(log_to_file("/dev/null"), 0);
	unlink(path);
}

Test(base_log, cuts_what_is_too_long_and_still_ends_the_line)
{
	char path[] = "/tmp/test_base_log.XXXXXX", longest[8192];
	int fd = mkstemp(path);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	cr_assert_eq(log_to_file(path), 0);
	log_info("%s", longest);
	const char *text = content(fd);
	cr_assert_gt(strlen(text), 4000);
	cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1);
	cr_assert_eq(log_to_file("/no/such/directory"), -ENOENT);
	unlink(path);
}
