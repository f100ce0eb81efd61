// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/process_kind.h"
#include "base/rng.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct arguments {
	const char *at, *end;
};

/* Returns the next argument, or NULL if there is none, or if its final \0 is missing. */
static const char *next_of(struct arguments *arguments)
{
	const char *found = arguments->at;
	const char *end = memchr(found, '\0', (size_t)(arguments->end - found));
	if (!end)
		return NULL;
	arguments->at = end + 1;
	return found;
}

static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);
	return text && strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

/* Returns the text after the name of a package that starts processes, or NULL. */
static const char *after_package(const char *text)
{
	static const char *const names[] = {"multiprocessing.", "multiprocess.",
		"joblib.externals.loky.backend.", "loky.backend."};
	const char *rest = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !rest; i++)
		rest = after(text, names[i]);
	return rest;
}

static enum process_helper kind_of_code(const char *text)
{
	static const struct {
		const char *code;
		enum process_helper kind;
	} codes[] = {{"spawn import spawn_main;", HELPER_WORKS},
		{"forkserver import main;", HELPER_FORKS},
		{"resource_tracker import main;", HELPER_TRACKS},
		{"semaphore_tracker import main;", HELPER_TRACKS}};
	const char *rest = after_package(after(text, "from "));
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (after(rest, codes[i].code))
			return codes[i].kind;
	return HELPER_NONE;
}

static enum process_helper kind_of_module(const char *text)
{
	const char *rest = after_package(text);
	return rest && strcmp(rest, "popen_loky_posix") == 0 ? HELPER_WORKS : HELPER_NONE;
}

/* Tells whether an argument is a short option. A helper's interpreter gets no long options. "-" is
 * no option: it stands for a script from standard input. */
static bool is_option(const char *text)
{
	return text && text[0] == '-' && text[1] != '\0' && text[1] != '-';
}

enum process_helper process_helper(const char *arguments, size_t n)
{
	struct arguments rest = {.at = arguments, .end = arguments + n};
	const char *program = next_of(&rest), *option = program ? next_of(&rest) : NULL;
	/* A program into which Python is packed starts its helpers in this way. */
	if (option && strcmp(option, "--multiprocessing-fork") == 0)
		return HELPER_WORKS;
	for (; is_option(option); option = next_of(&rest)) {
		if (strcmp(option, "-c") == 0)
			return kind_of_code(next_of(&rest));
		if (strcmp(option, "-m") == 0)
			return kind_of_module(next_of(&rest));
		bool has_value = strcmp(option, "-X") == 0 || strcmp(option, "-W") == 0;
		if (has_value && !next_of(&rest))
			return HELPER_NONE;
	}
	return HELPER_NONE;
}

/* --- ranks by their command lines ----------------------------------------------------- */

/* A part of an argument, delimited by blanks and '='. */
struct word {
	const char *text;
	size_t n;
};

static bool ends_word(char c)
{
	return c == '\0' || c == ' ' || c == '=';
}

static bool next_word(struct arguments *arguments, struct word *ret)
{
	const char *text = arguments->at, *at = text;
	while (at < arguments->end && !ends_word(*at))
		at++;
	if (at == arguments->end)
		return false;
	*ret = (struct word){text, (size_t)(at - text)};
	arguments->at = at + 1;
	return true;
}

static bool is_same(struct word a, struct word b)
{
	return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
}

