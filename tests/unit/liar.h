// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "base/rng.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * A proxy before a server of the Redis protocol that changes some replies: a value changes, gets
 * another type, disappears or comes twice; numbers or bytes change. It serves one client at a
 * time.
 */

#define LIAR_ROOM (1 << 20)
#define LIAR_VALUES 4096

struct liar {
	const char *path, *server; /* paths of sockets */
	int listening;
	pthread_t thread;
	struct rng rng;
	atomic_bool stops;
	atomic_uint one_in; /* one in this many replies is a lie; 0: none is */
	atomic_uint lies;
	size_t n;
	char said[LIAR_ROOM];
};

/* --- replies ---------------------------------------------------------------------------- */

struct liar_value {
	size_t at, end;
};

struct liar_reply {
	struct liar_value values[LIAR_VALUES];
	unsigned n;
};

/* Returns where the value that begins here ends; 0: no value ends here. */
static inline size_t liar_parse(
	const char *said, size_t n, size_t at, struct liar_reply *reply)
{
	const char *line = memchr(said + at, '\n', n - at);
	if (at >= n || !line)
		return 0;
	size_t end = (size_t)(line - said) + 1;
	unsigned me = reply->n < LIAR_VALUES ? reply->n++ : LIAR_VALUES - 1;
	long count = strtol(said + at + 1, NULL, 10);
	if (said[at] == '$' && count >= 0)
		end = (size_t)count + 2 <= n - end ? end + (size_t)count + 2 : 0;
	for (long i = 0; said[at] == '*' && i < count && end; i++)
		end = liar_parse(said, n, end, reply);
	reply->values[me] = (struct liar_value){at, end};
	return end;
}

/* --- lies ------------------------------------------------------------------------------- */

static inline uint32_t liar_chance(struct liar *liar, size_t n)
{
	return (uint32_t)rng_below(&liar->rng, n);
}

static inline size_t liar_number(struct liar *liar, char text[40])
{
	static const char *const numbers[] = {"0", "1", "-1", "2", "4095", "65535",
		"65536", "2147483647", "2147483648", "4294967295", "4294967296",
		"9223372036854775807", "18446744073709551615", "-9223372036854775808",
		"1e9", "nan", "", "0x10", "ffffffffffffffff", "2000000000"};
	const char *number =
		numbers[liar_chance(liar, sizeof(numbers) / sizeof(*numbers))];
	return (size_t)snprintf(text, 40, "%s", number);
}

/* Writes a value that replaces another one. */
static inline size_t liar_invent(struct liar *liar, char text[80])
{
	static const char *const lies[] = {"$-1\r\n", "*-1\r\n", "*0\r\n", ":0\r\n",
		":-1\r\n", ":4294967295\r\n", "$0\r\n\r\n", "+OK\r\n", "-ERR no\r\n",
		"*2000000000\r\n", "$2000000000\r\n", "*1\r\n*1\r\n*1\r\n:1\r\n",
		"$8\r\na\0b: {}\x1b\r\n"};
	char number[40];
	unsigned which = liar_chance(liar, 2 * sizeof(lies) / sizeof(*lies));
	if (which == 12) {
		memcpy(text, lies[12], 14);
		return 14;
	}
	if (which < 12)
		return (size_t)snprintf(text, 80, "%s", lies[which]);
	size_t n = liar_number(liar, number);
	return (size_t)snprintf(text, 80, "$%zu\r\n%s\r\n", n, number);
}

static inline size_t liar_put(
	char *said, size_t n, struct liar_value value, const char *text, size_t length)
{
	memmove(said + value.at + length, said + value.end, n - value.end);
	memcpy(said + value.at, text, length);
	return n - (value.end - value.at) + length;
}

/* Changes a digit of a text or number, or else a byte. */
static inline void liar_distort(struct liar *liar, char *said, size_t n)
{
	size_t at = liar_chance(liar, n);
	if (liar_chance(liar, 4) == 0) {
		said[at] = (char)liar_chance(liar, 256);
		return;
	}
	for (size_t i = 0; i < n; i++, at = (at + 1) % n)
		if (said[at] >= '0' && said[at] <= '9') {
			said[at] = (char)('0' + liar_chance(liar, 10));
			return;
		}
}

