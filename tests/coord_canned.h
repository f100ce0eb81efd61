// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "coord/coord_resp_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * An engine whose server sends only the given bytes. They are sent before any request; then the
 * connection ends, and no later connection is possible.
 */

#define CANNED_MOST 65536 /* bytes that fit into the socket */

struct canned {
	struct coord_resp *resp;
	int server; /* the server's end, which reads no request */
};

static inline const struct coord_engine *canned_begin(struct canned *canned)
{
	char message[COORD_TEXT];
	ensure(coord_resp_new(
		       &(struct coord_server){.url = "redis+unix:///nowhere/at/all"},
		       "group", 1000, &canned->resp, message) == 0);
	canned->server = -1;
	return coord_resp_engine(canned->resp);
}

static inline void canned_say(struct canned *canned, const void *bytes, size_t n)
{
	int pair[2], size = 4 * CANNED_MOST;
	resp_close(canned->resp);
	if (canned->server >= 0)
		close(canned->server);
	ensure(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	for (int i = 0; i < 2; i++)
		ensure(setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) ==
			0);
	ensure(n <= CANNED_MOST && write(pair[1], bytes, n) == (ssize_t)n);
	ensure(shutdown(pair[1], SHUT_WR) == 0);
	/* Requests may fill the socket; then sending fails. */
	ensure(fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0);
	canned->resp->link = redisConnectFd(pair[0]);
	ensure(canned->resp->link);
	canned->server = pair[1];
	resp_count(canned->resp);
	strcpy(canned->resp->run, "life");
}

static inline void canned_end(struct canned *canned)
{
	coord_resp_free(&canned->resp);
	if (canned->server >= 0)
		close(canned->server);
}
