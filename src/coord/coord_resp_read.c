// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "base/array_grow.h"
#include "coord/coord_resp_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A log is a sequence of chunks, one per append. A chunk has the samples of rank 0, then the
 * samples of rank 1, and so on. The list of chunks is fetched once and then extended. A rank reads
 * a part of each chunk; the parts of all reads are fetched together. If a chunk is missing, the log
 * was deleted, and the list is fetched again. */

#define CHUNKS_AT_ONCE 256
#define KEY_SIZE 256

/* --- the list of chunks ----------------------------------------------------------------- */

void resp_forget_chunks(struct coord_resp *resp)
{
	for (size_t i = 0; i < resp->n_logs; i++)
		free(resp->logs[i].ends);
	free(resp->logs);
	resp->logs = NULL;
	resp->n_logs = 0;
}

/* Returns the list for the chunks of `epoch`; NULL: there is none. A job has one list for even and
 * one for odd epochs, so the list may still have the chunks of an earlier epoch. */
static struct resp_chunks *find_log(
	struct coord_resp *resp, const char *job, uint32_t epoch)
{
	for (size_t i = 0; i < resp->n_logs; i++)
		if (resp->logs[i].epoch % 2 == epoch % 2 &&
			strcmp(resp->logs[i].job, job) == 0)
			return &resp->logs[i];
	return NULL;
}

static int need_log(
	struct coord_resp *resp, const struct coord_read *read, struct resp_chunks **ret)
{
	struct resp_chunks *log = find_log(resp, read->job, read->epoch);
	if (!log) {
		log = reallocarray(resp->logs, resp->n_logs + 1, sizeof(*log));
		if (!log)
			return -ENOMEM;
		resp->logs = log;
		log += resp->n_logs++;
		*log = (struct resp_chunks){.epoch = read->epoch};
		snprintf(log->job, sizeof(log->job), "%s", read->job);
	}
	if (log->epoch != read->epoch)
		log->n = 0;
	log->epoch = read->epoch;
	*ret = log;
	return 0;
}

static uint32_t end_of(const struct resp_chunks *log)
{
	return log->n ? log->ends[log->n - 1] : 0;
}

static uint32_t position_of(const struct coord_read *read, uint32_t global)
{
	return ranks_position(global, read->batch, read->ranks, read->rank);
}

/* chunk: {"<base>-1" {"" count}}, from the reply to XRANGE */
static bool take_chunk(const redisReply *chunk, uint32_t *ret_base, uint32_t *ret_count)
{
	char *hyphen;
	if (!resp_is_array(chunk, 2) || !resp_is_array(chunk->element[1], 2) ||
		!resp_is_text(chunk->element[0], 32) ||
		!(hyphen = strchr(chunk->element[0]->str, '-')))
		return false;
	*hyphen = '\0';
	chunk->element[0]->len = (size_t)(hyphen - chunk->element[0]->str);
	return resp_take_u32(chunk->element[0], 0, UINT32_MAX - 1, ret_base) &&
	       resp_take_u32(chunk->element[1]->element[1], 1, UINT32_MAX - 1 - *ret_base,
		       ret_count);
}

/* Appends the chunks in the reply to the list. If the chunks do not continue the list, the log was
 * replaced: *ret_known is false, and the list is cleared. */
static int take_chunks(const redisReply *reply, struct resp_chunks *log, bool *ret_known)
{
	*ret_known = true;
	if (!resp_is_array(reply, 0))
		return -EBADE;
	for (size_t i = 0; i < reply->elements; i++) {
		uint32_t base, count;
		if (!take_chunk(reply->element[i], &base, &count))
			return -EBADE;
		if (base != end_of(log)) {
			*ret_known = false;
			log->n = 0;
			return 0;
		}
		uint32_t *ends = array_grow(log->ends, log->n, &log->room, sizeof(*ends));
		if (!ends)
			return -ENOMEM;
		log->ends = ends;
		log->ends[log->n++] = base + count;
	}
	return 0;
}

static int ask_for_chunks(struct coord_resp *resp, const struct coord_read *read,
	struct resp_chunks *log, bool *ret_more)
{
	char name[KEY_SIZE], from[16];
	redisReply *reply;
	struct resp_words words = resp_begin(6);
	snprintf(name, KEY_SIZE, "%s:log:%s:%" PRIu32, resp->group, read->job,
		read->epoch);
	snprintf(from, sizeof(from), "%" PRIu32 "-0", end_of(log));
	resp_text(&words, "XRANGE");
	resp_text(&words, name);
	resp_text(&words, from);
	resp_text(&words, "+");
	resp_text(&words, "COUNT");
	resp_number(&words, CHUNKS_AT_ONCE);
	int err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	size_t before = log->n;
	bool known;
	err = take_chunks(reply, log, &known);
	*ret_more = known && log->n - before == CHUNKS_AT_ONCE;
	return resp_end(resp, reply, err);
}

/* Extends the lists of chunks as far as needed; consecutive reads of one log share a command. */
static int find_chunks(struct coord_resp *resp, struct coord_read *reads, size_t n)
{
	const char *asked = NULL;
	uint32_t asked_epoch = 0;
	for (size_t i = 0; i < n; i++) {
		const struct coord_read *read = &reads[i];
		struct resp_chunks *log = NULL;
		int err = need_log(resp, read, &log);
		bool more = !asked || asked_epoch != read->epoch ||
			    strcmp(asked, read->job) != 0;
		while (more && !err &&
			position_of(read, end_of(log)) <
				(uint64_t)read->from + read->most) {
			err = ask_for_chunks(resp, read, log, &more);
			asked = read->job;
			asked_epoch = read->epoch;
		}
		if (err)
			return err;
	}
	return 0;
}

