// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "stats/history.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct history {
	struct lock lock;
	/* n: readings in the ring; next: index at which the next reading is stored */
	size_t n, next;
	struct history_reading ring[HISTORY_READINGS];
};

int history_new(struct history **ret)
{
	struct history *history = calloc(1, sizeof(*history));
	if (!history)
		return -ENOMEM;
	lock_init(&history->lock, LOCK_RANK_STATS, "history");
	*ret = history;
	return 0;
}

void history_free(struct history **history)
{
	if (!*history)
		return;
	lock_destroy(&(*history)->lock);
	free(*history);
	*history = NULL;
}

void history_add(struct history *history, const struct history_reading *reading)
{
	LOCK_SCOPE(&history->lock);
	history->ring[history->next] = *reading;
	history->next = (history->next + 1) % HISTORY_READINGS;
	history->n += history->n < HISTORY_READINGS;
}

size_t history_copy(
	struct history *history, struct history_reading ret[static HISTORY_READINGS])
{
	LOCK_SCOPE(&history->lock);
	size_t first = history->n < HISTORY_READINGS ? 0 : history->next;
	size_t to_end = history->n - first;
	memcpy(ret, &history->ring[first], to_end * sizeof(*ret));
	memcpy(&ret[to_end], history->ring, first * sizeof(*ret));
	return history->n;
}
