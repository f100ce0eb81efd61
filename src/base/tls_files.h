// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#ifdef HAVE_OPENSSL

#include <openssl/ssl.h>

/*
 * Loads the files of TLS into a context: trusted authorities, and a certificate with its key. Used
 * for connections to the group's Redis server and between nodes.
 *
 *   Threads: any.   Locks: none.
 *   Errors: -errno, with a message that begins with the option's name and the path; -ENOMEM has
 *         no message.
 */

#define TLS_MESSAGE 224

/* Absolute paths of the files, and names of the options that set the paths. */
struct tls_files {
	/* NULL: none; cert and key are set or NULL together */
	const char *ca, *cert, *key;
	const char *ca_option, *cert_option, *key_option;
};

/* Loads the trusted authorities from files->ca; NULL: the system's. -EINVAL: the file is not
 * PEM. */
must_check int tls_files_use_authorities(
	SSL_CTX *context, const struct tls_files *files, char message[TLS_MESSAGE]);
/* Loads this node's certificate and key. -EINVAL: a file is not PEM, or the key does not match the
 * certificate. For the key also the errors of secret_file_read. */
must_check int tls_files_use_own(
	SSL_CTX *context, const struct tls_files *files, char message[TLS_MESSAGE]);
/* Returns the text of this thread's last OpenSSL error, or NULL. */
const char *tls_reason(void);

#endif