/* --- parts of chunks -------------------------------------------------------------------- */

/* A command that gets n samples of a read from one chunk. */
struct part {
	struct coord_read *read;
	uint32_t n;
};

struct parts {
	struct part *parts;
	struct resp_words *words;
	char (*names)[KEY_SIZE];
	size_t n, room;
};

/* Appends to `parts` a command that reads n samples of the rank from a chunk, beginning after the
 * first k samples that the rank has in this chunk. */
static void ask_for_part(struct coord_resp *resp, struct parts *parts,
	struct coord_read *read, uint32_t base, uint32_t end, uint32_t k, uint32_t n)
{
	char log[KEY_SIZE / 2], *name = parts->names[parts->n];
	const struct coord_append chunk = {.base = base,
		.count = end - base,
		.ranks = read->ranks,
		.batch = read->batch};
	size_t from = (append_begin(&chunk, read->rank) + k) * sizeof(sample_id);
	struct resp_words *words = &parts->words[parts->n];
	snprintf(log, sizeof(log), "%s:log:%s", resp->group, read->job);
	snprintf(name, KEY_SIZE,
		"%s:%" PRIu32 ":%" PRIu32 ":%" PRIu32 ":%" PRIu32 ":%" PRIu32, log,
		read->epoch, base, end - base, read->ranks, read->batch);
	*words = resp_begin(4);
	resp_text(words, "GETRANGE");
	resp_text(words, name);
	resp_number(words, from);
	resp_number(words, from + n * sizeof(sample_id) - 1);
	parts->parts[parts->n++] = (struct part){read, n};
}

/* Returns the index of the first chunk that ends after the rank's position. */
static size_t find_chunk(const struct resp_chunks *log, const struct coord_read *read)
{
	size_t from = 0, to = log->n;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (position_of(read, log->ends[middle]) <= read->from)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

#define PARTS_MOST 256 /* most chunks that one read uses in one call of resp_read */

/* Appends to `parts` a command for each chunk that has samples of the read. Returns the number of
 * these commands. If `parts` is NULL, only counts them. */
static size_t list_parts(
	struct coord_resp *resp, struct coord_read *read, struct parts *parts)
{
	const struct resp_chunks *log = find_log(resp, read->job, read->epoch);
	uint32_t at = read->from, room = read->most;
	size_t n = 0;
	for (size_t i = find_chunk(log, read); i < log->n && room && n < PARTS_MOST;
		i++) {
		uint32_t base = i ? log->ends[i - 1] : 0;
		uint32_t begin = position_of(read, base);
		uint32_t left = position_of(read, log->ends[i]) - at;
		uint32_t some = left < room ? left : room;
		if (some == 0)
			continue; /* the chunk has no samples of this rank */
		if (parts)
			ask_for_part(
				resp, parts, read, base, log->ends[i], at - begin, some);
		at += some;
		room -= some;
		n++;
	}
	return n;
}

/* Copies the samples in the replies to the reads. If a reply lacks samples, the read gets only the
 * samples of earlier replies, the list of chunks is cleared, and the function returns false. */
static bool take_parts(
	struct coord_resp *resp, const struct parts *parts, redisReply *const *replies)
{
	const struct coord_read *broken = NULL;
	for (size_t i = 0; i < parts->n; i++) {
		struct coord_read *read = parts->parts[i].read;
		size_t bytes = parts->parts[i].n * sizeof(sample_id);
		if (read == broken)
			continue;
		if (replies[i]->type != REDIS_REPLY_STRING ||
			(size_t)replies[i]->len != bytes) {
			find_log(resp, read->job, read->epoch)->n = 0;
			broken = read;
			continue;
		}
		memcpy(read->ids + read->ret_n, replies[i]->str, bytes);
		read->ret_n += parts->parts[i].n;
	}
	return broken == NULL;
}

static int read_parts(struct coord_resp *resp, struct coord_read *reads, size_t n,
	struct parts *parts, bool *ret_whole)
{
	for (size_t i = 0; i < n; i++)
		(void)list_parts(resp, &reads[i], parts);
	auto_free redisReply **replies = calloc(parts->n, sizeof(redisReply *));
	if (!replies)
		return -ENOMEM;
	int err = resp_calls(resp, parts->words, parts->n, replies);
	if (err)
		return err;
	*ret_whole = take_parts(resp, parts, replies);
	for (size_t i = 0; i < parts->n; i++)
		freeReplyObject(replies[i]);
	return 0;
}

static int read_all(
	struct coord_resp *resp, struct coord_read *reads, size_t n, bool *ret_whole)
{
	struct parts parts = {0};
	for (size_t i = 0; i < n; i++)
		reads[i].ret_n = 0;
	int err = find_chunks(resp, reads, n);
	*ret_whole = true;
	for (size_t i = 0; i < n && !err; i++)
		parts.room += list_parts(resp, &reads[i], NULL);
	if (err || parts.room == 0)
		return err;
	parts.parts = calloc(parts.room, sizeof(*parts.parts));
	parts.words = calloc(parts.room, sizeof(*parts.words));
	parts.names = calloc(parts.room, sizeof(*parts.names));
	err = parts.parts && parts.words && parts.names
		      ? read_parts(resp, reads, n, &parts, ret_whole)
		      : -ENOMEM;
	free(parts.parts);
	free(parts.words);
	free(parts.names);
	return err;
}

int resp_read(void *context, const char *run, struct coord_read *reads, size_t n)
{
	bool whole;
	int err = resp_same_life(context, run);
	if (!err)
		err = read_all(context, reads, n, &whole);
	if (!err && !whole) /* a list of chunks was out of date */
		err = read_all(context, reads, n, &whole);
	return err;
}

#endif
