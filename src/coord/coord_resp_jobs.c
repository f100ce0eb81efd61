// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "coord/coord_facts.h"
#include "coord/coord_resp_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool take_kind(const redisReply *reply, enum sampler_kind *ret)
{
	uint32_t kind;
	bool good = resp_take_u32(reply, 0, SAMPLER_SEQUENTIAL, &kind);
	*ret = good ? (enum sampler_kind)kind : SAMPLER_DSA;
	return good;
}

static bool take_shape(const redisReply *ranks, const redisReply *batch, uint32_t *ret,
	uint32_t *ret_batch)
{
	return resp_take_u32(ranks, 1, COORD_RANKS, ret) &&
	       resp_take_u32(batch, *ret, COORD_BATCH, ret_batch);
}

/* Prints to `differs` how `job` differs from the group's job, and returns -EINVAL. -EBADE: the
 * reply is invalid, or shows no difference. reply: an array of dataset, n, fingerprint, ranks,
 * batch, kind, epoch and next of the group's job. */
static int tell_difference(
	const redisReply *reply, const struct coord_job *job, char differs[COORD_TEXT])
{
	char dataset[COORD_NAME];
	struct coord_job there = {.dataset = dataset};
	uint32_t n, epoch, next;
	if (!resp_is_array(reply, 8) || !resp_take_name(reply->element[0], dataset) ||
		!resp_take_u32(reply->element[1], 1, UINT32_MAX, &n) ||
		!resp_take_hex(reply->element[2], &there.fingerprint) ||
		!take_shape(reply->element[3], reply->element[4], &there.ranks,
			&there.batch) ||
		!take_kind(reply->element[5], &there.kind) ||
		!resp_take_u32(reply->element[6], 0, COORD_EPOCHS, &epoch) ||
		!resp_take_u32(reply->element[7], 0, n, &next))
		return -EBADE;
	bool differ = coord_facts_differ(job, &there, n, differs) ||
		      coord_is_behind(job, epoch, next, differs);
	return differ ? -EINVAL : -EBADE;
}

int resp_enter(void *context, const char *node, const struct coord_job *job,
	char differs[COORD_TEXT])
{
	redisReply *reply;
	size_t size = roaring_bitmap_portable_size_in_bytes(job->ids);
	auto_free char *ids = malloc(size);
	auto_free sample_id *log = coord_log_parts(job);
	if (!ids || !log)
		return -ENOMEM;
	roaring_bitmap_portable_serialize(job->ids, ids);
	struct resp_words words = resp_function(context, "joaderfs_2_enter", 13);
	resp_text(&words, node);
	resp_text(&words, job->name);
	resp_text(&words, job->dataset);
	resp_number(&words, roaring_bitmap_get_cardinality(job->ids));
	resp_hex(&words, job->fingerprint);
	resp_number(&words, job->ranks);
	resp_number(&words, job->batch);
	resp_number(&words, (uint64_t)job->kind);
	resp_bytes(&words, ids, size);
	resp_number(&words, job->epoch);
	resp_number(&words, job->n_log);
	resp_bytes(&words, log, job->n_log * sizeof(*log));
	resp_number(&words, job->local_ranks ? job->local_ranks : 1);
	int err = resp_call(context, &words, &reply);
	if (err)
		return err;
	if (!resp_is_array(reply, 0))
		err = -EBADE;
	else if (reply->elements)
		err = tell_difference(reply, job, differs);
	return resp_end(context, reply, err);
}

int resp_leave(void *context, const char *node, const char *job)
{
	/* the group may forget the job, and get another job of this name */
	resp_forget_chunks(context);
	struct resp_words words = resp_function(context, "joaderfs_2_leave", 2);
	resp_text(&words, node);
	resp_text(&words, job);
	return resp_do(context, &words);
}

/* reply: an array of rank, cursor, rank, cursor ... */
static bool take_cursors(const redisReply *reply, struct coord_engine_job *ret)
{
	if (!resp_is_array(reply, 0) || reply->elements % 2)
		return false;
	for (size_t i = 0; i < reply->elements; i += 2) {
		uint32_t rank;
		if (!resp_take_u32(reply->element[i], 0, ret->ranks - 1, &rank) ||
			!resp_take_position(reply->element[i + 1], &ret->cursors[rank]))
			return false;
	}
	return true;
}

