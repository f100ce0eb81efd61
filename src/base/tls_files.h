// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/secret_file.h"

#ifdef HAVE_OPENSSL

#include <openssl/ssl.h>

/* Loads files of TLS for connections to the group's Redis server and between nodes: trusted
 * authorities, and a certificate with its key. Errors: -errno, with a message that begins with the
 * option's name and the path; -ENOMEM has no message. Any thread may call this. */

#define TLS_MESSAGE SECRET_FILE_MESSAGE

/* Absolute paths of the files, and the options that set the paths. */
struct tls_files {
	const char *ca, *cert, *key; /* NULL: none; cert and key only together */
	const char *ca_option, *cert_option, *key_option;
};

/* Loads trusted authorities from files->ca; NULL: the system's. -EINVAL: the file is not PEM. */
must_check int tls_files_use_authorities(
	SSL_CTX *context, const struct tls_files *files, char message[TLS_MESSAGE]);
/* Loads this node's certificate and key. -EINVAL: a file is not PEM, or the key does not match the
 * certificate. Also returns the errors of secret_file_read for the key. */
must_check int tls_files_use_own(
	SSL_CTX *context, const struct tls_files *files, char message[TLS_MESSAGE]);
/* Returns this thread's last OpenSSL error, or NULL. */
const char *tls_reason(void);

#endif
