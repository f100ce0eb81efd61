// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "coord/coord.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The part of a node's journal about feeds, for tests of the coordinator: the sample that each
 * position of a rank holds. Jobs are called job0, job1 ...
 */

#define JOURNAL_JOBS 2
#define JOURNAL_EPOCHS 10
#define JOURNAL_RANKS 4
#define JOURNAL_POSITIONS 128

struct coord_journal {
	sample_id ids[JOURNAL_JOBS][JOURNAL_EPOCHS][JOURNAL_RANKS][JOURNAL_POSITIONS];
	uint32_t known[JOURNAL_JOBS]; /* by job: the last epoch + 1 */
};

static inline unsigned journal_job(const char *name)
{
	return (unsigned)strtoul(name + 3, NULL, 10);
}

static inline const char *journal_name(unsigned job)
{
	static const char *const names[] = {"job0", "job1"};
	return names[job];
}

static inline void journal_clear(struct coord_journal *journal)
{
	memset(journal, 0xff, sizeof(*journal));
	memset(journal->known, 0, sizeof(journal->known));
}

static inline void journal_write(struct coord_journal *journal, unsigned job,
	uint32_t rank, uint32_t epoch, uint32_t base, const sample_id *ids, uint32_t n)
{
	ensure(epoch < JOURNAL_EPOCHS && rank < JOURNAL_RANKS &&
		base + n <= JOURNAL_POSITIONS);
	memcpy(&journal->ids[job][epoch][rank][base], ids, n * sizeof(*ids));
	if (journal->known[job] <= epoch)
		journal->known[job] = epoch + 1;
}

static inline void journal_forget(struct coord_journal *journal, unsigned job,
	uint32_t rank, uint32_t epoch, uint32_t base, uint32_t n)
{
	memset(&journal->ids[job][epoch][rank][base], 0xff, n * sizeof(sample_id));
}

static inline uint32_t journal_tail(const struct coord_journal *journal,
	struct coord_tail *tail, sample_id *ids, uint32_t most)
{
	if (tail->epoch >= JOURNAL_EPOCHS || tail->rank >= JOURNAL_RANKS)
		return 0;
	const sample_id *all =
		journal->ids[journal_job(tail->job)][tail->epoch][tail->rank];
	uint32_t n = 0;
	while (tail->base < JOURNAL_POSITIONS && all[tail->base] == SAMPLE_NONE)
		tail->base++;
	while (n < most && tail->base + n < JOURNAL_POSITIONS &&
		all[tail->base + n] != SAMPLE_NONE) {
		ids[n] = all[tail->base + n];
		n++;
	}
	return n;
}
