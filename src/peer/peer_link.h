// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "peer/peer.h"

#include <sys/types.h>
#include <sys/uio.h>

/*
 * A connection between two daemons, with or without TLS 1.3. A link behaves like a non-blocking
 * socket: functions that read or send return the number of bytes, 0 at the end, or -1 with errno,
 * which may be EAGAIN.
 *
 *   Flow: peer_link_begin -> peer_link_secure, and peer_link_shake until it returns 1, if the link
 *         has TLS -> peer_link_read, _send -> peer_link_close.
 *   Owns: the descriptor and the state of TLS. The kernel encrypts sent bytes if the kernel and
 *         OpenSSL support this (kernel TLS).
 *   Threads: the caller serialises the calls.   Locks: the trust's, while TLS begins.
 *   Errors: `why` describes an error of TLS; it is NULL for other errors. A connection may end
 *         without TLS's close_notify: messages contain their length, so a cut message is noticed.
 */

struct ssl_st;

struct peer_link {
	int fd;		    /* -1: none */
	struct ssl_st *tls; /* NULL: none */
	bool serves;
	bool waits_to_send; /* epoll reports when the socket accepts bytes */
	bool wants_to_send; /* TLS waits until the socket accepts more bytes */
	bool by_kernel;	    /* the kernel encrypts sent bytes */
	/* n_sent: bytes sent with TLS's current key; key_lasts: limit of n_sent */
	uint64_t n_sent, key_lasts;
	const char *why;
	char text[128]; /* the text of `why`, unless `why` is a constant */
};

/* Begins a link without TLS, which takes over the descriptor. */
void peer_link_begin(struct peer_link *link, int fd, bool serves);
/* Begins TLS on the link. -ENOMEM; -ENOTSUP: built without OpenSSL's libssl. */
must_check int peer_link_secure(struct peer_link *link, struct peer_trust *trust);
/* Continues the TLS handshake. Returns 1 when both ends have proved their identity, 0 while it
 * waits for the socket. -EACCES: one end refuses the other's proof. */
must_check int peer_link_shake(struct peer_link *link, const struct peer_trust *trust);
/* Ends TLS; plain bytes follow. Both ends must do so at the same byte of the stream. */
void peer_link_end_tls(struct peer_link *link);
/* Lets epoll report `data` when there are bytes to read or, if waits_to_send, room to send. */
void peer_link_await(struct peer_link *link, int epoll, void *data, bool waits_to_send);
void peer_link_close(struct peer_link *link);

/* Reads into the n parts; with TLS, only into the first part. */
must_check ssize_t peer_link_read(
	struct peer_link *link, const struct iovec *parts, int n);
/* Tells whether TLS holds decrypted bytes, for which epoll reports no event. */
bool peer_link_has_more(const struct peer_link *link);
/* Sends bytes of the two parts, perhaps not all; either part may be empty. After EAGAIN the next
 * call must begin with the same bytes. */
must_check ssize_t peer_link_send(
	struct peer_link *link, const struct iovec parts[static 2]);

/* Wakes the thread that polls the eventfd. */
void peer_wake(int fd);

/* --- peer_trust.c ------------------------------------------------------------------------ */

/* Tells whether all data are encrypted. trust may be NULL. */
bool peer_trust_encrypts(const struct peer_trust *trust);
/* Returns the number of bytes that may be sent with one key. */
uint64_t peer_trust_key_lasts(const struct peer_trust *trust);
bool peer_trust_has_secret(const struct peer_trust *trust);
/* Returns TLS for a new connection; the caller frees it. NULL: no memory. */
struct ssl_st *peer_trust_tls(struct peer_trust *trust, bool serves);
