// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "fuse/process_kind.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A command line of /proc is given as text with '|' between its arguments. */
static bool is_helper(const char *text)
{
	char line[1024];
	size_t n = strlen(text) + 1;
	cr_assert_leq(n, sizeof(line));
	memcpy(line, text, n);
	for (char *at = line; (at = strchr(at, '|'));)
		*at++ = '\0';
	return process_is_helper(line, n);
}

static const char *const helpers[] = {
	"-c|from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=6, "
	"pipe_handle=8)|--multiprocessing-fork",
	"-c|from multiprocessing.forkserver import main; main(3, 5, ['__main__'], **{})",
	"-c|from multiprocessing.resource_tracker import main;main(5)",
	"-c|from multiprocess.spawn import spawn_main; "
	"spawn_main(pipe_handle=8)|--multiprocessing-fork",
	"-m|joblib.externals.loky.backend.popen_loky_posix|--process-name|Loky-1|--pipe|"
	"9",
	"-m|loky.backend.popen_loky_posix|--process-name|LokyProcess-1|--pipe|9",
	"-c|from joblib.externals.loky.backend.resource_tracker import main; main(5, 1)",
};
static const char *const options[] = {"", "-E|", "-B|-s|", "-X|dev|", "-Wignore|",
	"-X|faulthandler|-OO|", "-W|error|-I|"};
/* Scripts that are about helpers, and are none. */
static const char *const scripts[] = {"main.py|", "-u|main.py|",
	"-c|import multiprocessing|",
	"-c|import torch; from multiprocessing.spawn import spawn_main; train()|",
	"-c|from multiprocessing import Process; train()|", "-m|multiprocessing.train|",
	"-m|joblib.externals.loky|", "-m|torch.distributed.run|", "-X|dev|main.py|",
	"--|main.py|", "/srv/multiprocessing/train.py|", "-c||", "-|"};
static const char *const words[] = {"--multiprocessing-distributed",
	"--multiprocessing-fork", "--multiprocessing-forks", "multiprocessing/spawn.py",
	"-c", "-m",
	"from multiprocessing.spawn import spawn_main; spawn_main(pipe_handle=8)",
	"joblib.externals.loky.backend.popen_loky_posix", "multiprocessing", "a", ""};

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const char *one_of(struct rng *rng, const char *const *texts, size_t n)
{
	return texts[rng_below(rng, (uint32_t)n)];
}

Test(process_kind, helpers_are_what_the_packages_start)
{
	char line[1024];
	for (size_t i = 0; i < N(helpers); i++)
		for (size_t k = 0; k < N(options); k++) {
			snprintf(line, sizeof(line), "/usr/bin/python3|%s%s", options[k],
				helpers[i]);
			cr_assert(is_helper(line), "%s", line);
		}
	cr_assert(is_helper("/opt/frozen|--multiprocessing-fork|pipe_handle=8"));
}

Test(process_kind, scripts_with_the_same_words_are_none)
{
	struct rng rng;
	char line[1024];
	rng_seed(&rng, 29);
	for (int i = 0; i < 20000; i++) {
		int n = snprintf(line, sizeof(line), "python3|%s%s",
			one_of(&rng, options, N(options)),
			one_of(&rng, scripts, N(scripts)));
		for (uint32_t k = rng_below(&rng, 4); k > 0; k--)
			n += snprintf(line + n, sizeof(line) - (size_t)n, "%s|",
				one_of(&rng, words, N(words)));
		cr_assert(!is_helper(line), "%s", line);
	}
}

Test(process_kind, a_command_line_may_be_cut_off_anywhere)
{
	static const char whole[] =
		"python3\0-X\0dev\0-c\0from multiprocessing.spawn import "
		"spawn_main; spawn_main()\0--multiprocessing-fork";
	size_t code = sizeof(whole) - sizeof("--multiprocessing-fork");
	for (size_t n = 0; n <= sizeof(whole); n++) {
		char *part = malloc(n + !n); /* the sanitizer finds a read behind it */
		cr_assert_not_null(part);
		size_t copied = n < sizeof(whole) ? n : sizeof(whole);
		memcpy(part, whole, copied);
		cr_assert_eq(process_is_helper(part, copied), copied >= code, "%zu", n);
		free(part);
	}
}
