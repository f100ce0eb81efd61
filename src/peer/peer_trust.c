// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/lock.h"
#include "base/log.h"
#include "base/secret_file.h"
#include "peer/peer_link.h"
#include "base/tls_files.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SECRET_LEAST 16
#define KEY_BYTES 32
#define N_FILES 3
/* bytes sent with one key: AES-GCM allows 2^24.5 records of at most 2^14 bytes, 2^38.5 bytes in
 * all; the limit is lower because some records are shorter */
#define KEY_LASTS (UINT64_C(1) << 37)

/* attributes that differ after a file was changed */
struct stamp {
	struct timespec time;
	ino_t inode;
	off_t bytes;
};

struct peer_trust {
	struct peer_trust_files files;
	uint8_t key[KEY_BYTES]; /* derived from the secret */
#ifdef HAVE_OPENSSL
	struct lock lock;
	SSL_CTX *context;	      /* (lock) */
	struct stamp stamps[N_FILES]; /* (lock) of the files as last read */
#endif
};

bool peer_trust_encrypts(const struct peer_trust *trust)
{
	return trust && !trust->files.is_plain;
}

uint64_t peer_trust_key_lasts(const struct peer_trust *trust)
{
	return trust->files.key_lasts ? trust->files.key_lasts : KEY_LASTS;
}

bool peer_trust_has_secret(const struct peer_trust *trust)
{
	return trust && trust->files.secret;
}

#ifndef HAVE_OPENSSL

int peer_trust_new(const struct peer_trust_files *files, struct peer_trust **ret)
{
	*ret = NULL;
	if (!files->secret && !files->ca && !files->cert && !files->key)
		return 0;
	log_error(
		"[cluster]:%s: needs OpenSSL, which joaderfs was built without; allowed: "
		"neither secret nor certificate, and only addresses of this machine",
		files->secret ? "secret" : "tls_cert");
	return -ENOTSUP;
}

void peer_trust_free(struct peer_trust **trust)
{
	*trust = NULL;
}

struct ssl_st *peer_trust_tls(struct peer_trust *trust, bool serves)
{
	(void)trust, (void)serves;
	return NULL;
}

#else

/* --- the secret -------------------------------------------------------------------------- */

static const unsigned char identity[] = "joaderfs";

/* Derives a key of fixed length from the secret: the HMAC-SHA256 of a fixed text. */
static int make_key(struct peer_trust *trust, const uint8_t *secret, size_t n)
{
	static const unsigned char label[] = "joaderfs peer TLS 1.3";
	unsigned length = 0;
	return HMAC(EVP_sha256(), secret, (int)n, label, sizeof(label) - 1, trust->key,
		       &length) &&
			       length == KEY_BYTES
		       ? 0
		       : -ENOMEM;
}

static int read_secret(struct peer_trust *trust)
{
	const char *path = trust->files.secret;
	uint8_t secret[PEER_SECRET + 1];
	char message[SECRET_FILE_MESSAGE];
	size_t n = 0;
	int err = secret_file_read("secret", path, secret, sizeof(secret), &n, message);
	if (err) {
		log_error("[cluster]:%s", message);
	} else if (n < SECRET_LEAST || n > PEER_SECRET) {
		log_error("[cluster]:secret: %s: %s%zu bytes; allowed: %d to %d", path,
			n > PEER_SECRET ? "at least " : "", n, SECRET_LEAST, PEER_SECRET);
		err = -EINVAL;
	} else {
		err = make_key(trust, secret, n);
	}
	OPENSSL_cleanse(secret, sizeof(secret));
	return err;
}

