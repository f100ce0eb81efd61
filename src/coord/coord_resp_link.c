// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "coord/coord_resp_internal.h"

#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends commands over the connection, and converts errors to errno values. */

#define NUMBER_SIZE 48 /* bytes of a number or a token in a command, including the \0 */

/* --- words of a command ----------------------------------------------------------------- */

struct resp_words resp_begin(size_t most)
{
	struct resp_words words = {.room = most,
		.word = calloc(most, sizeof(*words.word)),
		.length = calloc(most, sizeof(*words.length)),
		.numbers = calloc(most, NUMBER_SIZE)};
	if (!words.word || !words.length || !words.numbers)
		words.err = -ENOMEM;
	return words;
}

static void end_words(struct resp_words *words)
{
	free(words->word);
	free(words->length);
	free(words->numbers);
	*words = (struct resp_words){0};
}

void resp_bytes(struct resp_words *words, const void *bytes, size_t length)
{
	if (!words->err && words->n == words->room)
		words->err = -ENOMEM;
	if (words->err)
		return;
	words->word[words->n] = bytes;
	words->length[words->n++] = length;
}

void resp_text(struct resp_words *words, const char *text)
{
	resp_bytes(words, text, strlen(text));
}

static char *number_of(struct resp_words *words)
{
	static char nowhere[NUMBER_SIZE];
	bool full = words->err || words->n == words->room;
	return full ? nowhere : words->numbers + words->n * NUMBER_SIZE;
}

void resp_number(struct resp_words *words, uint64_t number)
{
	char *text = number_of(words);
	snprintf(text, NUMBER_SIZE, "%" PRIu64, number);
	resp_text(words, text);
}

void resp_hex(struct resp_words *words, uint64_t number)
{
	char *text = number_of(words);
	snprintf(text, NUMBER_SIZE, "%" PRIx64, number);
	resp_text(words, text);
}

void resp_token(struct resp_words *words, const struct coord_token *token)
{
	char *text = number_of(words);
	snprintf(text, NUMBER_SIZE, "%" PRIu64 ":%" PRIx64, token->term, token->random);
	resp_text(words, text);
}

struct resp_words resp_function(struct coord_resp *resp, const char *name, size_t most)
{
	struct resp_words words = resp_begin(most + 4);
	resp_text(&words, "FCALL");
	resp_text(&words, name);
	resp_text(&words, "1");
	resp_text(&words, resp->group);
	return words;
}

struct resp_words resp_function_in(
	struct coord_resp *resp, const char *run, const char *name, size_t most)
{
	struct resp_words words = resp_function(resp, name, most);
	resp_text(&words, run);
	if (!words.err)
		words.err = resp_same_life(resp, run);
	return words;
}

/* --- errors ----------------------------------------------------------------------------- */

void resp_close(struct coord_resp *resp)
{
	coord_tls_free(&resp->tls);
	if (resp->link)
		redisFree(resp->link);
	resp->link = NULL;
	resp->run[0] = '\0';
	resp_forget_chunks(resp);
}

int resp_network_error(const redisContext *link)
{
	if (link->err == REDIS_ERR_OOM)
		return -ENOMEM;
	if (link->err != REDIS_ERR_IO)
		return -ECONNRESET;
	switch (errno) {
	case EAGAIN:
	case EINPROGRESS:
		return -ETIMEDOUT;
	case ENOENT:
	case 0:
		return -ECONNREFUSED;
	default:
		return -errno;
	}
}

/* If the error `text` is "MOVED SLOT HOST:PORT", sets resp->moved to HOST and PORT, and returns
 * true. HOST may contain colons. Returns false for other errors. */
static bool note_moved(struct coord_resp *resp, const char *text)
{
	struct coord_host to = {.port = 0};
	int begin = 0;
	const char *colon = strrchr(text, ':');
	if (sscanf(text, "MOVED %*u %n", &begin) != 0 || !begin || !colon ||
		colon <= text + begin || colon - text - begin >= (long)sizeof(to.name) ||
		sscanf(colon, ":%5d", &to.port) != 1 || to.port <= 0 ||
		to.port > UINT16_MAX)
		return false;
	memcpy(to.name, text + begin, (size_t)(colon - text - begin));
	resp->moved = to;
	return true;
}

static int fence_error(const char *text)
{
	static const struct {
		const char *name;
		int error;
	} errors[] = {{"ESTALE ", -ESTALE}, {"EBUSY ", -EBUSY}, {"EEXIST ", -EEXIST},
		{"EPROTO ", -EPROTO}, {"ENOENT ", -ENOENT}, {"EAGAIN ", -EAGAIN}};
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strncmp(text, errors[i].name, strlen(errors[i].name)) == 0)
			return errors[i].error;
	return 0;
}

/* COMMANDS lists the rights that the engine's user needs, beside access to the group's keys.
 * coord.lua and coord_resp*.c use no other commands. */
#define COMMANDS                                                                         \
	"+fcall +info +role +select +function|load +xrange +getrange +get +set +del "    \
	"+unlink "                                                                       \
	"+exists +pexpire +pttl +incr +mget +hset +hget +hmget +hgetall +hvals +sadd "   \
	"+srem "                                                                         \
	"+scard +smembers +sismember +xadd"

