// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "cluster/peer_handshake.h"

#include <sys/queue.h>

/*
 * The server's inside: its loop is in peer_server.c, a connection in peer_served.c.
 *
 *     accept -> served_new -> handshake -> served_input -> asked() -> peer_answer
 *                                                                        |
 *     served_output <- answered, of the connection <- answered, of the server (lock)
 *
 * Everything is the loop's thread's, but for what is marked (lock).
 */

#define PEER_STRANGERS 64	   /* connections that are not welcome yet */
#define PEER_CONNECTIONS 1024	   /* all of them */
#define PEER_GREET_NS 3000000000u  /* a handshake takes no longer */
#define PEER_STALL_NS 30000000000u /* what was begun goes on in that time */

/* Of all connections of a node. It stays until the server ends. */
struct peer_counted {
	SLIST_ENTRY(peer_counted) link; /* (lock) */
	char name[PEER_NAME + 1];
	_Atomic uint64_t incarnation, connections, bytes, samples, failed, waiting;
};

struct peer_request {
	STAILQ_ENTRY(peer_request) link;
	struct peer_server *server;
	struct peer_served *served;
	uint32_t number; /* the client's */
	int status;
	struct peer_tensor tensor; /* its head is in the front */
	uint64_t sent;		   /* of front and bytes together */
	size_t n_front;
	uint8_t front[PEER_ANSWER_BYTES + PEER_HEAD];
};

STAILQ_HEAD(peer_requests, peer_request);

struct peer_served_space {
	struct peer_space space;
	char texts[]; /* both */
};

/* A connection. It stays while the owner has requests of it. */
struct peer_served {
	TAILQ_ENTRY(peer_served) link;
	struct peer_server *server;
	struct peer_link stream; /* without a descriptor: it has ended */
	bool is_welcome, waits_to_send;
	uint64_t begun_ns, progress_ns;
	struct peer_handshake handshake;
	struct peer_counted *counted; /* once it is welcome */
	struct peer_served_space *spaces[PEER_SPACES];
	struct peer_requests answered; /* the first one may have been sent in part */
	uint32_t n_open;	       /* requests that are not sent to their end */
	_Atomic uint32_t n_asked;      /* of them, that the owner has; by any thread */
	size_t n_in;
	uint8_t in[PEER_FRAME_MOST];
	char address[PEER_ADDRESS_TEXT];
};

TAILQ_HEAD(peer_serveds, peer_served);

struct peer_server {
	struct peer_self self;
	struct peer_server_calls calls;
	char name[PEER_NAME + 1];
	char address[PEER_ADDRESS_TEXT];
	int listener, epoll, wake;
	bool listens; /* there are descriptors for more connections */
	pthread_t thread;
	struct peer_serveds connections; /* oldest first */
	struct peer_serveds gone;	 /* ended, with requests at the owner */
	uint32_t n_connections, n_strangers;
	uint64_t next_look_ns; /* for connections that hang */
	uint64_t lines_since_ns;
	uint32_t n_lines; /* in the log since then */
	_Atomic uint64_t n_requests;
	struct lock lock;
	struct peer_requests answered;	    /* (lock) */
	bool stopping, stopped;		    /* (lock) */
	SLIST_HEAD(, peer_counted) counted; /* (lock) */
};

/* --- peer_served.c ----------------------------------------------------------------------- */

/* Takes the descriptor over, also when it fails. */
must_check int peer_served_new(
	struct peer_server *server, int fd, const struct peer_address *address);
/* What came, and what can be sent. -errno: the connection has ended. */
must_check int peer_served_event(struct peer_served *served, uint32_t events);
/* Its request has an answer, which the connection sends as soon as it can. */
void peer_served_answer(struct peer_served *served, struct peer_request *request);
/* Ends the connection, with a line in the log if there is something to tell. */
void peer_served_end(struct peer_served *served, int err, const char *why);
void peer_served_free(struct peer_served *served);

/* --- peer_server.c ----------------------------------------------------------------------- */

/* Gives back what the request holds. */
void peer_request_free(struct peer_request *request);
struct peer_counted *peer_server_count(
	struct peer_server *server, const struct peer_hello *hello);
/* Whether there may be another line in the log about strangers: not thousands. */
bool peer_server_may_log(struct peer_server *server);
