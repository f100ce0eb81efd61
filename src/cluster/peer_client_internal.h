// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "cluster/peer_handshake.h"

#include <sys/queue.h>

/*
 * The client's inside: its loop is in peer_client.c, a connection in peer_node.c, what
 * comes over it in peer_receive.c.
 *
 *     peer_fetch -> waiting (lock) -> queue -> slots, asked for -> bytes -> done()
 *
 * Everything is the loop's thread's, but for what is marked (lock).
 */

#define PEER_OUT_BYTES 16384
#define PEER_IN_BYTES 4096
#define PEER_SCRATCH_BYTES 65536
#define PEER_JOIN_NS 2000000000u      /* from connect to welcome */
#define PEER_FIRST_PAUSE_NS 10000000u /* after a failure */
#define PEER_LAST_PAUSE_NS 2000000000u

/* A fetch that is not done. */
struct peer_want {
	TAILQ_ENTRY(peer_want) link; /* of what is waiting, or in the queue */
	struct peer_fetch fetch;
};

TAILQ_HEAD(peer_wants, peer_want);

/* What was asked for under a number, until all of its answer is there. */
struct peer_slot {
	struct peer_want *want; /* NULL: nobody waits for it any more */
	uint32_t request;	/* its number: slot and how often the slot was used */
	bool is_used;
};

enum peer_node_state { PEER_DOWN, PEER_CONNECTS, PEER_GREETS, PEER_UP };

struct peer_node {
	struct peer_client *client;
	char name[PEER_NAME + 1];

	SLIST_ENTRY(peer_node) ready_link; /* (lock) */
	bool is_ready;			   /* (lock) */
	struct peer_wants waiting;	   /* (lock) */
	struct peer_address wanted;	   /* (lock) where it is */
	bool is_gone, has_moved;	   /* (lock) */
	uint64_t down_until_ns;		   /* (lock) 0: it is not known to be down */

	struct peer_address address;
	char address_text[PEER_ADDRESS_TEXT];
	struct peer_link stream;
	enum peer_node_state state;
	bool waits_to_send;
	uint64_t join_until_ns, pause_ns;
	struct peer_handshake handshake;
	struct peer_wants queue;
	struct peer_slot slots[PEER_WINDOW];
	uint32_t free_slots[PEER_WINDOW];
	uint32_t n_free, n_left; /* slots; those of them that nobody waits for any more */
	bool knows_space[PEER_SPACES];
	char why[128]; /* what was logged of it last; empty: it is well */
	size_t n_out, out_sent;
	uint8_t out[PEER_OUT_BYTES];

	size_t n_in;
	uint8_t in[PEER_IN_BYTES];
	bool in_body;
	struct peer_answer answer; /* whose bytes come now */
	uint64_t got;
	uint8_t *to; /* NULL: its bytes are let go */
	int to_err;  /* why, for who asked */

	_Atomic uint64_t incarnation, bytes, samples, failed, n_waiting;
	atomic_bool connected;
};

struct peer_client {
	struct peer_self self;
	char name[PEER_NAME + 1];
	uint64_t most_bytes;
	int epoll, wake;
	pthread_t thread;
	uint64_t next_look_ns; /* nothing has to be given up before */
	uint8_t *scratch;
	struct lock lock;
	bool stopping;		       /* (lock) */
	SLIST_HEAD(, peer_node) ready; /* (lock) nodes with something new */
	struct peer_node **nodes;      /* (lock) */
	uint32_t n_nodes;	       /* (lock) */
	struct peer_space
		spaces[PEER_SPACES]; /* (lock) those below n_spaces don't change */
	uint32_t n_spaces;	     /* (lock) */
};

/* --- peer_node.c ------------------------------------------------------------------------- */

/* Sends what can be sent, and connects first if there is no connection. */
void peer_node_go(struct peer_node *node);
void peer_node_event(struct peer_node *node, uint32_t events);
/* Ends the connection, and fails all that it has: with asked_err what was asked for. */
void peer_node_down(struct peer_node *node, int asked_err, const char *why);
/* Gives up what is too late. The time of what comes next, UINT64_MAX: nothing. */
uint64_t peer_node_look(struct peer_node *node, uint64_t now);
/* Its address is another one: the connection to where it was ends. */
void peer_node_move(struct peer_node *node);
/* Ends the connection without a word, and fails all with err. */
void peer_node_close(struct peer_node *node, int err);

/* --- peer_receive.c ---------------------------------------------------------------------- */

/* What has come. -errno: the connection is of no more use; *ret_why or a strerror. */
must_check int peer_receive(struct peer_node *node, const char **ret_why);

/* --- peer_client.c ----------------------------------------------------------------------- */

/* Tells who asked, and frees it. */
void peer_want_done(struct peer_node *node, struct peer_want *want, int err);
void peer_slot_free(struct peer_node *node, struct peer_slot *slot);
/* The connection is down until then; 0: it is not. */
void peer_node_set_down(struct peer_node *node, uint64_t until_ns);
