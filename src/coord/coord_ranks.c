// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_internal.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Finds the ranks for which other ranks wait. The engine has the logs of two epochs at most. So,
 * while epoch 1 is running, epoch 2 can't begin before all ranks have read epoch 0 to its end:
 *
 *     epoch         0               1               2
 *     log           dropped with    drawn to its    begins when no rank
 *                   the open of 2   end             is behind
 *     rank 0                                        waits
 *     rank 1        is behind
 *
 * A rank that waits for epoch 2 commits position 0 of epoch 2, so all nodes see the wait.
 */

static bool is_behind(const struct held_job *job, uint32_t number)
{
	if (!job->log.cursors || job->log.epoch == 0)
		return false;
	const struct coord_position end = {
		job->log.epoch - 1, rank_length(&job->facts, job->n, number)};
	return position_before(job->log.cursors[number], end);
}

static bool next_is_awaited(const struct held_job *job)
{
	for (uint32_t r = 0; job->log.cursors && r < job->facts.ranks; r++)
		if (job->log.cursors[r].epoch > job->log.epoch)
			return job->log.next == job->n;
	return false;
}

bool coord_is_behind_others(const struct held_job *job, uint32_t number)
{
	return is_behind(job, number) && next_is_awaited(job);
}

static bool is_unserved(const struct held_job *job, uint32_t number)
{
	return job->log.owners && !job->log.owners[number];
}

static void print(const struct held_job *job,
	bool (*is_one)(const struct held_job *job, uint32_t number),
	char text[COORD_TEXT])
{
	uint32_t ranks = job ? job->facts.ranks : 0, next;
	int length = 0;
	*text = '\0';
	for (uint32_t r = 0; r < ranks && length < COORD_TEXT - 32; r = next) {
		for (next = r; next < ranks && is_one(job, next); next++)
			;
		if (next > r)
			length += snprintf(text + length, COORD_TEXT - (size_t)length,
				"%s%" PRIu32, length ? ", " : "", r);
		if (next > r + 1)
			length += snprintf(text + length, COORD_TEXT - (size_t)length,
				" to %" PRIu32, next - 1);
		next += next == r;
	}
}

void coord_unserved(const struct coord *coord, const char *name, char text[COORD_TEXT])
{
	print(coord_find_job(coord, name), is_unserved, text);
}

void coord_behind(const struct coord *coord, const char *name, char text[COORD_TEXT])
{
	const struct held_job *job = coord_find_job(coord, name);
	print(job && next_is_awaited(job) ? job : NULL, is_behind, text);
}
