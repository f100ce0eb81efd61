// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "cluster/coord_resp_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Feeds are streams whose entries are named by their first position. All feeds that the
 * node follows are read by one XREAD: it gives the entries that begin at the position or
 * later. That is all there is if an entry ends before the position, as it does for who has
 * read to there (resp_mark). Otherwise the entry that holds the position is asked for first.
 */

#define ENTRIES_MOST 64 /* of a feed at once */
#define KEY_SIZE 192

static struct resp_mark *find_mark(struct coord_resp *resp, const struct coord_read *read)
{
	for (size_t i = 0; i < resp->n_marks; i++)
		if (resp->marks[i].rank == read->rank &&
			strcmp(resp->marks[i].job, read->job) == 0)
			return &resp->marks[i];
	return NULL;
}

static bool is_at_mark(struct coord_resp *resp, const struct coord_read *read)
{
	const struct resp_mark *mark = find_mark(resp, read);
	return read->from == 0 ||
	       (mark && mark->epoch == read->epoch && mark->position == read->from);
}

static void set_mark(struct coord_resp *resp, const struct coord_read *read,
	uint32_t position, uint32_t entry)
{
	struct resp_mark *mark = find_mark(resp, read);
	if (!mark) {
		mark = reallocarray(resp->marks, resp->n_marks + 1, sizeof(*mark));
		if (!mark)
			return; /* it is only slower */
		resp->marks = mark;
		mark += resp->n_marks++;
		snprintf(mark->job, sizeof(mark->job), "%s", read->job);
		mark->rank = read->rank;
	}
	mark->epoch = read->epoch;
	mark->position = position;
	mark->entry = entry;
}

static void name_feed(
	const struct coord_resp *resp, const struct coord_read *read, char *ret)
{
	snprintf(ret, KEY_SIZE, "%s:feed:%s:%" PRIu32 ":%" PRIu32, resp->group, read->job,
		read->epoch, read->rank);
}

/* The entry goes on with what was read so far; false: there is no room, or a gap. */
static bool take_entry(
	struct coord_read *read, const redisReply *entry, uint32_t *ret_end)
{
	if (!resp_is_array(entry, 2) || !resp_is_array(entry->element[1], 2))
		return false;
	const redisReply *blob = entry->element[1]->element[1];
	uint32_t base = resp_u32(entry->element[0]);
	uint32_t n = (uint32_t)((size_t)blob->len / sizeof(sample_id));
	uint32_t at = read->from + read->ret_n;
	*ret_end = base + n;
	if (base > at || base + n <= at)
		return base + n == at;
	uint32_t skip = at - base, more = n - skip, room = read->most - read->ret_n;
	uint32_t taken = more < room ? more : room;
	memcpy(read->ids + read->ret_n, blob->str + skip * sizeof(sample_id),
		taken * sizeof(sample_id));
	read->ret_n += taken;
	return taken == more;
}

static void take_entries(
	struct coord_resp *resp, struct coord_read *read, const redisReply *entries)
{
	uint32_t end = 0, before = 0;
	for (size_t i = 0; i < entries->elements; i++) {
		before = end;
		if (!take_entry(read, entries->element[i], &end))
			return;
	}
	if (read->ret_n && end == read->from + read->ret_n)
		set_mark(resp, read, end, before ? end - before : 0);
}

/* The entry that the position lies in, if it does not begin there. */
static int read_within(struct coord_resp *resp, struct coord_read *read)
{
	char feed[KEY_SIZE];
	redisReply *reply;
	struct resp_words words = resp_begin(6);
	name_feed(resp, read, feed);
	resp_text(&words, "XREVRANGE");
	resp_text(&words, feed);
	resp_number(&words, read->from);
	resp_text(&words, "-");
	resp_text(&words, "COUNT");
	resp_text(&words, "1");
	int err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_ARRAY)
		take_entries(resp, read, reply);
	freeReplyObject(reply);
	return 0;
}

static struct coord_read *find_read(const struct coord_resp *resp,
	struct coord_read *reads, size_t n, const char *name)
{
	char feed[KEY_SIZE];
	for (size_t i = 0; i < n; i++) {
		name_feed(resp, &reads[i], feed);
		if (strcmp(feed, name) == 0)
			return &reads[i];
	}
	return NULL;
}

/* Streams come in the order in which they were asked for, but for empty ones. */
static int take_streams(struct coord_resp *resp, const redisReply *reply,
	struct coord_read *reads, size_t n)
{
	size_t i = 0;
	if (reply->type == REDIS_REPLY_NIL)
		return 0;
	for (size_t s = 0; s < reply->elements; s++) {
		const redisReply *stream = reply->element[s];
		if (!resp_is_array(stream, 2) || !stream->element[0]->str)
			return resp_bad_reply(resp);
		struct coord_read *read =
			find_read(resp, reads + i, n - i, stream->element[0]->str);
		if (!read)
			return resp_bad_reply(resp);
		i = (size_t)(read - reads) + 1;
		take_entries(resp, read, stream->element[1]);
	}
	return 0;
}

/* As many entries as there is room for, as large as the one read last. */
static uint32_t count_entries(
	struct coord_resp *resp, const struct coord_read *reads, size_t n)
{
	uint32_t count = 1;
	for (size_t i = 0; i < n; i++) {
		const struct resp_mark *mark = find_mark(resp, &reads[i]);
		uint32_t entry = mark && mark->entry ? mark->entry : 1;
		uint32_t room = (reads[i].most + entry - 1) / entry;
		count = room > count ? room : count;
	}
	return count < ENTRIES_MOST ? count : ENTRIES_MOST;
}

static int read_on(struct coord_resp *resp, struct coord_read *reads, size_t n)
{
	auto_free char *names = calloc(n, KEY_SIZE);
	auto_free char *from = calloc(n, 16);
	redisReply *reply;
	if (!names || !from)
		return -ENOMEM;
	struct resp_words words = resp_begin(4 + 2 * n);
	resp_text(&words, "XREAD");
	resp_text(&words, "COUNT");
	resp_number(&words, count_entries(resp, reads, n));
	resp_text(&words, "STREAMS");
	for (size_t i = 0; i < n; i++) {
		name_feed(resp, &reads[i], names + i * KEY_SIZE);
		resp_text(&words, names + i * KEY_SIZE);
	}
	for (size_t i = 0; i < n; i++) {
		snprintf(from + i * 16, 16, "%" PRIu32 "-0",
			reads[i].from + reads[i].ret_n);
		resp_text(&words, from + i * 16);
	}
	int err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	err = take_streams(resp, reply, reads, n);
	freeReplyObject(reply);
	return err;
}

int resp_read(void *context, const char *run, struct coord_read *reads, size_t n)
{
	struct coord_resp *resp = context;
	int err = resp_same_life(resp, run);
	for (size_t i = 0; i < n; i++)
		reads[i].ret_n = 0;
	for (size_t i = 0; i < n && !err; i++)
		if (!is_at_mark(resp, &reads[i]))
			err = read_within(resp, &reads[i]);
	return err || n == 0 ? err : read_on(resp, reads, n);
}

#endif
