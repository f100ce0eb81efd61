// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

/*
 * The connections of web's server. Each has to make its request, and take the answer, within a
 * time. At most VISITORS_MOST are open, of one address VISITORS_OF_ONE. If a new one is too
 * many, the connection whose request takes longest is hung up on: of its address, or of all.
 *
 *   Flow: web tells of each connection and each answer, and has overdue ones hung up on.
 *   Owns: one entry a connection; the sockets are the library's, which closes them.
 *   Threads: web's.
 */

#define VISITORS_MOST 64u
#define VISITORS_OF_ONE 16u /* a browser has up to 6 connections */

struct visitor {
	TAILQ_ENTRY(visitor) link;
	struct sockaddr_storage address;
	int fd;
	bool leaves; /* hung up, and does not count any more */
	uint64_t since_ns;
};

/* The connections. The first one's request takes longest. */
TAILQ_HEAD(visitors, visitor);

/* Adds a connection, and hangs up on another one if there are too many. NULL: no memory. */
struct visitor *visitors_add(
	struct visitors *visitors, const struct sockaddr *address, int fd);
void visitors_remove(struct visitors *visitors, struct visitor *visitor);
/* Notes that the visitor has its answer, and may ask again. */
void visitors_served(struct visitors *visitors, struct visitor *visitor);
/* Hangs up on visitors that take longer than `most_ns`. Returns when it has to be called next;
 * UINT64_MAX: there is no need. */
uint64_t visitors_hurry(struct visitors *visitors, uint64_t most_ns);
