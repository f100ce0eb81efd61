// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "cluster/coord_resp.h"

#include <errno.h>
#include <stdio.h>

#ifndef HAVE_HIREDIS

int coord_resp_new(const char *url, const char *group, uint32_t timeout_ms,
	struct coord_resp **ret, char message[COORD_TEXT])
{
	(void)group, (void)timeout_ms, (void)ret;
	snprintf(message, COORD_TEXT, "%s: joaderfs was built without hiredis", url);
	return -ENOTSUP;
}

void coord_resp_free(struct coord_resp **resp)
{
	*resp = NULL;
}

const struct coord_engine *coord_resp_engine(struct coord_resp *resp)
{
	(void)resp;
	return NULL;
}

#else

#include "cluster/coord_facts.h"
#include "cluster/coord_resp_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Who is live, who leads, who serves which rank, and which jobs there are. */

/* --- nodes ------------------------------------------------------------------------------ */

/* "<incarnation> <node>" */
static void take_leader(const char *text, struct coord_view *view)
{
	int at = 0;
	if (sscanf(text, "%" SCNx64 " %n", &view->leader, &at) == 1)
		snprintf(view->leader_name, sizeof(view->leader_name), "%s", text + at);
}

static int take_beat(struct coord_resp *resp, const redisReply *reply,
	struct coord_lease *leases, size_t n, struct coord_view *ret)
{
	if (!resp_is_array(reply, 5) || !resp_is_array(reply->element[4], 2 * n) ||
		!reply->element[2]->str)
		return resp_bad_reply(resp);
	*ret = (struct coord_view){.ready = resp_u32(reply->element[0]) != 0,
		.reported = resp_u32(reply->element[1]) != 0,
		.term = resp_u32(reply->element[3])};
	memcpy(ret->run, resp->run, sizeof(ret->run));
	take_leader(reply->element[2]->str, ret);
	for (size_t i = 0; i < n; i++) {
		const char *result = reply->element[4]->element[2 * i]->str;
		const char *cursor = reply->element[4]->element[2 * i + 1]->str;
		if (!result || !cursor ||
			sscanf(cursor, "%u:%u", &leases[i].ret_cursor.epoch,
				&leases[i].ret_cursor.position) != 2)
			return resp_bad_reply(resp);
		leases[i].error = strcmp(result, "OK") == 0	 ? 0
				  : strcmp(result, "EBUSY") == 0 ? -EBUSY
								 : -ENOENT;
	}
	return 0;
}

static int beat(void *context, const struct coord_node *self, uint32_t ttl_ms,
	struct coord_lease *leases, size_t n, struct coord_view *ret)
{
	struct coord_resp *resp = context;
	char value[COORD_ADDRESS + 64];
	redisReply *reply;
	int err = resp_connect(resp); /* the life is one of the words */
	if (err)
		return err;
	snprintf(value, sizeof(value), "%" PRIx64 " %.17g %s", self->incarnation,
		self->capacity, self->address);
	struct resp_words words = resp_function(resp, "joaderfs_2_beat", 7 + 4 * n);
	resp_number(&words, COORD_VERSION);
	resp_text(&words, self->name);
	resp_hex(&words, self->incarnation);
	resp_text(&words, value);
	resp_number(&words, ttl_ms);
	resp_text(&words, resp->run);
	resp_hex(&words, self->before);
	for (size_t i = 0; i < n; i++) {
		resp_text(&words, leases[i].job);
		resp_number(&words, leases[i].rank);
		resp_number(&words, leases[i].cursor.epoch);
		resp_number(&words, leases[i].cursor.position);
	}
	err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	err = take_beat(resp, reply, leases, n, ret);
	freeReplyObject(reply);
	return err;
}

static int release(
	void *context, const struct coord_node *self, const char *job, uint32_t rank)
{
	struct coord_resp *resp = context;
	struct resp_words words = resp_function(resp, "joaderfs_2_release", 4);
	resp_text(&words, self->name);
	resp_hex(&words, self->incarnation);
	if (job) {
		resp_text(&words, job);
		resp_number(&words, rank);
	}
	return resp_do(resp, &words);
}

