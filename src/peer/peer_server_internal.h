// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "peer/peer_handshake.h"

#include <sys/queue.h>

/*
 * The way of a request through the server:
 *
 *  accept -> peer_served_new -> handshake -> peer_served_event -> asked() -> peer_answer
 *                                                                               |
 *  socket <- peer_served.answered <- peer_served_answer <- peer_server.answered (lock)
 *
 * Fields marked (lock) need the server's lock; only the loop's thread uses all others.
 */

#define PEER_STRANGERS 64	   /* most connections without a complete handshake */
#define PEER_CONNECTIONS 1024	   /* most connections */
#define PEER_GREET_NS 3000000000u  /* longest handshake */
#define PEER_STALL_NS 30000000000u /* longest time without progress of a message */

/* A node that has connected. All connections of the node share this entry until the server ends. */
struct peer_counted {
	SLIST_ENTRY(peer_counted) link; /* (lock) */
	char name[PEER_NAME + 1];
	_Atomic uint64_t bytes; /* of tensors sent completely */
};

struct peer_request {
	STAILQ_ENTRY(peer_request) link;
	struct peer_served *served;
	uint32_t number;	   /* the number that the client gave the request */
	struct peer_tensor tensor; /* the tensor's head is copied to `front` */
	uint64_t sent;		   /* bytes of front and tensor that were sent */
	size_t n_front;
	uint8_t front[PEER_ANSWER_BYTES + PEER_HEAD];
};

STAILQ_HEAD(peer_requests, peer_request);

struct peer_served_space {
	struct peer_space space;
	char texts[]; /* dataset and preparation, each ended by \0 */
};

/* A connection. The memory is kept until the server's owner has answered all requests of the
 * connection. */
struct peer_served {
	TAILQ_ENTRY(peer_served) link;
	struct peer_server *server;
	struct peer_link stream; /* fd -1: the connection has ended */
	bool is_welcome;
	uint64_t begun_ns, progress_ns;
	struct peer_handshake handshake;
	struct peer_counted *counted; /* NULL: the handshake is not complete */
	struct peer_served_space *spaces[PEER_SPACES];
	struct peer_requests answered; /* the first may be partly sent */
	uint32_t n_open;	       /* requests whose answer is not completely sent */
	/* requests that the owner has not answered yet; any thread may change the number */
	_Atomic uint32_t n_asked;
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
	bool listens; /* false: accept() failed, and is next tried at next_look_ns */
	pthread_t thread;
	struct peer_serveds connections; /* oldest first */
	/* ended connections with requests that the owner has not answered yet */
	struct peer_serveds gone;
	uint32_t n_connections, n_strangers;
	uint64_t next_look_ns; /* next search for connections that hang */
	uint64_t lines_since_ns;
	uint32_t n_lines; /* log lines since lines_since_ns, for peer_server_may_log */
	_Atomic uint64_t n_requests;
	struct lock lock;
	struct peer_requests answered; /* (lock) */
	atomic_bool stopping;
	bool stopped;			    /* (lock) */
	SLIST_HEAD(, peer_counted) counted; /* (lock) */
};

/* --- peer_served.c ----------------------------------------------------------------------- */

/* Creates a connection. Takes over the descriptor, even after an error. */
must_check int peer_served_new(
	struct peer_server *server, int fd, const struct peer_address *address);
/* Handles epoll events. -errno: the connection has ended. */
must_check int peer_served_event(struct peer_served *served, uint32_t events);
/* Queues the answer, and sends what the socket accepts. If the connection has ended, frees the
 * request. */
void peer_served_answer(struct peer_served *served, struct peer_request *request);
/* Ends the connection, and logs `why`. A NULL `why` means that err is logged instead, but only if
 * err is not 0, the handshake was complete, and the peer did not hang up. */
void peer_served_end(struct peer_served *served, int err, const char *why);
/* Frees an ended connection, all of whose requests the owner has answered. */
void peer_served_free(struct peer_served *served);

/* --- peer_server.c ----------------------------------------------------------------------- */

/* Frees the request, and calls its tensor's release(). */
void peer_request_free(struct peer_request *request);
/* Returns the entry of the node that sent the hello. NULL: no memory. */
struct peer_counted *peer_server_count(
	struct peer_server *server, const struct peer_hello *hello);
/* Tells whether another line about a client without a complete handshake may be logged: at most 20
 * lines in 10 seconds. */
bool peer_server_may_log(struct peer_server *server);