static void note_refusal(struct coord_resp *resp, const char *text)
{
	const struct coord_url *url = &resp->url;
	/* Servers without AUTH repeat the command with the password in the error. Such a text is
	 * cut after its first word. */
	bool secret = url->password[0] && strstr(text, url->password);
	snprintf(resp->refused, sizeof(resp->refused), "refuses %s: %.*s", resp->asked,
		(int)strcspn(text, secret ? " " : ""), text);
	if (strcmp(resp->told, resp->refused) == 0 || strncmp(text, "LOADING ", 8) == 0)
		return;
	memcpy(resp->told, resp->refused, sizeof(resp->told));
	if (strstr(text, "NOPERM") || strstr(text, "ACL failure"))
		log_error("cluster: the engine %s; this grants all needed rights: ACL "
			  "SETUSER %s ~%s* " COMMANDS,
			resp->refused, url->user[0] ? url->user : "default", resp->group);
	else
		log_error("cluster: the engine %s", resp->refused);
}

static bool is_about_rights(const char *text)
{
	static const char *const words[] = {"NOAUTH", "WRONGPASS", "NOPERM"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* Returns the errno that coord_engine.h gives to the error reply `text`. Other errors are refusals:
 * the function stores the text, and closes the connection, because the next connection may
 * succeed. */
static int refusal(struct coord_resp *resp, const char *text)
{
	int fence = fence_error(text);
	if (fence)
		return fence;
	bool moved = note_moved(resp, text);
	if (!moved)
		note_refusal(resp, text);
	resp_close(resp);
	if (is_about_rights(text))
		return -EACCES;
	return moved ? -ECONNRESET : -EIO;
}

int resp_end(struct coord_resp *resp, redisReply *reply, int err)
{
	freeReplyObject(reply);
	if (err == -EBADE)
		resp_close(resp);
	return err;
}

/* --- calls ------------------------------------------------------------------------------ */

static int take_reply(struct coord_resp *resp, const char *expected, redisReply **ret)
{
	redisReply *reply;
	int err = resp_take(resp, &reply);
	if (err) {
		resp_close(resp);
		return err;
	}
	if (reply->type == REDIS_REPLY_ERROR &&
		!(expected && strncmp(reply->str, expected, strlen(expected)) == 0)) {
		err = refusal(resp, reply->str);
		freeReplyObject(reply);
		return err;
	}
	*ret = reply;
	return 0;
}

static int send_by_tls(struct coord_resp *resp, const struct resp_words *words)
{
	char *text;
	int n = redisFormatCommandArgv(
		&text, (int)words->n, (const char **)words->word, words->length);
	if (n < 0)
		return -ENOMEM;
	int err = coord_tls_write(
		resp->tls, text, (size_t)n, resp->timeout_ms, resp->refused);
	redisFreeCommand(text);
	return err;
}

static int send_words(struct coord_resp *resp, const struct resp_words *words)
{
	int err = words->err;
	bool function = words->n > 1 && strcmp(words->word[0], "FCALL") == 0;
	resp->asked = words->word[function];
	if (!err && resp->tls)
		err = send_by_tls(resp, words);
	else if (!err && redisAppendCommandArgv(resp->link, (int)words->n, words->word,
				 words->length) != REDIS_OK)
		err = -ENOMEM;
	if (err)
		resp_close(resp);
	return err;
}

int resp_ask(struct coord_resp *resp, struct resp_words *words, const char *expected,
	redisReply **ret)
{
	int err = words->err ? words->err : send_words(resp, words);
	if (!err)
		err = take_reply(resp, expected, ret);
	end_words(words);
	return err;
}

int resp_call(struct coord_resp *resp, struct resp_words *words, redisReply **ret)
{
	int err = words->err ? words->err : resp_connect(resp);
	if (!err)
		return resp_ask(resp, words, NULL, ret);
	end_words(words);
	return err;
}

static int send_all(struct coord_resp *resp, const struct resp_words *words, size_t n)
{
	int err = 0;
	for (size_t i = 0; i < n && !err; i++)
		err = send_words(resp, &words[i]);
	return err;
}

static int take_replies(struct coord_resp *resp, size_t n, redisReply **ret)
{
	for (size_t i = 0; i < n; i++) {
		int err = take_reply(resp, NULL, &ret[i]);
		if (!err)
			continue;
		resp_close(resp); /* the remaining replies are not read */
		while (i-- > 0)
			freeReplyObject(ret[i]);
		return err;
	}
	return 0;
}

int resp_calls(
	struct coord_resp *resp, struct resp_words *words, size_t n, redisReply **ret)
{
	int err = resp_connect(resp);
	if (!err)
		err = send_all(resp, words, n);
	for (size_t i = 0; i < n; i++)
		end_words(&words[i]);
	return err ? err : take_replies(resp, n, ret);
}

int resp_do(struct coord_resp *resp, struct resp_words *words)
{
	redisReply *reply;
	int err = resp_call(resp, words, &reply);
	if (err)
		return err;
	return resp_end(resp, reply, reply->type == REDIS_REPLY_INTEGER ? 0 : -EBADE);
}

int resp_same_life(struct coord_resp *resp, const char *run)
{
	int err = resp_connect(resp);
	if (err)
		return err;
	return strcmp(resp->run, run) == 0 ? 0 : -ESTALE;
}

#endif
