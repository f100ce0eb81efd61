// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "stats/history.h"

#include <criterion/criterion.h>

static struct history_reading copies[HISTORY_READINGS];

static void add(struct history *history, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++) {
		struct history_reading reading = {.ns = i};
		reading.jobs[HISTORY_JOBS - 1].hit = 1000 + i;
		history_add(history, &reading);
	}
}

static void check(struct history *history, uint64_t first, uint64_t end)
{
	cr_assert_eq(history_copy(history, copies), end - first);
	for (uint64_t i = first; i < end; i++) {
		cr_assert_eq(copies[i - first].ns, i);
		cr_assert_eq(copies[i - first].jobs[HISTORY_JOBS - 1].hit, 1000 + i);
	}
}

Test(history, the_oldest_reading_makes_place_for_the_newest)
{
	struct history *history;
	cr_assert_eq(0, history_new(&history));
	check(history, 0, 0);
	add(history, 0, 3);
	check(history, 0, 3);
	add(history, 3, HISTORY_READINGS);
	check(history, 0, HISTORY_READINGS);
	add(history, HISTORY_READINGS, HISTORY_READINGS + 1);
	check(history, 1, HISTORY_READINGS + 1);
	add(history, HISTORY_READINGS + 1, 3 * HISTORY_READINGS + 5);
	check(history, 2 * HISTORY_READINGS + 5, 3 * HISTORY_READINGS + 5);
	history_free(&history);
	cr_assert_null(history);
}
