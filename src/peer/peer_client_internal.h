// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "peer/peer_handshake.h"

#include <sys/queue.h>

/*
 * The way of a fetch through the client:
 *
 *     peer_fetch -> node->waiting (lock) -> node->queue -> a slot: the request was sent
 *     the answer to the slot's request -> its bytes are received -> done()
 *
 * Fields marked (lock) need the client's lock; only the loop's thread uses all others.
 */

#define PEER_OUT_BYTES 16384
#define PEER_IN_BYTES 4096
#define PEER_SCRATCH_BYTES 65536
#define PEER_JOIN_NS 2000000000u      /* limit from connect() to the handshake's end */
#define PEER_FIRST_PAUSE_NS 10000000u /* pause after the first failed connection */
#define PEER_LAST_PAUSE_NS 2000000000u

/* An unfinished fetch. */
struct peer_want {
	TAILQ_ENTRY(peer_want) link; /* entry in node->waiting or node->queue */
	struct peer_fetch fetch;
};

TAILQ_HEAD(peer_wants, peer_want);

/* A request that was sent. The slot is used until the answer is complete. */
struct peer_slot {
	struct peer_want *want; /* NULL: the fetch has failed before its answer came */
	/* the request's number in messages: index of the slot + PEER_WINDOW * the number of
	 * requests that the slot has had, including this request */
	uint32_t request;
	bool is_used;
};

enum peer_node_state { PEER_DOWN, PEER_CONNECTS, PEER_GREETS, PEER_UP };

struct peer_node {
	struct peer_client *client;
	char name[PEER_NAME + 1];

	SLIST_ENTRY(peer_node) ready_link; /* (lock) */
	bool is_ready;			   /* (lock) */
	struct peer_wants waiting;	   /* (lock) */
	struct peer_address wanted;	   /* (lock) address for the next connection */
	bool is_gone, has_moved;	   /* (lock) */
	uint64_t down_until_ns; /* (lock) new fetches fail until then; 0: they do not */

	struct peer_address address;
	char address_text[PEER_ADDRESS_TEXT];
	struct peer_link stream;
	enum peer_node_state state;
	uint64_t join_until_ns, pause_ns;
	struct peer_handshake handshake;
	struct peer_wants queue;
	struct peer_slot slots[PEER_WINDOW];
	uint32_t free_slots[PEER_WINDOW];
	uint32_t n_free, n_left; /* n_left: used slots whose fetch has failed */
	bool knows_space[PEER_SPACES];
	char why[128]; /* the failure logged last; "": the last handshake succeeded */
	size_t n_out, out_sent;
	uint8_t out[PEER_OUT_BYTES];

	size_t n_in;
	uint8_t in[PEER_IN_BYTES];
	bool in_body;
	struct peer_answer answer; /* being received */
	uint64_t got;
	uint8_t *to; /* NULL: the bytes are discarded */
	int to_err;  /* error for done() if the answer itself has no error; 0: none */

	_Atomic uint64_t bytes; /* of tensors received completely */
};

struct peer_client {
	struct peer_self self;
	char name[PEER_NAME + 1];
	uint64_t most_bytes;
	int epoll, wake;
	pthread_t thread;
	uint64_t next_look_ns; /* next check of deadlines; no deadline passes earlier */
	uint8_t *scratch;
	struct lock lock;
	atomic_bool stopping;
	SLIST_HEAD(, peer_node) ready; /* (lock) nodes for which the loop has work */
	struct peer_node **nodes;      /* (lock) */
	uint32_t n_nodes;	       /* (lock) */
	/* (lock) for adding an entry. Entries below n_spaces never change, so the loop's thread
	 * reads them without the lock. */
	struct peer_space spaces[PEER_SPACES];
	uint32_t n_spaces; /* (lock) */
};

/* --- peer_node.c ------------------------------------------------------------------------- */

/* Sends queued requests. Connects first if needed. */
void peer_node_go(struct peer_node *node);
void peer_node_event(struct peer_node *node, uint32_t events);
/* Fails overdue fetches, ends a hanging connection, and returns the next deadline or UINT64_MAX. */
uint64_t peer_node_look(struct peer_node *node, uint64_t now);
/* Ends the connection to the old address, after node->address has changed. */
void peer_node_move(struct peer_node *node);
/* Ends the connection, and logs nothing. Sent requests fail with err. Queued requests fail with
 * -ECANCELED if err is -ECANCELED, otherwise with -EHOSTDOWN. */
void peer_node_close(struct peer_node *node, int err);

/* --- peer_receive.c ---------------------------------------------------------------------- */

/* Receives answers. -errno: the connection must end. *ret_why is the reason, or NULL if strerror
 * describes the reason. */
must_check int peer_receive(struct peer_node *node, const char **ret_why);

/* --- peer_client.c ----------------------------------------------------------------------- */

/* Calls done() with err, and frees `want`. */
void peer_want_done(struct peer_want *want, int err);
void peer_slot_free(struct peer_node *node, struct peer_slot *slot);
/* Makes new fetches fail until until_ns (clock_now_ns); 0: they fail no longer. */
void peer_node_set_down(struct peer_node *node, uint64_t until_ns);
