// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/peer_wire.h"

#include <sys/socket.h>

/*
 * How two daemons come to trust each other: each one's hello, then the client's proof, then
 * the server's verdict and proof. A proof is the HMAC-SHA256, under the secret, of its
 * role's name and both hellos; so it can't be sent back, nor used for another connection.
 *
 *   Flow: peer_handshake_begin -> peer_handshake_take for what comes, while `out` is sent
 *         -> 1: from now on frames.
 *   Owns: nothing.   Threads: caller serialises.   Locks, clock, files: none.
 *   Errors: -errno with `why` set. What is in `out` then should still be sent.
 */

enum peer_role { PEER_CLIENT, PEER_SERVER };

enum peer_step { PEER_STEP_HELLO, PEER_STEP_PROOF, PEER_STEP_VERDICT };

struct peer_handshake {
	const struct peer_self *self;
	enum peer_role role;
	enum peer_step step;
	const char *expected;		     /* name that the other one must have */
	uint8_t hellos[2][PEER_HELLO_BYTES]; /* the client's, the server's */
	struct peer_hello other;
	uint8_t in[PEER_HELLO_BYTES];
	size_t n_in;
	uint8_t out[PEER_HELLO_BYTES + PEER_VERDICT_BYTES];
	size_t n_out;
	uint32_t verdict; /* the server's, told with its proof */
	const char *why;
	char text[96]; /* that `why` is, if it has numbers */
};

/* expected: NULL for a server, which takes any name but its own. -errno: no random
 * numbers. The strings stay the caller's. */
must_check int peer_handshake_begin(struct peer_handshake *handshake,
	const struct peer_self *self, enum peer_role role, const char *expected);

/* 1: it is done; 0: more has to come. *ret_used: how many of the bytes belong to it. */
must_check int peer_handshake_take(struct peer_handshake *handshake, const uint8_t *bytes,
	size_t n, size_t *ret_used);

/* --- the secret -------------------------------------------------------------------------- */

/* HMAC-SHA256 of the two parts, one behind the other. Zeros without a secret. */
must_check int peer_secret_sign(const struct peer_secret *secret, const void *label,
	size_t label_bytes, const void *bytes, size_t n,
	uint8_t ret[static PEER_PROOF_BYTES]);
bool peer_secret_equal(const uint8_t a[static PEER_PROOF_BYTES],
	const uint8_t b[static PEER_PROOF_BYTES]);

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
