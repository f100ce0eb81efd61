// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "coord/coord_resp_internal.h"

#include "base/log.h"
#include "coord/coord_lua.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes a connection: finds the server, logs in, and loads the library. */

#define LETTERS "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"

static struct timeval timeout_of(const struct coord_resp *resp)
{
	return (struct timeval){.tv_sec = resp->timeout_ms / 1000,
		.tv_usec = (suseconds_t)(resp->timeout_ms % 1000) * 1000};
}

static int connect_to(struct coord_resp *resp, const struct coord_host *host)
{
	struct timeval timeout = timeout_of(resp);
	errno = 0;
	resp->link = host->port ? redisConnectWithTimeout(host->name, host->port, timeout)
				: redisConnectUnixWithTimeout(host->name, timeout);
	if (!resp->link)
		return -ENOMEM;
	if (resp->link->err)
		return resp_network_error(resp->link);
	(void)redisSetTimeout(resp->link, timeout);
	resp_count(resp);
	if (!resp->url.tls)
		return 0;
	return coord_tls_connect(&resp->server, resp->link->fd, host->name,
		resp->timeout_ms, &resp->tls, resp->refused);
}

/* --- commands --------------------------------------------------------------------------- */

static int ask(struct coord_resp *resp, redisReply **ret, const char *a, const char *b,
	const char *c, const char *d)
{
	const char *const given[] = {a, b, c, d};
	struct resp_words words = resp_begin(4);
	for (size_t i = 0; i < 4 && given[i]; i++)
		resp_text(&words, given[i]);
	return resp_ask(resp, &words, NULL, ret);
}

static int tell(struct coord_resp *resp, const char *a, const char *b, const char *c,
	const char *d)
{
	redisReply *reply;
	int err = ask(resp, &reply, a, b, c, d);
	if (!err)
		freeReplyObject(reply);
	return err;
}

/* --- login ------------------------------------------------------------------------------ */

int resp_read_password(struct coord_resp *resp, char message[SECRET_FILE_MESSAGE])
{
	static const char key[] = "engine_password_file";
	struct coord_url *url = &resp->url;
	size_t n;
	int err = secret_file_read(key, resp->server.password_file, url->password,
		sizeof(url->password), &n, message);
	if (err)
		return err;
	if (n == 0 || n == sizeof(url->password) || memchr(url->password, '\0', n)) {
		snprintf(message, SECRET_FILE_MESSAGE,
			"%s: %.80s: not a password; allowed: 1 to %zu bytes, "
			"none of them 0",
			key, resp->server.password_file, sizeof(url->password) - 1);
		return -EINVAL;
	}
	url->password[n] = '\0';
	url->has_password = true;
	return 0;
}

static int log_in(struct coord_resp *resp)
{
	const struct coord_url *url = &resp->url;
	char message[SECRET_FILE_MESSAGE];
	if (resp->server.password_file && resp_read_password(resp, message)) {
		snprintf(resp->refused, sizeof(resp->refused), "gets no password: %s",
			message);
		return -ENOKEY;
	}
	if (!url->has_password && !url->user[0])
		return 0;
	return url->user[0] ? tell(resp, "AUTH", url->user, url->password, NULL)
			    : tell(resp, "AUTH", url->password, NULL, NULL);
}

/* --- the server ------------------------------------------------------------------------- */

/* Checks that the server is a master; otherwise -EROFS. A replica refuses changes, or loses them
 * when its master overwrites them. */
static int check_role(struct coord_resp *resp)
{
	redisReply *reply;
	int err = ask(resp, &reply, "ROLE", NULL, NULL, NULL);
	if (err)
		return err;
	bool good = resp_is_array(reply, 1) && resp_is_text(reply->element[0], 32);
	if (good && strcmp(reply->element[0]->str, "master") != 0) {
		snprintf(resp->refused, sizeof(resp->refused),
			"is a %s, allowed: a master", reply->element[0]->str);
		err = -EROFS;
	}
	return resp_end(resp, reply, good ? err : -EBADE);
}

