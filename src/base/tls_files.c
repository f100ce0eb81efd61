// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/tls_files.h"

#ifdef HAVE_OPENSSL

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES (64 << 10)

static int refuse(char *message, const char *option, const char *path, const char *why)
{
	int err = errno;
	snprintf(message, TLS_MESSAGE, "%s: %.120s: %s", option, path,
		err ? strerror(err) : why);
	return err ? -err : -EINVAL;
}

static bool can_open(const char *path)
{
	FILE *file = fopen(path, "re");
	errno = file ? 0 : errno;
	return file && fclose(file) == 0;
}

int tls_files_use_authorities(
	SSL_CTX *context, const struct tls_files *files, char message[TLS_MESSAGE])
{
	if (!files->ca)
		return SSL_CTX_set_default_verify_paths(context) ? 0 : -ENOMEM;
	if (!can_open(files->ca) ||
		!SSL_CTX_load_verify_locations(context, files->ca, NULL))
		return refuse(
			message, files->ca_option, files->ca, "no certificate in PEM");
	return 0;
}

/* Keeps OpenSSL from asking for a passphrase at the terminal. */
static int no_passphrase(char *text, int size, int writes, void *context)
{
	(void)text, (void)size, (void)writes, (void)context;
	return 0;
}

static int read_key(const char *option, const char *path, EVP_PKEY **ret, char *message)
{
	size_t n;
	auto_free char *text = malloc(KEY_BYTES);
	if (!text)
		return -ENOMEM;
	int err = secret_file_read(option, path, text, KEY_BYTES, &n, message);
	if (err)
		return err;
	BIO *bio = BIO_new_mem_buf(text, (int)n);
	*ret = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
	BIO_free(bio);
	OPENSSL_cleanse(text, KEY_BYTES);
	errno = 0;
	return *ret ? 0
		    : refuse(message, option, path, "no key in PEM without a passphrase");
}

int tls_files_use_own(
	SSL_CTX *context, const struct tls_files *files, char message[TLS_MESSAGE])
{
	EVP_PKEY *key;
	if (!can_open(files->cert) ||
		!SSL_CTX_use_certificate_chain_file(context, files->cert))
		return refuse(message, files->cert_option, files->cert,
			"no certificate in PEM");
	int err = read_key(files->key_option, files->key, &key, message);
	if (err)
		return err;
	if (!SSL_CTX_use_PrivateKey(context, key)) {
		snprintf(message, TLS_MESSAGE,
			"%s: %.80s: the certificate's key is not the key of %s, %.80s",
			files->cert_option, files->cert, files->key_option, files->key);
		err = -EINVAL;
	}
	EVP_PKEY_free(key);
	return err;
}

const char *tls_reason(void)
{
	return ERR_reason_error_string(ERR_peek_last_error());
}

#endif
