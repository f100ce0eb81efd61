// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/work.h"
#include "base/clock.h"
#include "base/lock.h"

#include <inttypes.h>

static LIST_HEAD(, work) all = LIST_HEAD_INITIALIZER(all); /* (lock) */
static struct lock lock = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.rank = LOCK_RANK_WORK,
	.name = "work",
};

void work_begin(struct work *work, const char *verb, const char *name)
{
	snprintf(work->what, sizeof(work->what), "%s %s", verb, name);
	work->since_ns = clock_now_ns();
	LOCK_SCOPE(&lock);
	LIST_INSERT_HEAD(&all, work, link);
}

void work_end(struct work *work)
{
	LOCK_SCOPE(&lock);
	LIST_REMOVE(work, link);
}

unsigned work_print(FILE *out)
{
	const struct work *work;
	unsigned n = 0;
	uint64_t now_ns = clock_now_ns();
	LOCK_SCOPE(&lock);
	LIST_FOREACH (work, &all, link) {
		fprintf(out, "%s:", work->what);
		for (unsigned i = 0; i < WORK_COUNTS && work->counts[i].unit; i++)
			fprintf(out, " %" PRIuFAST64 " %s,",
				atomic_load(work->counts[i].n), work->counts[i].unit);
		fprintf(out, " for %" PRIu64 " s\n",
			(now_ns - work->since_ns) / SECOND_NS);
		n++;
	}
	return n;
}
