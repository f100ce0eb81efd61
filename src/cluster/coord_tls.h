// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * TLS, 1.2 or later, over a socket that is connected to an engine's server.
 *
 *   Flow: coord_tls_check at the start, coord_tls_connect at each connection. Both read the
 *         files: they may be others by then.
 *   Trust: the server's certificate has to be signed by an authority of `ca`, and be of the host
 *         that was asked for.
 *   Errors: -errno with a message, which continues "the engine ", but for coord_tls_check.
 *         -ENOTSUP: built without OpenSSL's libssl. -ETIMEDOUT has no message.
 *   Time: no call takes longer than its timeout, however slowly bytes come.
 *   Threads: one at a time.
 */

#define COORD_TLS_MESSAGE 224

/* Absolute paths. */
struct coord_tls_files {
	const char *ca;		/* certificates in PEM; NULL: those of the system */
	const char *cert, *key; /* of this node; NULL: none */
};

struct coord_tls;

must_check int coord_tls_check(
	const struct coord_tls_files *files, char message[COORD_TLS_MESSAGE]);
/* socket: the caller's, and from now on one that does not block. */
must_check int coord_tls_connect(const struct coord_tls_files *files, int socket,
	const char *host, uint32_t timeout_ms, struct coord_tls **ret,
	char message[COORD_TLS_MESSAGE]);
/* Writes all n bytes. */
must_check int coord_tls_write(struct coord_tls *tls, const void *bytes, size_t n,
	uint32_t timeout_ms, char message[COORD_TLS_MESSAGE]);
/* Reads the bytes that are there, one at least. */
must_check int coord_tls_read(struct coord_tls *tls, void *bytes, size_t room,
	uint32_t timeout_ms, size_t *ret_n, char message[COORD_TLS_MESSAGE]);
void coord_tls_free(struct coord_tls **tls);