static int by_name(const void *a, const void *b)
{
	const struct coord_node *one = a, *other = b;
	bool live = one->incarnation != 0, other_lives = other->incarnation != 0;
	if (live != other_lives)
		return live ? -1 : 1;
	return strcmp(one->name, other->name);
}

static int members(
	void *context, struct coord_node **ret, size_t *ret_n, size_t *ret_live)
{
	struct coord_resp *resp = context;
	redisReply *reply;
	struct resp_words words = resp_function(resp, "joaderfs_2_members", 0);
	int err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	size_t n = reply->elements / 2, live = 0;
	struct coord_node *list = calloc(n + 1, sizeof(*list));
	if (!list)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		const redisReply *name = reply->element[2 * i],
				 *value = reply->element[2 * i + 1];
		snprintf(list[i].name, sizeof(list[i].name), "%s", name->str);
		live += sscanf(value->str, "%" SCNx64 " %lf %127[^\n]",
				&list[i].incarnation, &list[i].capacity,
				list[i].address) >= 1;
	}
	freeReplyObject(reply);
	if (err)
		return err;
	qsort(list, n, sizeof(*list), by_name);
	*ret = list;
	*ret_n = n;
	*ret_live = live;
	return 0;
}

/* --- jobs ------------------------------------------------------------------------------- */

/* dataset n fingerprint ranks batch kind epoch next, as the group has them */
static int tell_difference(struct coord_resp *resp, const redisReply *reply,
	const struct coord_job *job, char differs[COORD_TEXT])
{
	if (!resp_is_array(reply, 8))
		return resp_bad_reply(resp);
	for (size_t i = 0; i < 8; i++)
		if (!reply->element[i]->str)
			return resp_bad_reply(resp);
	struct coord_job there = {.dataset = reply->element[0]->str,
		.fingerprint = strtoull(reply->element[2]->str, NULL, 16),
		.ranks = resp_u32(reply->element[3]),
		.batch = resp_u32(reply->element[4]),
		.kind = (enum sampler_kind)resp_u32(reply->element[5])};
	bool differ =
		coord_facts_differ(job, &there, resp_u32(reply->element[1]), differs) ||
		coord_is_behind(job, resp_u32(reply->element[6]),
			resp_u32(reply->element[7]), differs);
	return differ ? -EINVAL : resp_bad_reply(resp);
}

static int enter(void *context, const char *node, const struct coord_job *job,
	char differs[COORD_TEXT])
{
	struct coord_resp *resp = context;
	redisReply *reply;
	size_t size = roaring_bitmap_portable_size_in_bytes(job->ids);
	auto_free char *ids = malloc(size);
	if (!ids)
		return -ENOMEM;
	roaring_bitmap_portable_serialize(job->ids, ids);
	struct coord_append log;
	int err = coord_log_parts(job, &log);
	if (err)
		return err;
	auto_free sample_id *joined = resp_join(&log);
	coord_log_parts_free(&log);
	if (!joined)
		return -ENOMEM;
	struct resp_words words = resp_function(resp, "joaderfs_2_enter", 12);
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
	resp_bytes(&words, joined, job->n_log * sizeof(*joined));
	err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	if (reply->elements)
		err = tell_difference(resp, reply, job, differs);
	freeReplyObject(reply);
	return err;
}

static int leave(void *context, const char *node, const char *job)
{
	struct coord_resp *resp = context;
	struct resp_words words = resp_function(resp, "joaderfs_2_leave", 2);
	resp_text(&words, node);
	resp_text(&words, job);
	return resp_do(resp, &words);
}

/* {rank cursor ...} and "<incarnation> ..." */
static int take_ranks(
	const redisReply *cursors, const char *owners, struct coord_engine_job *ret)
{
	char *end = NULL;
	ret->cursors = calloc(ret->ranks, sizeof(*ret->cursors));
	ret->owners = calloc(ret->ranks, sizeof(*ret->owners));
	if (!ret->cursors || !ret->owners) {
		free(ret->cursors);
		free(ret->owners);
		return -ENOMEM;
	}
	for (size_t i = 0; i + 1 < cursors->elements; i += 2) {
		uint32_t rank = resp_u32(cursors->element[i]);
		if (rank < ret->ranks && cursors->element[i + 1]->str)
			(void)sscanf(cursors->element[i + 1]->str, "%u:%u",
				&ret->cursors[rank].epoch, &ret->cursors[rank].position);
	}
	for (uint32_t i = 0; i < ret->ranks; i++, owners = end)
		ret->owners[i] = strtoull(owners, &end, 16);
	return 0;
}