/* reply: the incarnations of all owners, separated by spaces */
static bool take_owners(const redisReply *reply, struct coord_engine_job *ret)
{
	const char *at = reply->str;
	if (!resp_is_text(reply, 32 * (size_t)ret->ranks))
		return false;
	for (uint32_t i = 0; i < ret->ranks; i++)
		if ((i && *at++ != ' ') || !resp_take_hex_at(&at, &ret->owners[i]))
			return false;
	return *at == '\0';
}

/* reply: an array of epoch, next, n, ranks, batch and fingerprint */
static bool take_state(const redisReply *reply, struct coord_engine_job *ret)
{
	redisReply *const *state = reply->element;
	return resp_is_array(reply, 6) &&
	       resp_take_u32(state[0], 0, COORD_EPOCHS, &ret->epoch) &&
	       resp_take_u32(state[2], 1, UINT32_MAX, &ret->n) &&
	       resp_take_u32(state[1], 0, ret->n, &ret->next) &&
	       take_shape(state[3], state[4], &ret->ranks, &ret->batch) &&
	       resp_take_hex(state[5], &ret->fingerprint);
}

/* reply: an array of name, state, cursors and owners */
static int take_job(const redisReply *reply, struct coord_engine_job *ret)
{
	if (!resp_is_array(reply, 4) || !resp_take_name(reply->element[0], ret->name) ||
		!take_state(reply->element[1], ret))
		return -EBADE;
	ret->cursors = calloc(ret->ranks, sizeof(*ret->cursors));
	ret->owners = calloc(ret->ranks, sizeof(*ret->owners));
	if (!ret->cursors || !ret->owners)
		return -ENOMEM;
	return take_cursors(reply->element[2], ret) && take_owners(reply->element[3], ret)
		       ? 0
		       : -EBADE;
}

int resp_take_jobs(const redisReply *reply, struct coord_engine_jobs *ret)
{
	int err = 0;
	if (!resp_is_array(reply, 0))
		return -EBADE;
	ret->jobs = calloc(reply->elements + 1, sizeof(*ret->jobs));
	if (!ret->jobs)
		return -ENOMEM;
	for (; ret->n < reply->elements && !err; ret->n++)
		err = take_job(reply->element[ret->n], &ret->jobs[ret->n]);
	if (err)
		return err;
	qsort(ret->jobs, ret->n, sizeof(*ret->jobs), coord_jobs_by_name);
	for (size_t i = 1; i < ret->n; i++)
		if (coord_jobs_by_name(&ret->jobs[i - 1], &ret->jobs[i]) == 0)
			return -EBADE; /* the reply has a job twice */
	return 0;
}

int resp_jobs(void *context, const char *run, struct coord_engine_jobs *ret)
{
	redisReply *reply;
	*ret = (struct coord_engine_jobs){0};
	int err = resp_same_life(context, run);
	if (err)
		return err;
	struct resp_words words = resp_function(context, "joaderfs_2_jobs", 0);
	err = resp_call(context, &words, &reply);
	if (!err)
		err = resp_end(context, reply, resp_take_jobs(reply, ret));
	if (err)
		coord_engine_jobs_free(ret);
	return err;
}

/* reply: an array of dataset, fingerprint, ranks, batch, kind and ids */
static int take_facts(const redisReply *reply, const char *job, struct coord_job *ret)
{
	char dataset[COORD_NAME];
	roaring_bitmap_t *ids;
	if (!resp_is_array(reply, 6) || !resp_take_name(reply->element[0], dataset) ||
		!resp_take_hex(reply->element[1], &ret->fingerprint) ||
		!take_shape(
			reply->element[2], reply->element[3], &ret->ranks, &ret->batch) ||
		!take_kind(reply->element[4], &ret->kind))
		return -EBADE;
	int err = resp_take_ids(reply->element[5], &ids);
	if (err)
		return err;
	ret->ids = ids;
	ret->name = strdup(job);
	ret->dataset = strdup(dataset);
	if (roaring_bitmap_is_empty(ids))
		return -EBADE;
	return ret->name && ret->dataset ? 0 : -ENOMEM;
}

int resp_facts(void *context, const char *job, struct coord_job *ret)
{
	redisReply *reply;
	struct resp_words words = resp_function(context, "joaderfs_2_facts", 1);
	*ret = (struct coord_job){0};
	resp_text(&words, job);
	int err = resp_call(context, &words, &reply);
	if (!err)
		err = resp_end(context, reply, take_facts(reply, job, ret));
	if (err)
		coord_facts_free(ret);
	return err;
}

#endif
