// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "fuse/process_kind.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes a command line as /proc has it; '|' in the text separates arguments. */
static size_t line_of(const char *text, char ret[static 1024])
{
	size_t n = strlen(text) + 1;
	cr_assert_leq(n, 1024);
	memcpy(ret, text, n);
	for (char *at = ret; (at = strchr(at, '|'));)
		*at++ = '\0';
	return n;
}

static enum process_helper helper_of(const char *text)
{
	char line[1024];
	size_t n = line_of(text, line);
	return process_helper(line, n);
}

static bool is_helper(const char *text)
{
	return helper_of(text) != HELPER_NONE;
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
/* Scripts whose command lines contain the names of helpers. */
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

Test(process_kind, servers_and_trackers_do_no_work)
{
	static const enum process_helper kinds[N(helpers)] = {HELPER_WORKS, HELPER_FORKS,
		HELPER_TRACKS, HELPER_WORKS, HELPER_WORKS, HELPER_WORKS, HELPER_TRACKS};
	char line[1024];
	for (size_t i = 0; i < N(helpers); i++) {
		snprintf(line, sizeof(line), "python3|%s", helpers[i]);
		cr_assert_eq(helper_of(line), kinds[i], "%s", line);
	}
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
		/* exact, so that the sanitizer sees reads behind it */
		char *part = malloc(n + !n);
		cr_assert_not_null(part);
		size_t copied = n < sizeof(whole) ? n : sizeof(whole);
		memcpy(part, whole, copied);
		cr_assert_eq(process_helper(part, copied) != HELPER_NONE, copied >= code,
			"%zu", n);
		free(part);
	}
}

/* The copies have exact sizes, so that the sanitizer finds a read behind them. */
static bool differ(
	const char *a, size_t n_a, const char *b, size_t n_b, struct process_ranks *ret)
{
	char *copy_a = malloc(n_a + !n_a), *copy_b = malloc(n_b + !n_b);
	cr_assert(copy_a && copy_b);
	memcpy(copy_a, a, n_a);
	memcpy(copy_b, b, n_b);
	bool found = process_differ_in_rank(copy_a, n_a, copy_b, n_b, ret);
	if (found)
		cr_assert(process_names_rank(copy_a, n_a) &&
			  process_names_rank(copy_b, n_b));
	free(copy_a);
	free(copy_b);
	return found;
}

static bool texts_differ(const char *a, const char *b, struct process_ranks *ret)
{
	char line_a[1024], line_b[1024];
	size_t n_a = line_of(a, line_a), n_b = line_of(b, line_b);
	return differ(line_a, n_a, line_b, n_b, ret);
}

Test(process_kind, command_lines_of_ranks_differ_in_numbers_that_are_named_so)
{
	static const struct {
		const char *a, *b;
		long rank_a, rank_b;
	} rows[] = {
		{"python3|main.py|--world-size|2|--rank|0",
			"python3|main.py|--world-size|2|--rank|1", 0, 1},
		{"python3|main.py|--rank=9|-v", "python3|main.py|--rank=10|-v", 9, 10},
		{"python3|main.py|-rank|10", "python3|main.py|-rank|11", 10, 11},
		{"main|--local_rank|3", "main|--local_rank|0", 3, 0},
		{"main|--node-rank=1", "main|--node-rank=0", 1, 0},
		{"main|trainer.rank=1|lr=.1", "main|trainer.rank=2|lr=.1", 1, 2},
		{"main|+dist.local_rank=1", "main|+dist.local_rank=2", 1, 2},
		{"main|--gpu|0|--rank|4", "main|--gpu|1|--rank|5", 4, 5},
		{"main|--rank|4|--device|cuda:0", "main|--rank|5|--device|cuda:1", 4, 5},
		{"main|--node_rank|0|--local_rank|1", "main|--node_rank|1|--local_rank|0",
			0, 1},
		{"bash|-c|python3 main.py --rank 0 --ranks 2; date",
			"bash|-c|python3 main.py --rank 1 --ranks 2; date", 0, 1},
		{"main|--process_id|0", "main|--process_id|1", 0, 1},
		{"main|--rank|0|--log|rank0.log", "main|--rank|1|--log|rank1.log", 0, 1},
	};
	for (size_t i = 0; i < N(rows); i++) {
		struct process_ranks ranks = {-1, -1};
		cr_assert(texts_differ(rows[i].a, rows[i].b, &ranks), "%s", rows[i].a);
		cr_assert_eq(ranks.a, rows[i].rank_a, "%s", rows[i].a);
		cr_assert_eq(ranks.b, rows[i].rank_b, "%s", rows[i].a);
	}
}