/* name {epoch next n ranks batch fingerprint} {rank cursor ...} owners */
static int take_job(const redisReply *reply, struct coord_engine_job *ret)
{
	if (!resp_is_array(reply, 4) || !resp_is_array(reply->element[1], 6) ||
		!reply->element[0]->str || !reply->element[3]->str ||
		!reply->element[1]->element[5]->str)
		return -EBADMSG;
	redisReply *const *state = reply->element[1]->element;
	*ret = (struct coord_engine_job){.epoch = resp_u32(state[0]),
		.next = resp_u32(state[1]),
		.n = resp_u32(state[2]),
		.ranks = resp_u32(state[3]),
		.batch = resp_u32(state[4]),
		.fingerprint = strtoull(state[5]->str, NULL, 16)};
	snprintf(ret->name, sizeof(ret->name), "%s", reply->element[0]->str);
	if (ret->ranks == 0 || ret->batch == 0)
		return -EBADMSG;
	return take_ranks(reply->element[2], reply->element[3]->str, ret);
}

static int jobs_by_name(const void *a, const void *b)
{
	return strcmp(((const struct coord_engine_job *)a)->name,
		((const struct coord_engine_job *)b)->name);
}

static int jobs(void *context, const char *run, struct coord_engine_jobs *ret)
{
	struct coord_resp *resp = context;
	redisReply *reply;
	*ret = (struct coord_engine_jobs){0};
	int err = resp_same_life(resp, run);
	if (err)
		return err;
	struct resp_words words = resp_function(resp, "joaderfs_2_jobs", 0);
	err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	ret->jobs = calloc(reply->elements + 1, sizeof(*ret->jobs));
	if (!ret->jobs)
		err = -ENOMEM;
	for (size_t i = 0; i < reply->elements && !err; i++) {
		err = take_job(reply->element[i], &ret->jobs[i]);
		ret->n += err == 0;
	}
	freeReplyObject(reply);
	if (err)
		coord_engine_jobs_free(ret);
	else
		qsort(ret->jobs, ret->n, sizeof(*ret->jobs), jobs_by_name);
	return err;
}

/* dataset fingerprint ranks batch kind ids */
static int facts(void *context, const char *job, struct coord_job *ret)
{
	struct coord_resp *resp = context;
	redisReply *reply;
	struct resp_words words = resp_function(resp, "joaderfs_2_facts", 1);
	resp_text(&words, job);
	int err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	if (!resp_is_array(reply, 6) || !reply->element[0]->str ||
		!reply->element[1]->str || !reply->element[5]->str) {
		freeReplyObject(reply);
		return resp_bad_reply(resp);
	}
	*ret = (struct coord_job){.name = strdup(job),
		.dataset = strdup(reply->element[0]->str),
		.fingerprint = strtoull(reply->element[1]->str, NULL, 16),
		.ranks = resp_u32(reply->element[2]),
		.batch = resp_u32(reply->element[3]),
		.kind = (enum sampler_kind)resp_u32(reply->element[4]),
		.ids = roaring_bitmap_portable_deserialize_safe(
			reply->element[5]->str, (size_t)reply->element[5]->len)};
	freeReplyObject(reply);
	if (ret->name && ret->dataset && ret->ids)
		return 0;
	coord_facts_free(ret);
	return -EBADMSG;
}

/* --- the leader ------------------------------------------------------------------------- */

static int elect(void *context, const struct coord_node *self, uint64_t random,
	uint32_t ttl_ms, struct coord_token *ret)
{
	struct coord_resp *resp = context;
	redisReply *reply;
	struct resp_words words = resp_function(resp, "joaderfs_2_elect", 4);
	resp_text(&words, self->name);
	resp_hex(&words, self->incarnation);
	resp_hex(&words, random);
	resp_number(&words, ttl_ms);
	int err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	*ret = (struct coord_token){(uint64_t)reply->integer, random};
	freeReplyObject(reply);
	return 0;
}