static SSL_SESSION *make_session(SSL *tls)
{
	static const unsigned char id[] = {0x13, 0x01}; /* TLS_AES_128_GCM_SHA256 */
	const struct peer_trust *trust = SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls));
	const SSL_CIPHER *cipher = SSL_CIPHER_find(tls, id);
	SSL_SESSION *session = SSL_SESSION_new();
	if (session && cipher &&
		SSL_SESSION_set1_master_key(session, trust->key, KEY_BYTES) &&
		SSL_SESSION_set_cipher(session, cipher) &&
		SSL_SESSION_set1_id_context(session, identity, sizeof(identity) - 1) &&
		SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

/* Callback of the client: offers the session that is made from the secret. Offers no session if
 * `digest` is not SHA-256, because the session can be used only with SHA-256. */
static int offer_secret(SSL *tls, const EVP_MD *digest, const unsigned char **ret_id,
	size_t *ret_n, SSL_SESSION **ret)
{
	*ret = NULL;
	*ret_id = identity;
	*ret_n = sizeof(identity) - 1;
	if (digest && EVP_MD_get_type(digest) != NID_sha256)
		return 1;
	*ret = make_session(tls);
	return *ret != NULL;
}

/* Callback of the server: finds the session that the client offers. */
static int find_secret(SSL *tls, const unsigned char *id, size_t n, SSL_SESSION **ret)
{
	*ret = NULL;
	if (n != sizeof(identity) - 1 || memcmp(id, identity, n) != 0)
		return 1;
	*ret = make_session(tls);
	return *ret != NULL;
}

/* --- the context ------------------------------------------------------------------------- */

static const char ciphers[] =
	"TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

/* Sets the context's options and callbacks. Certificates are verified even if the trust is a
 * secret: such a trust has no authority, so no certificate can take the place of the secret. */
static bool set_up(SSL_CTX *context, struct peer_trust *trust)
{
	SSL_CTX_set_app_data(context, trust);
	/* A kernel that encrypts (kTLS) would also encrypt the bytes after the handshake. With
	 * is_plain these bytes must stay unencrypted, so kTLS is off. */
	SSL_CTX_set_options(
		context, SSL_OP_IGNORE_UNEXPECTED_EOF |
				 (trust->files.is_plain ? 0 : SSL_OP_ENABLE_KTLS));
	SSL_CTX_set_mode(context,
		SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(
		context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	if (trust->files.secret) {
		SSL_CTX_set_psk_use_session_callback(context, offer_secret);
		SSL_CTX_set_psk_find_session_callback(context, find_secret);
	}
	return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) &&
	       SSL_CTX_set_num_tickets(context, 0) &&
	       SSL_CTX_set_session_id_context(context, identity, sizeof(identity) - 1) &&
	       SSL_CTX_set_ciphersuites(context, ciphers);
}

static int make_context(
	struct peer_trust *trust, SSL_CTX **ret, char message[TLS_MESSAGE])
{
	const struct tls_files files = {.ca = trust->files.ca,
		.cert = trust->files.cert,
		.key = trust->files.key,
		.ca_option = "tls_ca",
		.cert_option = "tls_cert",
		.key_option = "tls_key"};
	SSL_CTX *context = SSL_CTX_new(TLS_method());
	int err = context && set_up(context, trust) ? 0 : -ENOMEM;
	snprintf(message, TLS_MESSAGE, "no context of TLS");
	if (!err && files.cert)
		err = tls_files_use_authorities(context, &files, message);
	if (!err && files.cert)
		err = tls_files_use_own(context, &files, message);
	ERR_clear_error();
	if (err)
		SSL_CTX_free(context);
	else
		*ret = context;
	return err;
}

/* --- certificates that are renewed ------------------------------------------------------- */

static void look_at(const struct peer_trust *trust, struct stamp ret[static N_FILES])
{
	const char *const paths[N_FILES] = {
		trust->files.ca, trust->files.cert, trust->files.key};
	struct stat st;
	memset(ret, 0, N_FILES * sizeof(*ret));
	for (int i = 0; i < N_FILES; i++)
		if (stat(paths[i], &st) == 0)
			ret[i] = (struct stamp){.time = st.st_mtim,
				.inode = st.st_ino,
				.bytes = st.st_size};
}

static bool have_changed(struct peer_trust *trust, const struct stamp *stamps)
{
	LOCK_SCOPE(&trust->lock);
	bool changed = memcmp(stamps, trust->stamps, sizeof(trust->stamps)) != 0;
	memcpy(trust->stamps, stamps, sizeof(trust->stamps));
	return changed;
}

/* Reads the certificates again if their files have changed. If they can't be used, logs this once,
 * and keeps the old context. */
static void read_again(struct peer_trust *trust)
{
	struct stamp stamps[N_FILES];
	char message[TLS_MESSAGE];
	SSL_CTX *context = NULL;
	look_at(trust, stamps);
	if (!have_changed(trust, stamps))
		return;
	if (make_context(trust, &context, message)) {
		log_warn("[cluster]:%s; the previous certificate stays in use", message);
		return;
	}
	lock_take(&trust->lock);
	SSL_CTX *before = trust->context;
	trust->context = context;
	lock_release(&trust->lock);
	SSL_CTX_free(before);
	log_info("[cluster]:tls_cert: %s: was read again", trust->files.cert);
}

SSL *peer_trust_tls(struct peer_trust *trust, bool serves)
{
	if (trust->files.cert)
		read_again(trust);
	lock_take(&trust->lock);
	SSL *tls = SSL_new(trust->context);
	lock_release(&trust->lock);
	if (tls && serves)
		SSL_set_accept_state(tls);
	else if (tls)
		SSL_set_connect_state(tls);
	return tls;
}

static int check(const struct peer_trust_files *files)
{
	const char *wrong = NULL;
	if (files->secret && (files->ca || files->cert || files->key))
		wrong = "secret: found a secret and certificates; allowed: either "
			"secret, or tls_cert, tls_key and tls_ca";
	else if (!files->secret && !(files->ca && files->cert && files->key))
		wrong = "tls_cert, tls_key and tls_ca belong together; allowed: all of "
			"them or none";
	if (wrong)
		log_error("[cluster]:%s", wrong);
	return wrong ? -EINVAL : 0;
}

int peer_trust_new(const struct peer_trust_files *files, struct peer_trust **ret)
{
	char message[TLS_MESSAGE];
	*ret = NULL;
	if (!files->secret && !files->ca && !files->cert && !files->key)
		return 0;
	int err = check(files);
	if (err)
		return err;
	struct peer_trust *trust = calloc(1, sizeof(*trust));
	if (!trust)
		return -ENOMEM;
	trust->files = *files;
	lock_init(&trust->lock, LOCK_RANK_PEER, "trust");
	if (files->secret)
		err = read_secret(trust);
	else
		look_at(trust, trust->stamps);
	if (!err) {
		err = make_context(trust, &trust->context, message);
		if (err)
			log_error("[cluster]:%s", message);
	}
	if (err)
		peer_trust_free(&trust);
	else
		*ret = trust;
	return err;
}

void peer_trust_free(struct peer_trust **trust_)
{
	struct peer_trust *trust = *trust_;
	*trust_ = NULL;
	if (!trust)
		return;
	SSL_CTX_free(trust->context);
	lock_destroy(&trust->lock);
	OPENSSL_cleanse(trust, sizeof(*trust));
	free(trust);
}

#endif
