// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "base/ensure.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_FAULTS 16
/* Values of `error` that are no numbers of errno (fault.h): */
#define BUG (-1)
#define CRASH (-2)

struct fault {
	char place[64];
	/* errno, BUG or CRASH; 0: the place waits for `until`, then succeeds */
	int error;
	long after;
	long times;
	/* the place waits until this file exists; empty: does not wait */
	char until[256];
};

static const struct {
	const char *name;
	int value;
} errors[] = {
	{"EIO", EIO},
	{"ENOMEM", ENOMEM},
	{"ENOSPC", ENOSPC},
	{"EACCES", EACCES},
	{"ENOENT", ENOENT},
	{"EINTR", EINTR},
	{"EPERM", EPERM},
	{"NONE", 0},
	{"BUG", BUG},
	{"CRASH", CRASH},
	{"EMFILE", EMFILE},
	{"ENFILE", ENFILE},
	{"ESTALE", ESTALE},
	{"EAGAIN", EAGAIN},
};

static struct fault faults[MAX_FAULTS]; /* (fault_lock) */
static atomic_int n_faults;
static struct lock fault_lock = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.rank = LOCK_RANK_FAULT,
	.name = "fault",
};

static bool parse_error(const char *name, int *ret)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		*ret = errors[i].value;
		if (strcmp(errors[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool parse_count(const char *word, const char *key, long *ret)
{
	size_t n = strlen(key);
	if (strncmp(word, key, n) != 0 || word[n] != '=')
		return false;
	char *end;
	*ret = strtol(word + n + 1, &end, 10);
	return *end == '\0' && end != word + n + 1 && *ret >= 0;
}

static bool parse_file(const char *word, char ret[], size_t size)
{
	static const char key[] = "until=";
	size_t n = strlen(key);
	if (strncmp(word, key, n) != 0 || word[n] == '\0' || strlen(word + n) >= size)
		return false;
	memcpy(ret, word + n, strlen(word + n) + 1);
	return true;
}

static bool parse(char *text, struct fault *ret)
{
	char *rest = text;
	const char *place = strsep(&rest, ":");
	const char *error = strsep(&rest, ":");
	*ret = (struct fault){.times = LONG_MAX};
	if (!error || !parse_error(error, &ret->error) || strlen(place) == 0 ||
		strlen(place) >= sizeof(ret->place))
		return false;
	memcpy(ret->place, place, strlen(place) + 1);
	for (const char *word; (word = strsep(&rest, ":"));)
		if (!parse_count(word, "after", &ret->after) &&
			!parse_count(word, "times", &ret->times) &&
			!parse_file(word, ret->until, sizeof(ret->until)))
			return false;
	return ret->error != 0 || ret->until[0];
}

int fault_add(const char *specification)
{
	auto_free char *text = strdup(specification);
	struct fault fault;
	if (!text)
		return -ENOMEM;
	int n = atomic_load(&n_faults);
	if (n == MAX_FAULTS || !parse(text, &fault)) {
		log_error(
			"--fault %s: expected PLACE:ERROR[:after=N][:times=N]"
			"[:until=FILE], ERROR one of EIO ENOMEM ENOSPC EACCES ENOENT "
			"EINTR EPERM EMFILE ENFILE ESTALE EAGAIN BUG CRASH, or NONE with "
			"until, at most %d of them",
			specification, MAX_FAULTS);
		return -EINVAL;
	}
	LOCK_SCOPE(&fault_lock);
	faults[n] = fault;
	atomic_store(&n_faults, n + 1);
	return 0;
}

static bool take_hit(const char *place, struct fault *ret)
{
	LOCK_SCOPE(&fault_lock);
	for (int i = 0; i < n_faults; i++) {
		struct fault *fault = &faults[i];
		if (strcmp(fault->place, place) != 0)
			continue;
		if (fault->after > 0) {
			fault->after--;
		} else if (fault->times > 0 && fault->times--) {
			*ret = *fault;
			return true;
		}
	}
	return false;
}

bool fault_is_any(void)
{
	return atomic_load_explicit(&n_faults, memory_order_relaxed) > 0;
}

int fault_hit(const char *place)
{
	struct fault fault;
	if (!fault_is_any() || !take_hit(place, &fault))
		return 0;
	while (fault.until[0] && access(fault.until, F_OK) != 0)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	ensure(fault.error != BUG);
	if (fault.error == CRASH)
		(void)kill(getpid(), SIGKILL);
	return -fault.error;
}

void fault_clear(void)
{
	LOCK_SCOPE(&fault_lock);
	atomic_store(&n_faults, 0);
}