static inline size_t liar_lie(struct liar *liar, char *said, size_t n)
{
	static struct liar_reply reply;
	static char other[LIAR_ROOM];
	char text[80];
	reply.n = 0;
	if (!liar_parse(said, n, 0, &reply))
		return n;
	struct liar_value value = reply.values[liar_chance(liar, reply.n)];
	struct liar_value from = reply.values[liar_chance(liar, reply.n)];
	switch (liar_chance(liar, 6)) {
	case 0:
	case 1:
		return liar_put(said, n, value, text, liar_invent(liar, text));
	case 2: /* replaces another value, or comes before it */
		memcpy(other, said + from.at, from.end - from.at);
		if (liar_chance(liar, 2))
			value.end = value.at;
		return liar_put(said, n, value, other, from.end - from.at);
	case 3:
		return liar_put(said, n, value, "", 0);
	default:
		liar_distort(liar, said, n);
		return n;
	}
}

/* --- the thread ------------------------------------------------------------------------- */

static inline bool liar_send(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

/* Passes a reply on, perhaps changed. false: the client has to hang up, because it may wait for a
 * reply that never comes. */
static inline bool liar_tell(struct liar *liar, int client, size_t n)
{
	static char told[2 * LIAR_ROOM];
	static struct liar_reply reply;
	unsigned one_in = atomic_load(&liar->one_in);
	memcpy(told, liar->said, n);
	bool lies = one_in && liar_chance(liar, one_in) == 0;
	size_t length = lies ? liar_lie(liar, told, n) : n;
	reply.n = 0;
	bool whole = length && liar_parse(told, length, 0, &reply) == length;
	atomic_fetch_add(&liar->lies, lies);
	return liar_send(client, told, length) && whole;
}

static inline bool liar_pass_replies(struct liar *liar, int server, int client)
{
	static struct liar_reply reply;
	ssize_t n = read(server, liar->said + liar->n, LIAR_ROOM - liar->n);
	size_t end;
	if (n <= 0)
		return false;
	liar->n += (size_t)n;
	while (reply.n = 0, (end = liar_parse(liar->said, liar->n, 0, &reply)) > 0) {
		if (!liar_tell(liar, client, end))
			return false;
		liar->n -= end;
		memmove(liar->said, liar->said + end, liar->n);
	}
	return true;
}

static inline void liar_stand_between(struct liar *liar, int client, int server)
{
	char asked[65536];
	bool both = true;
	liar->n = 0;
	while (both && !atomic_load(&liar->stops)) {
		struct pollfd fds[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
		if (poll(fds, 2, 100) <= 0)
			continue;
		if (fds[0].revents) {
			ssize_t n = read(client, asked, sizeof(asked));
			both = n > 0 && liar_send(server, asked, (size_t)n);
		}
		if (both && fds[1].revents)
			both = liar_pass_replies(liar, server, client);
	}
}

static inline int liar_socket(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	ensure(snprintf(ret->sun_path, sizeof(ret->sun_path), "%s", path) <
		(int)sizeof(ret->sun_path));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ensure(fd >= 0);
	return fd;
}

static inline void *liar_run(void *context)
{
	struct liar *liar = context;
	struct sockaddr_un address;
	while (!atomic_load(&liar->stops)) {
		int client = accept(liar->listening, NULL, NULL);
		int server = liar_socket(liar->server, &address);
		if (client >= 0 && connect(server, (struct sockaddr *)&address,
					   sizeof(address)) == 0)
			liar_stand_between(liar, client, server);
		close(server);
		if (client >= 0)
			close(client);
	}
	return NULL;
}

static inline struct liar *liar_begin(const char *path, const char *server, uint64_t seed)
{
	struct sockaddr_un address;
	struct liar *liar = calloc(1, sizeof(*liar));
	ensure(liar);
	rng_seed(&liar->rng, seed);
	liar->path = path;
	liar->server = server;
	liar->listening = liar_socket(path, &address);
	ensure(bind(liar->listening, (struct sockaddr *)&address, sizeof(address)) == 0);
	ensure(listen(liar->listening, 8) == 0);
	ensure(pthread_create(&liar->thread, NULL, liar_run, liar) == 0);
	return liar;
}

static inline void liar_end(struct liar *liar)
{
	atomic_store(&liar->stops, true);
	shutdown(liar->listening, SHUT_RDWR);
	pthread_join(liar->thread, NULL);
	close(liar->listening);
	unlink(liar->path);
	free(liar);
}
