// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_resp.h"

/*
 * TLS 1.2 or later over a socket that is connected to the engine's server.
 *
 *   Flow: coord_tls_check at the daemon's start, coord_tls_connect at each connection. Both read
 *         the files, which may have changed in between.
 *   Trust: the server's certificate must be signed by an authority in server->ca, and be valid for
 *         the requested host.
 *   Errors: -errno. Errors of TLS, of certificates and of their files set `message`, and so does a
 *         handshake without an answer (-ETIMEDOUT); other errors leave `message` unchanged. The
 *         caller prints the message after "the engine "; the message of coord_tls_check is a
 *         sentence of its own. -ENOTSUP: built without OpenSSL's libssl.
 *   Time: a call ends after its timeout, even if bytes arrive slowly. A write has the timeout for
 *         each MiB.
 *   Threads: one at a time.
 */

#define COORD_TLS_MESSAGE 224

struct coord_tls;

must_check int coord_tls_check(
	const struct coord_server *server, char message[COORD_TLS_MESSAGE]);
/* Begins TLS over the socket, which becomes non-blocking. The caller still owns the socket. */
must_check int coord_tls_connect(const struct coord_server *server, int socket,
	const char *host, uint32_t timeout_ms, struct coord_tls **ret,
	char message[COORD_TLS_MESSAGE]);
/* Writes all n bytes. */
must_check int coord_tls_write(struct coord_tls *tls, const void *bytes, size_t n,
	uint32_t timeout_ms, char message[COORD_TLS_MESSAGE]);
/* Waits for at least one byte. */
must_check int coord_tls_read(struct coord_tls *tls, void *bytes, size_t room,
	uint32_t timeout_ms, size_t *ret_n, char message[COORD_TLS_MESSAGE]);
void coord_tls_free(struct coord_tls **tls);
