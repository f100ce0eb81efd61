// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/peer.h"

#include <sys/types.h>
#include <sys/uio.h>

/*
 * A connection between two daemons, with TLS 1.3 or without it. Its functions are those of a
 * socket that does not block: what takes or gives bytes returns their number, 0 at the end, or -1
 * with errno, EAGAIN as well.
 *
 *   Flow: peer_link_begin -> peer_link_shake until it returns 1, if the link has TLS ->
 *         peer_link_read, _send, _send_file -> peer_link_close.
 *   Owns: the descriptor and the state of TLS.
 *   TLS: the kernel encrypts what is sent, if it and OpenSSL can (kernel TLS).
 *   Threads: caller serialises.   Locks: the trust's, while TLS begins.
 *   Errors: `why` has words for an error of TLS, else it is NULL. An end without a word of TLS is
 *         an end: what is sent has its length.
 */

struct ssl_st;

struct peer_link {
	int fd;		    /* -1: none */
	struct ssl_st *tls; /* NULL: none */
	bool serves;
	bool wants_to_send;	    /* TLS can't go on before the socket takes more */
	bool by_kernel;		    /* the kernel encrypts what is sent */
	uint64_t n_sent, key_lasts; /* bytes with the key of now */
	const char *why;
	char text[128]; /* that `why` is */
};

/* Takes the descriptor. No TLS yet. */
void peer_link_begin(struct peer_link *link, int fd, bool serves);
/* From now on it has TLS. */
must_check int peer_link_secure(struct peer_link *link, struct peer_trust *trust);
/* 1: both ends have proved who they are; 0: more has to come. -EACCES: one of them has not, or
 * the other one does not believe it. */
must_check int peer_link_shake(struct peer_link *link, const struct peer_trust *trust);
/* What comes now comes without TLS. Both ends have to do so at the same byte. */
void peer_link_end_tls(struct peer_link *link);
/* Without a word. */
void peer_link_close(struct peer_link *link);

/* With TLS into the first part only. */
must_check ssize_t peer_link_read(
	struct peer_link *link, const struct iovec *parts, int n);
/* There are bytes that no event will tell of. */
bool peer_link_has_more(const struct peer_link *link);
/* Of the two parts, either of which may be empty. more: other bytes follow at once. The same
 * bytes have to be sent again after EAGAIN. */
must_check ssize_t peer_link_send(
	struct peer_link *link, const struct iovec parts[static 2], bool more);
/* The front, then n bytes of the file; as peer_link_send. -1 with ENODATA: the file is too short.
 */
must_check ssize_t peer_link_send_file(struct peer_link *link, const struct iovec *front,
	int file, uint64_t offset, uint64_t n);

/* --- peer_trust.c ------------------------------------------------------------------------ */

bool peer_trust_encrypts(const struct peer_trust *trust);
uint64_t peer_trust_key_lasts(const struct peer_trust *trust);
bool peer_trust_has_secret(const struct peer_trust *trust);
/* The state of a new connection. NULL: no memory. */
struct ssl_st *peer_trust_tls(struct peer_trust *trust, bool serves);