/* Copies to `ret` the value that follows `name` in `info`, the reply to INFO. Returns false if the
 * value is missing or too long. */
static bool take_fact(const char *info, const char *name, char *ret, size_t size)
{
	const char *at = strstr(info, name);
	size_t n = at ? strspn(at + strlen(name), LETTERS) : 0;
	if (n == 0 || n >= size)
		return false;
	memcpy(ret, at + strlen(name), n);
	ret[n] = '\0';
	return true;
}

static void note_policy(struct coord_resp *resp, const char *info)
{
	char policy[sizeof(resp->policy)] = "";
	(void)take_fact(info, "maxmemory_policy:", policy, sizeof(policy));
	if (strcmp(policy, resp->policy) == 0)
		return;
	strcpy(resp->policy, policy);
	if (coord_policy_evicts(policy) && !resp->looks)
		log_warn("cluster: the engine's server may evict any key "
			 "(maxmemory-policy %s), and each evicted log has to be repaired "
			 "from the nodes' journals; allowed: noeviction or volatile-*",
			policy);
}

static int learn_facts(struct coord_resp *resp)
{
	redisReply *reply;
	int err = ask(resp, &reply, "INFO", "server", "memory", NULL);
	if (err)
		return err;
	const char *info = reply->type == REDIS_REPLY_STRING ? reply->str : "";
	bool good = take_fact(info, "run_id:", resp->run, sizeof(resp->run));
	if (good)
		note_policy(resp, info);
	return resp_end(resp, reply, good ? 0 : -EBADE);
}

/* Sets *ret to the revision of the server's library; 0: the server has no library. */
static int ask_revision(struct coord_resp *resp, uint64_t *ret)
{
	static const char none[] = "ERR Function not found";
	struct resp_words words = resp_function(resp, "joaderfs_2_revision", 0);
	redisReply *reply;
	int err = resp_ask(resp, &words, none, &reply);
	*ret = 0;
	if (err)
		return err;
	bool good =
		reply->type == REDIS_REPLY_ERROR || resp_take_u64(reply, INT64_MAX, ret);
	return resp_end(resp, reply, good ? 0 : -EBADE);
}

static uint64_t own_revision(void)
{
	static const char name[] = "local REVISION = ";
	return strtoull(strstr(coord_lua, name) + strlen(name), NULL, 10);
}

/* Loads the library if the server's library is missing or older. If an administrator has loaded the
 * library, the node's user needs no right to load it. */
static int load_library(struct coord_resp *resp)
{
	uint64_t revision;
	int err = ask_revision(resp, &revision);
	if (err || resp->looks || revision >= own_revision())
		return err;
	return tell(resp, "FUNCTION", "LOAD", "REPLACE", coord_lua);
}

static int greet(struct coord_resp *resp)
{
	int err = log_in(resp);
	if (!err && resp->url.db) {
		char number[16];
		snprintf(number, sizeof(number), "%d", resp->url.db);
		err = tell(resp, "SELECT", number, NULL, NULL);
	}
	if (!err)
		err = check_role(resp);
	if (!err)
		err = load_library(resp);
	if (!err)
		err = learn_facts(resp);
	return err;
}

static int try_host(struct coord_resp *resp, const struct coord_host *host)
{
	int err = connect_to(resp, host);
	if (!err)
		err = greet(resp);
	if (err)
		resp_close(resp);
	return err;
}

/* --- Sentinels -------------------------------------------------------------------------- */

/* Returns the value of the field `name`; NULL: the value is missing, or no text. reply: an array of
 * field, value, field, value ... */
static const char *field_of(const redisReply *reply, const char *name)
{
	for (size_t i = 0; i + 1 < reply->elements; i += 2)
		if (resp_is_text(reply->element[i], 64) &&
			strcmp(reply->element[i]->str, name) == 0 &&
			resp_is_text(reply->element[i + 1], COORD_URL_TEXT))
			return reply->element[i + 1]->str;
	return NULL;
}

