// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "cluster/coord_resp_internal.h"

#include "base/log.h"
#include "base/secret_file.h"
#include "cluster/coord_lua.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A connection begins: where to, as whom, with which functions. */

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
	return 0;
}

/* --- commands --------------------------------------------------------------------------- */

static int ask(struct coord_resp *resp, redisReply **ret, const char *a, const char *b,
	const char *c, const char *d)
{
	const char *const given[] = {a, b, c, d};
	struct resp_words words = resp_begin(4);
	for (size_t i = 0; i < 4 && given[i]; i++)
		resp_text(&words, given[i]);
	return resp_ask(resp, &words, ret);
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

/* --- as whom ---------------------------------------------------------------------------- */

int resp_read_password(struct coord_resp *resp)
{
	static const char key[] = "engine_password_file";
	struct coord_url *url = &resp->url;
	size_t n;
	int err = secret_file_read(
		key, resp->password_file, url->password, sizeof(url->password), &n);
	if (err)
		return err;
	if (n == 0 || n == sizeof(url->password) || memchr(url->password, '\0', n)) {
		log_error("[cluster]:%s: %s: not a password; allowed: 1 to %zu bytes, "
			  "none of them 0",
			key, resp->password_file, sizeof(url->password) - 1);
		return -EINVAL;
	}
	url->password[n] = '\0';
	url->has_password = true;
	return 0;
}

static int log_in(struct coord_resp *resp)
{
	const struct coord_url *url = &resp->url;
	int err = resp->password_file ? resp_read_password(resp) : 0;
	if (err || (!url->has_password && !url->user[0]))
		return err;
	return url->user[0] ? tell(resp, "AUTH", url->user, url->password, NULL)
			    : tell(resp, "AUTH", url->password, NULL, NULL);
}

/* --- what is there ---------------------------------------------------------------------- */

static int learn_run(struct coord_resp *resp)
{
	redisReply *reply;
	int err = ask(resp, &reply, "INFO", "server", NULL, NULL);
	if (err)
		return err;
	const char *at =
		reply->type == REDIS_REPLY_STRING ? strstr(reply->str, "run_id:") : NULL;
	bool good = at && sscanf(at, "run_id:%47[0-9a-zA-Z]", resp->run) == 1;
	return resp_end(resp, reply, good ? 0 : -EBADE);
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
		err = tell(resp, "FUNCTION", "LOAD", "REPLACE", coord_lua);
	if (!err)
		err = learn_run(resp);
	return err;
}

static int try_host(struct coord_resp *resp, const struct coord_host *host)
{
	int err = connect_to(resp, host);
	if (!err)
		err = greet(resp);
	if (err)
		resp_close(resp);
	else
		resp->told = false;
	return err;
}

int resp_connect(struct coord_resp *resp)
{
	int err = 0;
	if (resp->link)
		return 0;
	if (resp->moved.port) {
		struct coord_host moved = resp->moved;
		resp->moved.port = 0; /* perhaps it is back where it was, if this fails */
		err = try_host(resp, &moved);
		if (!err)
			resp->moved = moved;
		return err;
	}
	for (size_t i = 0; i < resp->url.n; i++) {
		size_t at = (resp->host + i) % resp->url.n;
		err = try_host(resp, &resp->url.hosts[at]);
		if (err)
			continue;
		resp->host = at;
		return 0;
	}
	return err;
}

#endif
