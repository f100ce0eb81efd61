// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_resp.h"

#include <errno.h>
#include <stdio.h>

#ifndef HAVE_HIREDIS

int coord_resp_new(const struct coord_server *server, const char *group,
	uint32_t timeout_ms, struct coord_resp **ret, char message[COORD_TEXT])
{
	(void)server, (void)group, (void)timeout_ms, (void)ret;
	snprintf(message, COORD_TEXT, "joaderfs was built without hiredis");
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

int coord_resp_look(struct coord_resp *resp, char said[COORD_TEXT])
{
	(void)resp, (void)said;
	return -ENOTSUP;
}

int coord_resp_drop(struct coord_resp *resp, const char *name, char said[COORD_TEXT])
{
	(void)resp, (void)name, (void)said;
	return -ENOTSUP;
}

int coord_resp_resize(struct coord_resp *resp, const char *job, uint32_t ranks,
	uint32_t local_ranks, char said[COORD_TEXT])
{
	(void)resp, (void)job, (void)ranks, (void)local_ranks, (void)said;
	return -ENOTSUP;
}

bool coord_policy_evicts(const char *policy)
{
	(void)policy;
	return false;
}

#else

#include "coord/coord_facts.h"
#include "coord/coord_resp_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The engine's functions for leases of nodes, of the leader, and of ranks. */

/* --- nodes ------------------------------------------------------------------------------ */

/* reply: "<incarnation> <node>"; "": there is no leader */
static bool take_leader(const redisReply *reply, struct coord_view *view)
{
	const char *at = reply->str;
	if (!resp_is_text(reply, COORD_NAME + 32))
		return false;
	if (!*at)
		return true;
	if (!resp_take_hex_at(&at, &view->leader) || *at++ != ' ' ||
		!coord_name_is_good(at))
		return false;
	strcpy(view->leader_name, at);
	return true;
}

static bool take_lease(
	const redisReply *result, const redisReply *cursor, struct coord_lease *ret)
{
	if (!resp_is_text(result, 16) || !resp_take_position(cursor, &ret->ret_cursor))
		return false;
	ret->error = strcmp(result->str, "EBUSY") == 0	  ? -EBUSY
		     : strcmp(result->str, "ENOENT") == 0 ? -ENOENT
							  : 0;
	return ret->error || strcmp(result->str, "OK") == 0;
}

/* Reads the reply to a heartbeat into a view. reply: an array of ready, reported, leader, term,
 * {the result and the cursor of each lease}, renewed, news, look (struct coord_view). */
static int take_view(const struct coord_resp *resp, const redisReply *reply,
	struct coord_lease *leases, size_t n, struct coord_view *ret)
{
	*ret = (struct coord_view){0};
	if (!resp_is_array(reply, 8) || !resp_take_flag(reply->element[0], &ret->ready) ||
		!resp_take_flag(reply->element[1], &ret->reported) ||
		!take_leader(reply->element[2], ret) ||
		!resp_take_u64(reply->element[3], INT64_MAX, &ret->term) ||
		!resp_take_flag(reply->element[5], &ret->renewed) ||
		!resp_take_u64(reply->element[6], INT64_MAX, &ret->news))
		return -EBADE;
	const redisReply *results = reply->element[4];
	if (!resp_is_array(results, 2 * n))
		return -EBADE;
	for (size_t i = 0; i < n; i++)
		if (!take_lease(results->element[2 * i], results->element[2 * i + 1],
			    &leases[i]))
			return -EBADE;
	memcpy(ret->run, resp->run, sizeof(ret->run));
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct coord_node *one = a, *other = b;
	bool live = one->incarnation != 0, other_lives = other->incarnation != 0;
	if (live != other_lives)
		return live ? -1 : 1;
	return strcmp(one->name, other->name);
}

/* reply: "<incarnation> <capacity> <address>"; "": the node is not live */
static bool take_node(const redisReply *reply, struct coord_node *ret)
{
	const char *at = reply->str;
	char *end;
	if (!resp_is_text(reply, COORD_ADDRESS + 64))
		return false;
	if (!*at)
		return true;
	if (!resp_take_hex_at(&at, &ret->incarnation) || ret->incarnation == 0 ||
		*at != ' ')
		return false;
	ret->capacity = strtod(at, &end);
	if (end == at || *end != ' ' || !(ret->capacity > 0 && ret->capacity < 1e9))
		return false;
	at = end + 1;
	if (strlen(at) >= sizeof(ret->address) || !coord_text_is_plain(at))
		return false;
	strcpy(ret->address, at);
	return true;
}

/* reply: an array of name, node, name, node ... */
static int take_members(const redisReply *reply, struct coord_look *ret)
{
	if (!resp_is_array(reply, 0) || reply->elements % 2)
		return -EBADE;
	size_t n = reply->elements / 2;
	struct coord_node *list = calloc(n + 1, sizeof(*list));
	bool good = true;
	ret->n = n;
	ret->live = 0;
	for (size_t i = 0; i < n && list && good; i++) {
		good = resp_take_name(reply->element[2 * i], list[i].name) &&
		       take_node(reply->element[2 * i + 1], &list[i]);
		ret->live += list[i].incarnation != 0;
	}
	if (!list || !good) {
		free(list);
		return list ? -EBADE : -ENOMEM;
	}
	qsort(list, n, sizeof(*list), by_name);
	ret->members = list;
	return 0;
}

/* reply: an array of the members and the jobs */
static int take_look(const redisReply *reply, struct coord_look *ret)
{
	if (!resp_is_array(reply, 2))
		return -EBADE;
	int err = take_members(reply->element[0], ret);
	return err ? err : resp_take_jobs(reply->element[1], &ret->jobs);
}

static int beat(void *context, const struct coord_beat *beat, struct coord_view *ret)
{
	struct coord_resp *resp = context;
	const struct coord_node *self = beat->self;
	char value[COORD_ADDRESS + 64];
	redisReply *reply;
	/* The command has the server's run_id, which is known only after connecting. */
	int err = resp_connect(resp);
	if (err)
		return err;
	snprintf(value, sizeof(value), "%" PRIx64 " %.17g %s", self->incarnation,
		self->capacity, self->address);
	struct resp_words words = resp_function(resp, "joaderfs_2_beat", 9 + 4 * beat->n);
	resp_number(&words, COORD_VERSION);
	resp_text(&words, self->name);
	resp_hex(&words, self->incarnation);
	resp_text(&words, value);
	resp_number(&words, beat->ttl_ms);
	resp_text(&words, resp->run);
	resp_hex(&words, self->before);
	for (size_t i = 0; i < beat->n; i++) {
		resp_text(&words, beat->leases[i].job);
		resp_number(&words, beat->leases[i].rank);
		resp_number(&words, beat->leases[i].cursor.epoch);
		resp_number(&words, beat->leases[i].cursor.position);
	}
	if (beat->token)
		resp_token(&words, beat->token);
	else
		resp_text(&words, "");
	resp_number(&words, beat->look != NULL);
	err = resp_call(resp, &words, &reply);
	if (err)
		return err;
	err = take_view(resp, reply, beat->leases, beat->n, ret);
	if (!err && beat->look)
		err = take_look(reply->element[7], beat->look);
	/* The engine may have lost logs, so the lists of their chunks (coord_resp_read.c) may be
	 * wrong. */
	if (!err && !ret->ready)
		resp_forget_chunks(resp);
	return resp_end(resp, reply, err);
}

static int release(
	void *context, const struct coord_node *self, const char *job, uint32_t rank)
{
	struct resp_words words = resp_function(context, "joaderfs_2_release", 4);
	resp_text(&words, self->name);
	resp_hex(&words, self->incarnation);
	if (job) {
		resp_text(&words, job);
		resp_number(&words, rank);
	}
	return resp_do(context, &words);
}

/* --- the leader ------------------------------------------------------------------------- */

static int elect(void *context, const struct coord_node *self, uint64_t random,
	uint32_t ttl_ms, struct coord_token *ret)
{
	redisReply *reply;
	struct resp_words words = resp_function(context, "joaderfs_2_elect", 4);
	resp_text(&words, self->name);
	resp_hex(&words, self->incarnation);
	resp_hex(&words, random);
	resp_number(&words, ttl_ms);
	int err = resp_call(context, &words, &reply);
	if (err)
		return err;
	ret->random = random;
	bool good = resp_take_u64(reply, INT64_MAX, &ret->term);
	return resp_end(context, reply, good ? 0 : -EBADE);
}

static const char *asked(void *context)
{
	const struct coord_resp *resp = context;
	return resp->asked;
}

static const char *refused(void *context)
{
	const struct coord_resp *resp = context;
	return resp->refused;
}

static const struct coord_engine functions = {.beat = beat,
	.release = release,
	.enter = resp_enter,
	.leave = resp_leave,
	.jobs = resp_jobs,
	.facts = resp_facts,
	.elect = elect,
	.open = resp_open,
	.append = resp_append,
	.read = resp_read,
	.forget = resp_forget,
	.mend = resp_mend,
	.repair = resp_repair,
	.repaired = resp_repaired,
	.offers = resp_offers,
	.reported = resp_reported,
	.fill = resp_fill,
	.ready = resp_ready,
	.tell = resp_tell,
	.told = resp_told,
	.asked = asked,
	.refused = refused};

/* Takes the password from the URL or the file (not both), or else from the environment. */
static int find_password(struct coord_resp *resp, char *message)
{
	struct coord_url *url = &resp->url;
	const char *given = getenv("JOADERFS_ENGINE_PASSWORD");
	bool has_file = resp->server.password_file;
	if (has_file && url->has_password) {
		snprintf(message, COORD_TEXT,
			"has a password, and engine_password_file is set, too; allowed: "
			"only one of them");
		return -EINVAL;
	}
	if (has_file)
		return resp_read_password(resp, message);
	if (url->has_password || !given)
		return 0;
	if (strlen(given) >= sizeof(url->password)) {
		snprintf(message, COORD_TEXT,
			"JOADERFS_ENGINE_PASSWORD has more than %zu bytes",
			sizeof(url->password) - 1);
		return -EINVAL;
	}
	strcpy(url->password, given);
	url->has_password = true;
	return 0;
}

static int check_files(const struct coord_resp *resp, char *message)
{
	const struct coord_server *server = &resp->server;
	const char *key = server->ca	 ? "engine_ca"
			  : server->cert ? "engine_cert"
			  : server->key	 ? "engine_key"
					 : NULL;
	if (!resp->url.tls && !key)
		return 0;
	if (!resp->url.tls || !server->cert != !server->key) {
		snprintf(message, COORD_TEXT, "%s%s", resp->url.tls ? "" : key,
			resp->url.tls ? "engine_cert and engine_key belong together"
				      : " is only for rediss:// and rediss-sentinel://");
		return -EINVAL;
	}
	return coord_tls_check(server, message);
}

static int find_server(struct coord_resp *resp, const char *group, char *message)
{
	char why[COORD_URL_MESSAGE];
	if (coord_url_parse(resp->server.url, &resp->url, why) != 0) {
		snprintf(message, COORD_TEXT, "%s; allowed: %s", why, COORD_URL_RULE);
		return -EINVAL;
	}
	if (!coord_name_is_good(group)) {
		snprintf(message, COORD_TEXT,
			"group '%s'; allowed: up to %d characters without spaces, braces "
			"and colons",
			group, COORD_NAME - 1);
		return -EINVAL;
	}
	snprintf(resp->group, sizeof(resp->group), "{%s}", group);
	int err = find_password(resp, message);
	return err ? err : check_files(resp, message);
}

int coord_resp_new(const struct coord_server *server, const char *group,
	uint32_t timeout_ms, struct coord_resp **ret, char message[COORD_TEXT])
{
	struct coord_resp *resp = calloc(1, sizeof(*resp));
	if (!resp)
		return -ENOMEM;
	resp->server = *server;
	int err = find_server(resp, group, message);
	if (err) {
		coord_resp_free(&resp);
		return err;
	}
	resp->engine = functions;
	resp->engine.context = resp;
	resp->timeout_ms = timeout_ms;
	resp->most = RESP_MOST_BYTES;
	*ret = resp;
	return 0;
}

void coord_resp_free(struct coord_resp **pointer)
{
	struct coord_resp *resp = *pointer;
	if (!resp)
		return;
	resp_close(resp);
	explicit_bzero(resp, sizeof(*resp));
	free(resp);
	*pointer = NULL;
}

const struct coord_engine *coord_resp_engine(struct coord_resp *resp)
{
	return &resp->engine;
}

#endif
