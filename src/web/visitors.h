// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

/*
 * The connections of web's server. Each has to send its request, and to receive the answer, within
 * a time limit. At most VISITORS_MOST connections are open, VISITORS_OF_ONE of them from one
 * address. A new connection beyond a limit displaces the one whose request takes longest: among
 * those of its address, or among all.
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
	bool leaves; /* was hung up on, and does not count any more */
	uint64_t since_ns;
};

/* The connections, in the order of the times since which their requests last. */
TAILQ_HEAD(visitors, visitor);

/* Adds a connection, and hangs up on another one if there are too many. NULL: no memory. */
struct visitor *visitors_add(
	struct visitors *visitors, const struct sockaddr *address, int fd);
void visitors_remove(struct visitors *visitors, struct visitor *visitor);
/* Notes that the visitor has its answer; it may send another request. */
void visitors_served(struct visitors *visitors, struct visitor *visitor);
/* Hangs up on visitors whose request takes longer than `most_ns`. Returns the time of the next
 * call; UINT64_MAX: none is needed. */
uint64_t visitors_hurry(struct visitors *visitors, uint64_t most_ns);
