// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#ifdef HAVE_OPENSSL

#include <openssl/ssl.h>

/*
 * The files that TLS reads: authorities, and a certificate with its key. Of the engine and of
 * nodes.
 *
 *   Threads: any.   Locks: none.
 *   Errors: -errno, with a message that begins with the option's name and the path.
 */

#define TLS_MESSAGE 224

/* Absolute paths, and the options that name them. */
struct tls_files {
	const char *ca, *cert, *key; /* NULL: none; both of cert and key, or none */
	const char *ca_option, *cert_option, *key_option;
};

/* The certificates whose signatures count. */
must_check int tls_files_use_authorities(
	SSL_CTX *context, const struct tls_files *files, char message[TLS_MESSAGE]);
/* The certificate and the key of this node. */
must_check int tls_files_use_own(
	SSL_CTX *context, const struct tls_files *files, char message[TLS_MESSAGE]);
/* The last error of TLS in this thread; NULL: there is none. */
const char *tls_reason(void);

#endif
