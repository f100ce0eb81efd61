// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

/*
 * The connections of the web server. Each connection must send its request and receive the answer
 * within a time limit. At most VISITORS_MOST connections are open, and at most VISITORS_OF_ONE from
 * one address. If a new connection exceeds the limit for its address, the server ends the
 * connection from this address whose request has taken longest. If a new connection exceeds the
 * limit for all connections, the server ends the connection whose request has taken longest, from
 * any address.
 *
 *   Flow: web.c reports each connection and each answer, and ends overdue connections.
 *   Owns: one entry per connection. libmicrohttpd owns the sockets, and closes them.
 *   Threads: the web server's.
 */

#define VISITORS_MOST 64u
/* most from one address, or from all IPv6 addresses with the same first 64 bits; a browser opens up
 * to 6 */
#define VISITORS_OF_ONE 16u

struct visitor {
	TAILQ_ENTRY(visitor) link;
	struct sockaddr_storage address;
	int fd;
	bool leaves; /* the connection is being ended, and does not count any more */
	/* start of the time limit: the time of the last answer; before the first answer, the
	 * time at which the connection was made */
	uint64_t since_ns;
};

/* The connections, sorted by since_ns. */
TAILQ_HEAD(visitors, visitor);

/* Adds a connection, and ends one if there are now too many. Returns NULL without memory. */
struct visitor *visitors_add(
	struct visitors *visitors, const struct sockaddr *address, int fd);
void visitors_remove(struct visitors *visitors, struct visitor *visitor);
/* Notes that the visitor has its answer: the time limit begins anew for its next request. */
void visitors_served(struct visitors *visitors, struct visitor *visitor);
/* Ends connections whose request has taken longer than `most_ns`. Returns the time at
 * which to call this function again; UINT64_MAX: it need not be called. */
uint64_t visitors_hurry(struct visitors *visitors, uint64_t most_ns);