/* Compares regardless of case. A '-' in the word equals '_' in the name. */
static bool is_called(struct word word, const char *name)
{
	size_t i = 0;
	while (i < word.n &&
		name[i] == (word.text[i] == '-' ? '_'
						: tolower((unsigned char)word.text[i])))
		i++;
	return i == word.n && name[i] == '\0';
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Finds the last name in a word such as "--rank", "trainer.local_rank", "cuda:" or "out/rank-". */
static struct word last_name(struct word word)
{
	while (word.n > 0 && !isalnum((unsigned char)word.text[word.n - 1]))
		word.n--;
	size_t begin = word.n;
	while (begin > 0 && is_name(word.text[begin - 1]))
		begin--;
	while (begin < word.n && word.text[begin] == '-')
		begin++;
	return (struct word){word.text + begin, word.n - begin};
}

static bool is_one_of(struct word word, const char *const *names)
{
	struct word name = last_name(word);
	bool found = false;
	for (; *names && !found; names++)
		found = is_called(name, *names);
	return found;
}

/* Names of arguments whose values are ranks. A name must equal one of these, because other names,
 * such as lora_rank, contain "rank", too. */
static const char *const ranks[] = {"rank", "local_rank", "node_rank", "global_rank",
	"world_rank", "machine_rank", "host_rank", "process_rank", "proc_rank",
	"worker_rank", "dist_rank", "ddp_rank", "mpi_rank", "process_id", "process_index",
	NULL};
/* Names of arguments whose values are numbers of devices. These numbers may differ between ranks,
 * too. */
static const char *const devices[] = {"gpu", "gpus", "gpu_id", "gpu_ids", "device",
	"devices", "device_id", "device_ids", "cuda", "cuda_device", "local_gpu", NULL};

bool process_names_rank(const char *arguments, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (strncasecmp(arguments + i, "rank", 4) == 0 ||
			strncasecmp(arguments + i, "process", n - i < 7 ? n - i : 7) == 0)
			return true;
	return false;
}

#define DIGITS_MOST 6

static size_t n_digits(struct word word, size_t from)
{
	size_t n = 0;
	while (from + n < word.n && isdigit((unsigned char)word.text[from + n]))
		n++;
	return n;
}

static long number_at(struct word word, size_t from)
{
	long number = 0;
	for (size_t n = n_digits(word, from); n > 0; n--)
		number = 10 * number + (word.text[from++] - '0');
	return number;
}

/* Tells whether the words differ in exactly one number, which begins at *ret_begin. */
static bool differ_in_number(struct word a, struct word b, size_t *ret_begin)
{
	size_t begin = 0;
	while (begin < a.n && begin < b.n && a.text[begin] == b.text[begin])
		begin++;
	while (begin > 0 && isdigit((unsigned char)a.text[begin - 1]))
		begin--;
	size_t of_a = n_digits(a, begin), of_b = n_digits(b, begin);
	struct word rest_a = {a.text + begin + of_a, a.n - begin - of_a};
	struct word rest_b = {b.text + begin + of_b, b.n - begin - of_b};
	*ret_begin = begin;
	return of_a > 0 && of_b > 0 && of_a <= DIGITS_MOST && of_b <= DIGITS_MOST &&
	       is_same(rest_a, rest_b);
}

bool process_differ_in_rank(
	const char *a, size_t n_a, const char *b, size_t n_b, struct process_ranks *ret)
{
	struct arguments rest_a = {a, a + n_a}, rest_b = {b, b + n_b};
	struct word of_a, of_b, before = {"", 0};
	bool found = false;
	size_t begin;
	while (next_word(&rest_a, &of_a)) {
		if (!next_word(&rest_b, &of_b) || of_a.text[of_a.n] != of_b.text[of_b.n])
			return false;
		bool same = is_same(of_a, of_b);
		if (!same && !differ_in_number(of_a, of_b, &begin))
			return false;
		struct word name = before;
		if (!same && begin > 0)
			name = (struct word){of_a.text, begin};
		before = same ? of_a : (struct word){"", 0};
		if (same || is_one_of(name, devices))
			continue;
		if (!is_one_of(name, ranks))
			return false;
		if (!found)
			*ret = (struct process_ranks){
				number_at(of_a, begin), number_at(of_b, begin)};
		found = true;
	}
	return found && rest_a.at == rest_a.end && !next_word(&rest_b, &of_b);
}

/* --- ranks by their environments ------------------------------------------------------- */

static const char *const rank_variables[] = {"RANK", "LOCAL_RANK", "NODE_RANK",
	"GLOBAL_RANK", "MACHINE_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
	"MV2_COMM_WORLD_RANK", "SLURM_PROCID", NULL};
static const char *const training_variables[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
	"PMI_SIZE", "SLURM_STEP_NUM_TASKS", "MASTER_ADDR", "MASTER_PORT", NULL};

static bool has_name(const char *text, const char *const *names)
{
	bool found = false;
	for (; *names && !found; names++) {
		const char *rest = after(text, *names);
		found = rest && *rest == '=';
	}
	return found;
}

/* Adds up hashes, because a sum does not depend on the order of the variables. */
bool process_launched(const char *environ, size_t n, struct process_launch *ret)
{
	struct arguments rest = {environ, environ + n};
	const char *text;
	*ret = (struct process_launch){0};
	while (rest.at < rest.end && (text = next_of(&rest))) {
		uint64_t hash = fnv_add(FNV_BASIS, text, strlen(text) + 1);
		if (has_name(text, rank_variables))
			ret->rank += hash;
		else if (has_name(text, training_variables))
			ret->training += hash;
	}
	return ret->rank != 0;
}

/* Environment variables of launchers. `ranks` has the number of all ranks, `here` the number of
 * ranks on this machine. A launcher can start another launcher; the inner one comes first in this
 * list. Slurm's variable `here` has numbers for several machines, such as 2(x3),1 for four
 * machines; only the first number is read. */
static const struct {
	const char *ranks, *here;
} launchers[] = {
	{"WORLD_SIZE", "LOCAL_WORLD_SIZE"},
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{"PMI_SIZE", "MPI_LOCALNRANKS"},
	{"SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"},
};

static long number_in(const char *environ, size_t n, const char *name)
{
	struct arguments rest = {environ, environ + n};
	const char *text;
	while (rest.at < rest.end && (text = next_of(&rest))) {
		const char *value = after(text, name);
		if (value && *value == '=')
			return strtol(value + 1, NULL, 10);
	}
	return 0;
}

bool process_has_ranks_elsewhere(const char *environ, size_t n)
{
	long of = 0, here = 0;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		long all = number_in(environ, n, launchers[i].ranks);
		of = of ? of : all;
		/* A launcher with another number of ranks has not started this script. */
		if (here == 0 && all == of)
			here = number_in(environ, n, launchers[i].here);
	}
	return of > 1 &&
	       ((here > 0 && here < of) || number_in(environ, n, "NODE_RANK") > 0);
}
