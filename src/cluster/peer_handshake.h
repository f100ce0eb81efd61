// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/peer_link.h"
#include "cluster/peer_wire.h"

#include <sys/socket.h>

/*
 * How two daemons greet each other: TLS, if they have a trust, then each one's hello. A server
 * takes a client without TLS, too, to tell it why it is refused.
 *
 *   Flow: peer_handshake_begin -> peer_handshake_go at each event of the link -> 1: from now on
 *         frames.
 *   Owns: nothing.   Threads: caller serialises.   Locks: the trust's.   Clock, files: none.
 *   Errors: -errno with `why` set, or NULL for a strerror.
 */

enum peer_role { PEER_CLIENT, PEER_SERVER };

enum peer_step { PEER_STEP_FIRST, PEER_STEP_TLS, PEER_STEP_HELLO };

struct peer_handshake {
	const struct peer_self *self;
	enum peer_role role;
	enum peer_step step;
	const char *expected; /* name that the other one must have */
	struct peer_hello other;
	uint8_t in[PEER_HELLO_BYTES];
	size_t n_in;
	const char *why;
	char text[128]; /* that `why` is, if it has details */
};

/* expected: NULL for a server, which takes any name but its own. The strings stay the
 * caller's. */
void peer_handshake_begin(struct peer_handshake *handshake, const struct peer_self *self,
	enum peer_role role, const char *expected);

/* 1: it is done; 0: more has to come, or go if link->wants_to_send. A client begins with a link
 * that is connected. */
must_check int peer_handshake_go(
	struct peer_handshake *handshake, struct peer_link *link);

/* --- addresses --------------------------------------------------------------------------- */

#define PEER_ADDRESS_TEXT 64

struct peer_address {
	struct sockaddr_storage bytes;
	socklen_t n;
};

/* "10.0.0.7:7070" or "[::1]:7070"; no names. -EINVAL. */
must_check int peer_address_parse(const char *text, struct peer_address *ret);
void peer_address_print(
	const struct peer_address *address, char ret[static PEER_ADDRESS_TEXT]);
bool peer_address_is_loopback(const struct peer_address *address);

/* Small messages go at once, and a connection whose other end is gone is noticed. */
void peer_socket_tune(int fd);
