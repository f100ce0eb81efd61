// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "peer/peer_link.h"
#include "peer/peer_wire.h"

#include <sys/socket.h>

/*
 * The handshake of two daemons: TLS, if they have a trust (peer.h), then a hello from each side. A
 * server with a trust also reads the hello of a client without TLS, and answers with its refusal.
 *
 *   Flow: peer_handshake_begin -> peer_handshake_go at each event of the link, until it returns 1.
 *         The frames of peer_wire.h follow.
 *   Threads: the caller serialises the calls.   Locks: the trust's.
 *   Errors: -errno; `why` is the reason, or NULL if strerror describes it.
 */

enum peer_role { PEER_CLIENT, PEER_SERVER };

enum peer_step { PEER_STEP_FIRST, PEER_STEP_TLS, PEER_STEP_HELLO };

struct peer_handshake {
	const struct peer_self *self;
	enum peer_role role;
	enum peer_step step;
	const char *expected; /* the name that the peer must have; NULL: any name */
	struct peer_hello other;
	uint8_t in[PEER_HELLO_BYTES];
	size_t n_in;
	const char *why;
	char text[128]; /* the text of `why`, unless `why` is a constant */
};

/* expected: the peer's name, NULL on a server. The strings must outlive the handshake. */
void peer_handshake_begin(struct peer_handshake *handshake, const struct peer_self *self,
	enum peer_role role, const char *expected);

/* Returns 1 when the handshake is done; 0 while it waits for the socket: to send if
 * link->wants_to_send, else to receive. The client first calls this when the link is connected. */
must_check int peer_handshake_go(
	struct peer_handshake *handshake, struct peer_link *link);

/* --- addresses --------------------------------------------------------------------------- */

#define PEER_ADDRESS_TEXT 64

struct peer_address {
	struct sockaddr_storage bytes;
	socklen_t n;
};

void peer_address_print(
	const struct peer_address *address, char ret[static PEER_ADDRESS_TEXT]);
bool peer_address_is_loopback(const struct peer_address *address);

/* Makes the socket send small messages at once, and detect a dead connection. */
void peer_socket_tune(int fd);
