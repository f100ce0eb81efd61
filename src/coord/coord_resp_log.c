// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "coord/coord_resp_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ids are sent as they are");

int resp_open(void *context, const char *run, const char *job, uint32_t epoch)
{
	struct resp_words words = resp_function_in(context, run, "joaderfs_2_open", 3);
	resp_text(&words, job);
	resp_number(&words, epoch);
	return resp_do(context, &words);
}

/* Calls the library's `function`. fills: the function is joaderfs_2_fill, which has two more
 * arguments, the end of the log before the call. */
static int append_by(struct coord_resp *resp, const char *function, bool fills,
	const char *run, const struct coord_token *token,
	const struct coord_append *append)
{
	struct resp_words words = resp_function_in(resp, run, function, fills ? 9 : 7);
	resp_token(&words, token);
	resp_text(&words, append->job);
	if (fills) {
		resp_number(&words, append->was_epoch);
		resp_number(&words, append->was_next);
	}
	resp_number(&words, append->epoch);
	resp_number(&words, append->base);
	resp_number(&words, append->count);
	resp_bytes(&words, append->ids, append->count * sizeof(sample_id));
	return resp_do(resp, &words);
}

int resp_append(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *append)
{
	return append_by(context, "joaderfs_2_append", false, run, token, append);
}

int resp_fill(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *append)
{
	return append_by(context, "joaderfs_2_fill", true, run, token, append);
}

int resp_forget(
	void *context, const struct coord_token *token, const char *job, uint32_t epoch)
{
	struct resp_words words = resp_function(context, "joaderfs_2_forget", 3);
	resp_token(&words, token);
	resp_text(&words, job);
	resp_number(&words, epoch);
	return resp_do(context, &words);
}

int resp_mend(void *context, const char *run, const char *job)
{
	struct resp_words words = resp_function_in(context, run, "joaderfs_2_mend", 2);
	resp_text(&words, job);
	return resp_do(context, &words);
}

/* --- repair ----------------------------------------------------------------------------- */

int resp_repair(void *context, const char *run, const struct coord_offer *offer)
{
	struct resp_words words = resp_function_in(context, run, "joaderfs_2_repair", 6);
	resp_text(&words, offer->job);
	resp_number(&words, offer->epoch);
	resp_number(&words, offer->rank);
	resp_number(&words, offer->base);
	resp_bytes(&words, offer->ids, offer->n * sizeof(sample_id));
	return resp_do(context, &words);
}

int resp_repaired(void *context, const char *run, const char *node)
{
	struct resp_words words =
		resp_function_in(context, run, "joaderfs_2_repaired", 2);
	resp_text(&words, node);
	return resp_do(context, &words);
}

/* The name of an offer is "<job> <epoch> <rank> <base>". */
static bool is_offer(const redisReply *name, const redisReply *ids)
{
	return resp_is_text(name, COORD_NAME + 48) && ids->type == REDIS_REPLY_STRING &&
	       (size_t)ids->len % sizeof(sample_id) == 0 &&
	       (size_t)ids->len / sizeof(sample_id) < UINT32_MAX;
}

static int take_offer(
	const redisReply *name, const redisReply *ids, struct coord_offer *ret)
{
	if (!is_offer(name, ids) ||
		sscanf(name->str, "%64s %10u %10u %10u", ret->job, &ret->epoch,
			&ret->rank, &ret->base) != 4 ||
		ret->epoch > COORD_EPOCHS || ret->rank >= COORD_RANKS)
		return -EBADE;
	ret->n = (uint32_t)((size_t)ids->len / sizeof(sample_id));
	if (ret->base > UINT32_MAX - ret->n)
		return -EBADE;
	ret->ids = malloc((size_t)ids->len + 1);
	if (!ret->ids)
		return -ENOMEM;
	memcpy(ret->ids, ids->str, (size_t)ids->len);
	return 0;
}

/* reply: an array of name, ids, name, ids ... */
static int take_offers(const redisReply *reply, struct coord_offers *ret)
{
	int err = 0;
	if (!resp_is_array(reply, 0) || reply->elements % 2)
		return -EBADE;
	ret->offers = calloc(reply->elements / 2 + 1, sizeof(*ret->offers));
	if (!ret->offers)
		return -ENOMEM;
	for (size_t i = 0; i < reply->elements && !err; i += 2) {
		err = take_offer(
			reply->element[i], reply->element[i + 1], &ret->offers[ret->n]);
		ret->n += err == 0;
	}
	return err;
}

int resp_offers(void *context, const char *run, struct coord_offers *ret)
{
	redisReply *reply;
	*ret = (struct coord_offers){0};
	struct resp_words words = resp_function_in(context, run, "joaderfs_2_offers", 1);
	int err = resp_call(context, &words, &reply);
	if (!err)
		err = resp_end(context, reply, take_offers(reply, ret));
	if (err)
		coord_offers_free(ret);
	return err;
}

int resp_reported(void *context, const char *run, const struct coord_node *nodes,
	size_t n, bool *ret)
{
	redisReply *reply;
	struct resp_words words =
		resp_function_in(context, run, "joaderfs_2_reported", n + 1);
	for (size_t i = 0; i < n; i++)
		resp_text(&words, nodes[i].name);
	int err = resp_call(context, &words, &reply);
	if (err)
		return err;
	bool good = resp_is_array(reply, n);
	for (size_t i = 0; i < n && good; i++)
		good = resp_take_flag(reply->element[i], &ret[i]);
	return resp_end(context, reply, good ? 0 : -EBADE);
}

int resp_ready(void *context, const char *run, const struct coord_token *token)
{
	struct resp_words words = resp_function_in(context, run, "joaderfs_2_ready", 2);
	resp_token(&words, token);
	return resp_do(context, &words);
}

/* --- sets of samples that nodes report -------------------------------------------------- */

int resp_tell(void *context, const char *node, const char *dataset,
	const roaring_bitmap_t *ids, uint32_t ttl_ms)
{
	size_t size = roaring_bitmap_portable_size_in_bytes(ids);
	auto_free char *bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	roaring_bitmap_portable_serialize(ids, bytes);
	struct resp_words words = resp_function(context, "joaderfs_2_tell", 4);
	resp_text(&words, node);
	resp_text(&words, dataset);
	resp_number(&words, ttl_ms);
	resp_bytes(&words, bytes, size);
	return resp_do(context, &words);
}

int resp_told(void *context, const char *dataset, roaring_bitmap_t *ret)
{
	redisReply *reply;
	struct resp_words words = resp_function(context, "joaderfs_2_told", 1);
	resp_text(&words, dataset);
	int err = resp_call(context, &words, &reply);
	if (err)
		return err;
	err = resp_is_array(reply, 0) ? 0 : -EBADE;
	for (size_t i = 0; !err && i < reply->elements; i++) {
		auto_bitmap roaring_bitmap_t *ids = NULL;
		err = resp_take_ids(reply->element[i], &ids);
		if (!err)
			roaring_bitmap_or_inplace(ret, ids);
	}
	return resp_end(context, reply, err);
}

#endif
