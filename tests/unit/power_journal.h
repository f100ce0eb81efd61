// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/order.h"
#include "journal_helpers.h"
#include "power_failure.h"

/* Journal and orders of a job when the power fails, and checks of their contents afterwards. */

#define EPOCH_POSITIONS 12
#define FINGERPRINT 99

/* In memory where possible, because tests make tens of thousands of files. */
static char place[] = "/dev/shm/joaderfs-test.XXXXXX";
static char live[64], crashed[64], again[64];

static inline void make_places(void)
{
	make_directory();
	const char *parent = mkdtemp(place) ? place : directory;
	snprintf(live, sizeof(live), "%s/live", parent);
	snprintf(crashed, sizeof(crashed), "%s/crashed", parent);
	snprintf(again, sizeof(again), "%s/again", parent);
}

static inline void remove_places(void)
{
	disk_forget();
	remove_directory();
	if (strncmp(live, place, strlen(place)) != 0)
		return;
	disk_clear(place);
	cr_assert_eq(0, rmdir(place));
}

static const struct journal_identity mine = {.job = "job",
	.id = 1,
	.positions = EPOCH_POSITIONS,
	.samples = 2 * EPOCH_POSITIONS,
	.fingerprint = FINGERPRINT};

struct found {
	struct replay replay;
	enum journal_found found;
	struct journal *journal;
	uint32_t *orders;
	size_t n_orders;
};

static inline void found_free(struct found *found)
{
	journal_close(&found->journal);
	free(found->replay.records);
	free(found->orders);
}

/* Opens the journal and lists the orders. Returns a description of a fault; NULL: no fault. */
static inline const char *find(const char *path, struct found *ret)
{
	*ret = (struct found){.found = JOURNAL_NEW};
	if (journal_open(path, &mine, note_record, &ret->replay, &ret->found,
		    &ret->journal) != 0)
		return "the journal does not open";
	if (ret->found == JOURNAL_OTHER)
		return "the journal is another one";
	if (order_list(path, &(struct order_set){EPOCH_POSITIONS, FINGERPRINT}, 1,
		    &ret->orders, &ret->n_orders) != 0)
		return "the orders can't be listed";
	return NULL;
}

/* Returns the history from the record that begins the epoch; NULL: no such record begins a
 * segment. */
static inline const struct record *begun_at(
	const struct record *history, size_t n, const struct record *first)
{
	for (size_t i = 0; i < n; i++)
		if (history[i].kind == RECORD_BEGUN && history[i].epoch == first->epoch)
			return &history[i];
	return NULL;
}

/*
 * Checks that the records are the history up to some moment, without epochs before the oldest
 * segment.
 */
static inline const char *check_records(const struct replay *replay,
	const struct record *history, size_t done, size_t promised)
{
	if (replay->n == 0)
		return promised ? "nothing is left" : NULL;
	const struct record *first = begun_at(history, done, &replay->records[0]);
	if (!first)
		return "the first record was not written";
	const struct record *at = first, *end = history + done;
	for (size_t i = 0; i < replay->n; i++, at++) {
		while (at < end && at->epoch < first->epoch)
			at++;
		if (at == end || !same_record(at, &replay->records[i]))
			return "a record was not written there";
	}
	for (; at < history + promised; at++)
		if (at->epoch >= first->epoch)
			return "a record is missing that was promised";
	return NULL;
}