Test(process_kind, runs_of_other_parameters_are_no_ranks)
{
	static const char *const rows[][2] = {
		{"main|--rank|0", "main|--rank|0"},
		{"main|--seed|1", "main|--seed|2"},
		{"main|--lr|0.1", "main|--lr|0.2"},
		{"main|--gpu|0", "main|--gpu|1"},
		{"main|--lora-rank|8", "main|--lora-rank|16"},
		{"main|--lora_rank=8", "main|--lora_rank=16"},
		{"main|--low.rank_of|8", "main|--low.rank_of|16"},
		{"main|--rank|0|--seed|1", "main|--rank|1|--seed|2"},
		{"main|--rank|0|--lr|.1", "main|--rank|1|--lr|.2"},
		{"main|--rank|first", "main|--rank|second"},
		{"main|--rank|0", "main|--rank|0|-v"},
		{"main|--rank|0|-v", "main|--rank|1"},
		{"main|--rank|0", "main|--rank=1"},
		{"main|--rank|", "main|--rank|1"},
		{"main|--rank|-1", "main|--rank|1"},
		{"main|--rank|0 1", "main|--rank|0|1"},
		{"main|--rank|0123456789", "main|--rank|1"},
		{"main|1", "main|2"},
		{"1", "2"},
		{"", ""},
	};
	struct process_ranks ranks;
	for (size_t i = 0; i < N(rows); i++) {
		cr_assert(
			!texts_differ(rows[i][0], rows[i][1], &ranks), "%s", rows[i][0]);
		cr_assert(
			!texts_differ(rows[i][1], rows[i][0], &ranks), "%s", rows[i][1]);
	}
}

Test(process_kind, random_command_lines_differ_in_a_rank_only_if_they_are_made_so)
{
	static const char *const names[] = {"--rank", "--local_rank", "--gpu", "--seed",
		"--lora-rank", "--epochs", "rank", "-x"};
	static const bool is_rank[] = {
		true, true, false, false, false, false, true, false};
	static const bool is_device[] = {
		false, false, true, false, false, false, false, false};
	struct rng rng;
	rng_seed(&rng, 5);
	int found = 0;
	for (int i = 0; i < 20000; i++) {
		char a[1024] = "main", b[1024] = "main";
		bool ranks_differ = false, others_differ = false;
		for (uint64_t k = 1 + rng_below(&rng, 4); k > 0; k--) {
			size_t name = rng_below(&rng, N(names));
			unsigned of_a = (unsigned)rng_below(&rng, 12), of_b = of_a;
			if (rng_below(&rng, 2))
				of_b = (unsigned)rng_below(&rng, 12);
			const char *equals = rng_below(&rng, 2) ? "=" : "|";
			size_t n_a = strlen(a), n_b = strlen(b);
			snprintf(a + n_a, sizeof(a) - n_a, "|%s%s%u", names[name], equals,
				of_a);
			snprintf(b + n_b, sizeof(b) - n_b, "|%s%s%u", names[name], equals,
				of_b);
			ranks_differ |= is_rank[name] && of_a != of_b;
			others_differ |=
				!is_rank[name] && !is_device[name] && of_a != of_b;
		}
		struct process_ranks ranks;
		bool expected = ranks_differ && !others_differ;
		cr_assert_eq(texts_differ(a, b, &ranks), expected, "%s, %s", a, b);
		found += expected;
	}
	cr_assert_gt(found, 2000);
}

Test(process_kind, command_lines_of_any_bytes_are_compared)
{
	static const char bytes[] = {
		'\0', ' ', '=', '-', '0', '1', 'r', 'a', 'n', 'k', '.'};
	struct rng rng;
	struct process_ranks ranks;
	rng_seed(&rng, 6);
	for (int i = 0; i < 50000; i++) {
		char a[32], b[32];
		size_t n_a = rng_below(&rng, sizeof(a)), n_b = n_a;
		for (size_t k = 0; k < sizeof(a); k++)
			a[k] = b[k] = bytes[rng_below(&rng, sizeof(bytes))];
		for (uint64_t k = rng_below(&rng, 3); k > 0; k--)
			b[rng_below(&rng, sizeof(b))] =
				bytes[rng_below(&rng, sizeof(bytes))];
		if (rng_below(&rng, 2))
			n_b = rng_below(&rng, sizeof(b));
		cr_assert_eq(
			differ(a, n_a, b, n_b, &ranks), differ(b, n_b, a, n_a, &ranks));
	}
}

static struct process_launch launched(const char *text)
{
	char line[1024];
	struct process_launch launch;
	size_t n = line_of(text, line);
	cr_assert_eq(process_launched(line, n, &launch), launch.rank != 0);
	return launch;
}

Test(process_kind, environments_of_ranks_have_one_training_and_different_ranks)
{
	struct process_launch a = launched("HOME=/|RANK=0|WORLD_SIZE=2|MASTER_PORT=1");
	struct process_launch b = launched("MASTER_PORT=1|WORLD_SIZE=2|RANK=1|HOME=/x");
	struct process_launch again = launched("WORLD_SIZE=2|RANK=1|MASTER_PORT=1");
	struct process_launch other = launched("WORLD_SIZE=2|RANK=1|MASTER_PORT=2");
	struct process_launch size = launched("WORLD_SIZE=4|RANK=1|MASTER_PORT=1");
	cr_assert(a.rank && b.rank && a.rank != b.rank && a.training == b.training);
	cr_assert(again.rank == b.rank && again.training == b.training);
	cr_assert(other.training != b.training && size.training != b.training);
	cr_assert_neq(launched("OMPI_COMM_WORLD_RANK=0").rank, 0);
	cr_assert_neq(launched("SLURM_PROCID=3|SLURM_STEP_NUM_TASKS=4").rank, 0);
	cr_assert_eq(launched("WORLD_SIZE=2|MASTER_PORT=1").rank, 0);
	cr_assert_eq(launched("LORA_RANK=2|RANKS=4|xRANK=1").rank, 0);
	cr_assert_eq(launched("RANK").rank, 0);
	cr_assert_eq(launched("").rank, 0);
}