static int renew(void *context, const struct coord_node *self,
	const struct coord_token *token, uint32_t ttl_ms)
{
	struct coord_resp *resp = context;
	struct resp_words words = resp_function(resp, "joaderfs_2_renew", 3);
	resp_hex(&words, self->incarnation);
	resp_token(&words, token);
	resp_number(&words, ttl_ms);
	return resp_do(resp, &words);
}

/* --- its life --------------------------------------------------------------------------- */

static const struct coord_engine functions = {.beat = beat,
	.release = release,
	.members = members,
	.enter = enter,
	.leave = leave,
	.jobs = jobs,
	.facts = facts,
	.elect = elect,
	.renew = renew,
	.open = resp_open,
	.append = resp_append,
	.read = resp_read,
	.forget = resp_forget,
	.repair = resp_repair,
	.repaired = resp_repaired,
	.offers = resp_offers,
	.reported = resp_reported,
	.fill = resp_fill,
	.ready = resp_ready,
	.tell = resp_tell,
	.told = resp_told};

static bool is_end(const char *text)
{
	return *text == '\0';
}

/* redis://[:PASSWORD@]HOST[:PORT][/DB] */
static bool parse_host(const char *at, struct coord_resp *resp)
{
	int end = 0;
	if (sscanf(at, ":%127[^@]@%n", resp->password, &end) == 1 && end)
		at += end;
	end = 0;
	if (sscanf(at, "%255[^:/]%n", resp->host, &end) != 1)
		return false;
	at += end;
	resp->port = 6379;
	end = 0;
	if (*at == ':' && (sscanf(at, ":%5d%n", &resp->port, &end) != 1))
		return false;
	at += end;
	end = 0;
	if (*at == '/' && at[1] && sscanf(at, "/%4d%n", &resp->db, &end) != 1)
		return false;
	at += *at == '/' && !at[1] ? 1 : end;
	return is_end(at) && resp->port > 0 && resp->port < 65536 && resp->db >= 0;
}

/* redis+unix://PATH[?DB] */
static bool parse_path(const char *at, struct coord_resp *resp)
{
	int end = 0;
	if (*at != '/' || sscanf(at, "%107[^?]%n", resp->host, &end) != 1)
		return false;
	at += end;
	end = 0;
	if (*at == '?' && sscanf(at, "?%4d%n", &resp->db, &end) != 1)
		return false;
	return is_end(at + end) && resp->db >= 0;
}

static bool parse(const char *url, struct coord_resp *resp)
{
	static const char host[] = "redis://", path[] = "redis+unix://";
	if (strncmp(url, host, strlen(host)) == 0)
		return parse_host(url + strlen(host), resp);
	if (strncmp(url, path, strlen(path)) == 0)
		return parse_path(url + strlen(path), resp);
	return false;
}

int coord_resp_new(const char *url, const char *group, uint32_t timeout_ms,
	struct coord_resp **ret, char message[COORD_TEXT])
{
	struct coord_resp *resp = calloc(1, sizeof(*resp));
	if (!resp)
		return -ENOMEM;
	if (!parse(url, resp) || !coord_name_is_good(group)) {
		snprintf(message, COORD_TEXT,
			"engine '%s', group '%s': allowed are redis://HOST:PORT/DB and "
			"redis+unix://PATH, and a group of up to %d characters without "
			"spaces, braces and colons",
			url, group, COORD_NAME - 1);
		free(resp);
		return -EINVAL;
	}
	resp->engine = functions;
	resp->engine.context = resp;
	resp->timeout_ms = timeout_ms;
	snprintf(resp->group, sizeof(resp->group), "{%s}", group);
	*ret = resp;
	return 0;
}

void coord_resp_free(struct coord_resp **pointer)
{
	struct coord_resp *resp = *pointer;
	if (!resp)
		return;
	resp_close(resp);
	free(resp);
	*pointer = NULL;
}

const struct coord_engine *coord_resp_engine(struct coord_resp *resp)
{
	return &resp->engine;
}

#endif
