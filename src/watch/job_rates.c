// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "watch/watch.h"

/* Sets to 0 the count of each second that has begun since the last call. watch->rate is a ring of
 * counts, one for each of the last RATE_SECONDS seconds. */
static void advance_rate_locked(struct watch *watch, uint64_t now_ns)
{
	lock_assert_held(watch->job->lock);
	uint64_t second = now_ns / SECOND_NS;
	uint64_t first = watch->rate_second + 1;
	if (second >= first + RATE_SECONDS)
		first = second - RATE_SECONDS + 1;
	for (uint64_t i = first; i <= second; i++)
		watch->rate[i % RATE_SECONDS] = 0;
	watch->rate_second = second;
}

void rate_count_locked(struct watch *watch, uint64_t now_ns)
{
	lock_assert_held(watch->job->lock);
	advance_rate_locked(watch, now_ns);
	watch->rate[watch->rate_second % RATE_SECONDS]++;
	watch->lap.last_ns = now_ns;
}

double rate_locked(struct watch *watch)
{
	lock_assert_held(watch->job->lock);
	uint64_t now_ns = clock_now_ns();
	advance_rate_locked(watch, now_ns);
	uint64_t n = 0;
	for (int i = 0; i < RATE_SECONDS; i++)
		n += watch->rate[i];
	double seconds =
		RATE_SECONDS - 1 + (double)(now_ns % SECOND_NS) / (double)SECOND_NS;
	return (double)n / seconds;
}
