// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "base/clock.h"
#include "coord/coord_resp_internal.h"

#include <errno.h>
#include <stdio.h>

/* Limits the memory and the time of a reply. The announced length of a value counts as memory
 * before its bytes arrive. Slow networks get more time (LEAST_BYTES_PER_MS). */

#define OBJECT_BYTES 96		/* memory of a value beside its bytes */
#define LEAST_BYTES_PER_MS 1024 /* a slower reply times out */

#if HIREDIS_MAJOR < 1
typedef int count_t;
#else
typedef size_t count_t;
#endif

/* --- memory ----------------------------------------------------------------------------- */

static bool may_take(struct coord_resp *resp, size_t n, size_t bytes_each)
{
	size_t left = resp->most - resp->taken;
	if (left < OBJECT_BYTES || n > (left - OBJECT_BYTES) / bytes_each) {
		resp->too_much = true;
		return false;
	}
	resp->taken += OBJECT_BYTES + n * bytes_each;
	return true;
}

static void *make_string(const redisReadTask *task, char *text, size_t length)
{
	struct coord_resp *resp = task->privdata;
	return may_take(resp, length, 1) ? resp->makes->createString(task, text, length)
					 : NULL;
}

static void *make_array(const redisReadTask *task, count_t n)
{
	struct coord_resp *resp = task->privdata;
	return may_take(resp, (size_t)n, sizeof(void *))
		       ? resp->makes->createArray(task, n)
		       : NULL;
}

void resp_count(struct coord_resp *resp)
{
	redisReader *reader = resp->link->reader;
	resp->makes = reader->fn;
	resp->counts = *reader->fn;
	resp->counts.createString = make_string;
	resp->counts.createArray = make_array;
	reader->fn = &resp->counts;
	reader->privdata = resp;
}

/* --- time ------------------------------------------------------------------------------- */

static int send_all(redisContext *link)
{
	int done = 0;
	while (!done)
		if (redisBufferWrite(link, &done) != REDIS_OK)
			return REDIS_ERR;
	return REDIS_OK;
}

static int read_by_tls(struct coord_resp *resp)
{
	char bytes[16 << 10];
	size_t n;
	int err = coord_tls_read(
		resp->tls, bytes, sizeof(bytes), resp->timeout_ms, &n, resp->refused);
	if (err)
		return err;
	return redisReaderFeed(resp->link->reader, bytes, n) == REDIS_OK ? 0 : -ENOMEM;
}

static bool is_late(const struct coord_resp *resp, uint64_t since_ns)
{
	uint64_t ms = (clock_now_ns() - since_ns) / NS_PER_MS;
	size_t come = resp->taken + resp->link->reader->len;
	return ms > 2 * (uint64_t)resp->timeout_ms + come / LEAST_BYTES_PER_MS;
}

static bool is_too_much(struct coord_resp *resp)
{
	resp->too_much |= resp->link->reader->len > resp->most - resp->taken;
	return resp->too_much;
}

static int error_of(const struct coord_resp *resp)
{
	const redisContext *link = resp->link;
	if (resp->too_much || link->err == REDIS_ERR_PROTOCOL)
		return -EBADE;
	if (link->err == REDIS_ERR_OOM)
		return -ENOMEM;
	return resp_network_error(link);
}

static int read_some(struct coord_resp *resp)
{
	int err = resp->tls				    ? read_by_tls(resp)
		  : redisBufferRead(resp->link) != REDIS_OK ? error_of(resp)
							    : 0;
	return !err && is_too_much(resp) ? error_of(resp) : err;
}

int resp_take(struct coord_resp *resp, redisReply **ret)
{
	redisContext *link = resp->link;
	uint64_t since_ns = clock_now_ns();
	void *reply = NULL;
	resp->taken = 0;
	resp->too_much = false;
	errno = 0;
	if (send_all(link) != REDIS_OK)
		return error_of(resp);
	for (;;) {
		if (redisGetReplyFromReader(link, &reply) != REDIS_OK)
			return error_of(resp);
		if (reply) {
			*ret = reply;
			return 0;
		}
		if (is_late(resp, since_ns))
			return -ETIMEDOUT;
		int err = read_some(resp);
		if (err)
			return err;
	}
}

#endif
