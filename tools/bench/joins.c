// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* joins [IDS]: measures how long a job that joins or leaves holds the scheduler's lock, with an
 * exchange sampler that also has other jobs. There are 1.28 million ids, or IDS. Each line has the
 * time of the longest step that needs the lock, and the time of all work that does not need it. */

#include "base/clock.h"
#include "sampler/sampler.h"

#include <stdio.h>
#include <stdlib.h>

#define READERS 4
#define RESIDENTS 20000

static double ms_since(uint64_t begun)
{
	return (double)(clock_now_ns() - begun) / 1e6;
}

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "joins: no memory\n");
	exit(EXIT_FAILURE);
}

static struct sampler *with_readers(uint32_t n, const roaring_bitmap_t *all)
{
	struct sampler *sampler;
	stream_id ids[READERS];
	sample_id given[READERS];
	check(sampler_new(SAMPLER_EXCHANGE, 1, &sampler));
	for (uint32_t i = 0; i < READERS; i++) {
		ids[i] = i;
		check(sampler_join(sampler, i, 0, all));
		check(sampler_insert(sampler, i, i, roaring_bitmap_from_range(0, n, 1)));
	}
	for (int i = 0; i < RESIDENTS; i++)
		sampler_draw(sampler, ids, READERS, given);
	return sampler;
}

static void join(struct sampler *sampler, job_id job, const roaring_bitmap_t *selection)
{
	struct sampler_joining *joining;
	uint64_t begun = clock_now_ns();
	check(sampler_joining_new(sampler, 0, selection, &joining));
	double first = ms_since(begun);
	begun = clock_now_ns();
	check(sampler_joining_prepare(joining));
	double without = ms_since(begun);
	begun = clock_now_ns();
	check(sampler_join_prepared(sampler, job, 0, joining));
	double last = ms_since(begun);
	sampler_joining_free(&joining);
	printf("join   %8.2f ms with the lock at once, %8.1f ms without it\n",
		first > last ? first : last, without);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1281167;
	roaring_bitmap_t *all = roaring_bitmap_from_range(0, n, 1);
	roaring_bitmap_t *third = roaring_bitmap_from_range(0, n, 3);
	struct sampler *sampler = with_readers(n, all);
	printf("%u ids, %d jobs that read, about %d residents\n", n, READERS, RESIDENTS);
	join(sampler, READERS, third);
	join(sampler, READERS + 1, third);
	uint64_t begun = clock_now_ns();
	sampler_leave(sampler, READERS);
	printf("leave  %8.2f ms with the lock\n", ms_since(begun));
	sampler_free(&sampler);
	roaring_bitmap_free(all);
	roaring_bitmap_free(third);
	return 0;
}
