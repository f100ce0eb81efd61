// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "peer/peer.h"

#include <sys/types.h>
#include <sys/uio.h>

/*
 * A connection between two daemons, with or without TLS 1.3. It behaves like a non-blocking
 * socket: functions that read or send return the number of bytes, 0 at the end, or -1 with errno,
 * which may be EAGAIN.
 *
 *   Flow: peer_link_begin -> peer_link_shake until it returns 1, if the link has TLS ->
 *         peer_link_read, _send, _send_file -> peer_link_close.
 *   Owns: the descriptor and the state of TLS.
 *   TLS: the kernel encrypts sent bytes, if it and OpenSSL can (kernel TLS).
 *   Threads: caller serialises.   Locks: the trust's, while TLS begins.
 *   Errors: `why` describes an error of TLS, else it is NULL. A connection that ends without TLS's
 *         close_notify counts as ended: messages tell their length, so none can be cut unnoticed.
 */

struct ssl_st;

struct peer_link {
	int fd;		    /* -1: none */
	struct ssl_st *tls; /* NULL: none */
	bool serves;
	bool wants_to_send;	    /* TLS can't go on before the socket takes more */
	bool by_kernel;		    /* the kernel encrypts sent bytes */
	uint64_t n_sent, key_lasts; /* bytes sent with the current key; its limit */
	const char *why;
	char text[128]; /* buffer of `why` */
};

/* Initialises a link without TLS, which takes over the descriptor. */
void peer_link_begin(struct peer_link *link, int fd, bool serves);
/* Begins TLS on the link. -ENOMEM; -ENOTSUP: built without OpenSSL's libssl. */
must_check int peer_link_secure(struct peer_link *link, struct peer_trust *trust);
/* Goes on with the TLS handshake. 1: both ends have proved who they are; 0: waits for the socket.
 * -EACCES: one of the ends refuses the other one's proof. */
must_check int peer_link_shake(struct peer_link *link, const struct peer_trust *trust);
/* Drops TLS: the bytes that follow are plain. Both ends have to do so at one byte of the stream. */
void peer_link_end_tls(struct peer_link *link);
/* Closes the descriptor, without a close_notify. */
void peer_link_close(struct peer_link *link);

/* Reads into the n parts; with TLS only into the first one. */
must_check ssize_t peer_link_read(
	struct peer_link *link, const struct iovec *parts, int n);
/* Tells whether TLS holds decrypted bytes, for which epoll reports no event. */
bool peer_link_has_more(const struct peer_link *link);
/* Sends some bytes of the two parts, either of which may be empty. more: other bytes follow at
 * once. After EAGAIN the caller has to send the same bytes again. */
must_check ssize_t peer_link_send(
	struct peer_link *link, const struct iovec parts[static 2], bool more);
/* Sends some bytes of the front and of the n bytes of the file behind it, like peer_link_send.
 * -1 with ENODATA: the file is too short. */
must_check ssize_t peer_link_send_file(struct peer_link *link, const struct iovec *front,
	int file, uint64_t offset, uint64_t n);

/* --- peer_trust.c ------------------------------------------------------------------------ */

/* Tells whether there is a trust, and all data is encrypted. trust may be NULL. */
bool peer_trust_encrypts(const struct peer_trust *trust);
/* Returns how many bytes may be sent with one key. */
uint64_t peer_trust_key_lasts(const struct peer_trust *trust);
bool peer_trust_has_secret(const struct peer_trust *trust);
/* Returns the TLS state of a new connection, which the caller frees; rereads certificates that have
 * changed. NULL: no memory. */
struct ssl_st *peer_trust_tls(struct peer_trust *trust, bool serves);