static int refuse_master(struct coord_resp *resp, const char *why)
{
	snprintf(resp->refused, sizeof(resp->refused), "refuses SENTINEL: %s '%.64s'",
		why, resp->url.master);
	return -EHOSTUNREACH;
}

static int take_master(
	struct coord_resp *resp, const redisReply *reply, struct coord_host *ret)
{
	if (reply->type == REDIS_REPLY_ERROR)
		return refuse_master(resp, "no master");
	if (!resp_is_array(reply, 0))
		return -EBADE;
	const char *ip = field_of(reply, "ip"), *port = field_of(reply, "port"),
		   *flags = field_of(reply, "flags");
	if (!ip || !port || !flags)
		return -EBADE;
	/* The old master may still call itself the master during a failover. */
	if (strstr(flags, "down") || strstr(flags, "failover"))
		return refuse_master(resp, "another server is becoming the master");
	strcpy(ret->name, ip);
	ret->port = (int)strtol(port, NULL, 10);
	return ret->port > 0 && ret->port <= UINT16_MAX ? 0 : -EBADE;
}

/* Asks a Sentinel for the master's address. Each connection asks again, because a former master may
 * not know that it was replaced. */
static int find_master(struct coord_resp *resp, const struct coord_host *sentinel,
	struct coord_host *ret)
{
	redisReply *reply;
	int err = connect_to(resp, sentinel);
	if (!err) {
		struct resp_words words = resp_begin(3);
		resp_text(&words, "SENTINEL");
		resp_text(&words, "master");
		resp_text(&words, resp->url.master);
		err = resp_ask(resp, &words, "ERR No such master", &reply);
	}
	if (!err) {
		err = take_master(resp, reply, ret);
		freeReplyObject(reply);
	}
	resp_close(resp);
	return err;
}

static int try_one(struct coord_resp *resp, const struct coord_host *host)
{
	struct coord_host master;
	if (!resp->url.master[0])
		return try_host(resp, host);
	int err = find_master(resp, host, &master);
	return err ? err : try_host(resp, &master);
}

/* --- connecting ------------------------------------------------------------------------- */

static int connect_anywhere(struct coord_resp *resp)
{
	int err = 0;
	resp->refused[0] = '\0';
	if (resp->moved.port) {
		struct coord_host moved = resp->moved;
		/* If this connection fails, the next call tries the URL's servers, to which the
		 * keys may have moved back. */
		resp->moved.port = 0;
		err = try_host(resp, &moved);
		if (!err)
			resp->moved = moved;
		return err;
	}
	for (size_t i = 0; i < resp->url.n; i++) {
		size_t at = (resp->host + i) % resp->url.n;
		err = try_one(resp, &resp->url.hosts[at]);
		if (err)
			continue;
		resp->host = at;
		return 0;
	}
	return err;
}

/* Returns -ECONNRESET instead of an errno to which coord_engine.h gives a meaning: a failed
 * connection must not look like a missing job, for example. */
static int as_no_fence(int err)
{
	static const int fences[] = {
		ESTALE, EBUSY, EEXIST, EPROTO, ENOENT, EAGAIN, EINVAL, EBADMSG};
	for (size_t i = 0; i < sizeof(fences) / sizeof(fences[0]); i++)
		if (err == -fences[i])
			return -ECONNRESET;
	return err;
}

int resp_connect(struct coord_resp *resp)
{
	return resp->link ? 0 : as_no_fence(connect_anywhere(resp));
}

/* --- for joaderctl doctor --------------------------------------------------------------- */

bool coord_policy_evicts(const char *policy)
{
	return strncmp(policy, "allkeys-", strlen("allkeys-")) == 0;
}

int coord_resp_look(struct coord_resp *resp, char policy[COORD_TEXT])
{
	resp->looks = true;
	int err = resp_connect(resp);
	snprintf(policy, COORD_TEXT, "%s", err ? resp->refused : resp->policy);
	return err;
}

#endif
