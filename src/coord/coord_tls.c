// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_tls.h"

#include <errno.h>
#include <stdio.h>

#ifndef HAVE_OPENSSL

struct coord_tls;

int coord_tls_check(const struct coord_server *server, char message[COORD_TLS_MESSAGE])
{
	(void)server;
	snprintf(message, COORD_TLS_MESSAGE,
		"rediss:// needs OpenSSL, which joaderfs was built without");
	return -ENOTSUP;
}

int coord_tls_connect(const struct coord_server *server, int socket, const char *host,
	uint32_t timeout_ms, struct coord_tls **ret, char message[COORD_TLS_MESSAGE])
{
	(void)socket, (void)host, (void)timeout_ms, (void)ret;
	return coord_tls_check(server, message);
}

int coord_tls_write(struct coord_tls *tls, const void *bytes, size_t n,
	uint32_t timeout_ms, char message[COORD_TLS_MESSAGE])
{
	(void)tls, (void)bytes, (void)n, (void)timeout_ms, (void)message;
	return -ENOTSUP;
}

int coord_tls_read(struct coord_tls *tls, void *bytes, size_t room, uint32_t timeout_ms,
	size_t *ret_n, char message[COORD_TLS_MESSAGE])
{
	(void)tls, (void)bytes, (void)room, (void)timeout_ms, (void)ret_n, (void)message;
	return -ENOTSUP;
}

void coord_tls_free(struct coord_tls **tls)
{
	*tls = NULL;
}

#else

#include "base/clock.h"
#include "base/tls_files.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define PIECE (1 << 20)

struct coord_tls {
	SSL *ssl;
	int socket;
	char host[256];
};

static int make_context(const struct coord_server *server, SSL_CTX **ret, char *message)
{
	const struct tls_files read = {.ca = server->ca,
		.cert = server->cert,
		.key = server->key,
		.ca_option = "engine_ca",
		.cert_option = "engine_cert",
		.key_option = "engine_key"};
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	int err = context ? 0 : -ENOMEM;
	if (!err && !SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION))
		err = -ENOTSUP;
	if (!err)
		err = tls_files_use_authorities(context, &read, message);
	if (!err && server->cert)
		err = tls_files_use_own(context, &read, message);
	ERR_clear_error();
	if (err) {
		SSL_CTX_free(context);
		return err;
	}
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	*ret = context;
	return 0;
}

int coord_tls_check(const struct coord_server *server, char message[COORD_TLS_MESSAGE])
{
	SSL_CTX *context;
	int err = make_context(server, &context, message);
	if (!err)
		SSL_CTX_free(context);
	return err;
}

/* --- waiting ---------------------------------------------------------------------------- */

/* Waits until OpenSSL can read or write the socket. false: the time is over. */
static bool wait_for(const struct coord_tls *tls, int wants, uint64_t end_ns)
{
	struct pollfd fd = {.fd = tls->socket,
		.events = wants == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN};
	if (clock_now_ns() >= end_ns)
		return false;
	int n = poll(&fd, 1, clock_ms_until(end_ns));
	/* one poll waits for at most a minute */
	return n > 0 || (n < 0 && errno == EINTR) || (n == 0 && clock_now_ns() < end_ns);
}

/* Returns 0 if the SSL call must be repeated, otherwise the error. */
static int go_on(struct coord_tls *tls, int result, uint64_t end_ns, char *message)
{
	int error = SSL_get_error(tls->ssl, result);
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return wait_for(tls, error, end_ns) ? 0 : -ETIMEDOUT;
	if (error == SSL_ERROR_SSL)
		snprintf(message, COORD_TLS_MESSAGE, "ends TLS: %s",
			tls_reason() ? tls_reason() : "the connection is closed");
	int err = error == SSL_ERROR_SYSCALL && errno ? -errno : -ECONNRESET;
	ERR_clear_error();
	return err;
}

static uint64_t end_of(uint32_t timeout_ms)
{
	ERR_clear_error();
	errno = 0;
	return clock_now_ns() + timeout_ms * NS_PER_MS;
}

/* --- connections ------------------------------------------------------------------------ */

static bool is_address(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];
	return inet_pton(AF_INET, host, address) == 1 ||
	       inet_pton(AF_INET6, host, address) == 1;
}

static bool expect_host(struct coord_tls *tls)
{
	if (is_address(tls->host))
		return X509_VERIFY_PARAM_set1_ip_asc(
			       SSL_get0_param(tls->ssl), tls->host) == 1;
	SSL_set_hostflags(tls->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(tls->ssl, tls->host) == 1 &&
	       SSL_set_tlsext_host_name(tls->ssl, tls->host) == 1;
}

static int explain(const struct coord_tls *tls, int err, char *message)
{
	long verified = SSL_get_verify_result(tls->ssl);
	if (err == -ETIMEDOUT)
		snprintf(message, COORD_TLS_MESSAGE,
			"does not answer the handshake of TLS");
	else if (verified == X509_V_ERR_HOSTNAME_MISMATCH ||
		 verified == X509_V_ERR_IP_ADDRESS_MISMATCH)
		snprintf(message, COORD_TLS_MESSAGE,
			"has a certificate that is not for host '%.120s'", tls->host);
	else if (verified != X509_V_OK)
		snprintf(message, COORD_TLS_MESSAGE,
			"has a certificate that this node does not accept: %s",
			X509_verify_cert_error_string(verified));
	return err;
}

static int shake_hands(struct coord_tls *tls, uint32_t timeout_ms, char *message)
{
	uint64_t end_ns = end_of(timeout_ms);
	for (;;) {
		int result = SSL_connect(tls->ssl);
		if (result == 1)
			return 0;
		int err = go_on(tls, result, end_ns, message);
		if (err)
			return explain(tls, err, message);
	}
}

int coord_tls_connect(const struct coord_server *server, int socket, const char *host,
	uint32_t timeout_ms, struct coord_tls **ret, char message[COORD_TLS_MESSAGE])
{
	SSL_CTX *context;
	char why[COORD_TLS_MESSAGE] = "";
	int err = make_context(server, &context, why);
	if (err) {
		snprintf(message, COORD_TLS_MESSAGE, "has no TLS here: %.200s",
			why[0] ? why : strerror(-err));
		return -EKEYREJECTED; /* -ENOENT would mean a missing job */
	}
	struct coord_tls *tls = calloc(1, sizeof(*tls));
	if (tls) {
		*tls = (struct coord_tls){.ssl = SSL_new(context), .socket = socket};
		snprintf(tls->host, sizeof(tls->host), "%s", host);
	}
	SSL_CTX_free(context);
	int flags = fcntl(socket, F_GETFL);
	if (!tls || !tls->ssl || !expect_host(tls) || !SSL_set_fd(tls->ssl, socket))
		err = -ENOMEM;
	else if (flags < 0 || fcntl(socket, F_SETFL, flags | O_NONBLOCK) < 0)
		err = -errno;
	else
		err = shake_hands(tls, timeout_ms, message);
	if (err)
		coord_tls_free(&tls);
	else
		*ret = tls;
	return err;
}

int coord_tls_write(struct coord_tls *tls, const void *bytes, size_t n,
	uint32_t timeout_ms, char message[COORD_TLS_MESSAGE])
{
	uint64_t end_ns = end_of(timeout_ms);
	for (const char *at = bytes; n > 0;) {
		int result = SSL_write(tls->ssl, at, n < PIECE ? (int)n : PIECE);
		if (result > 0) {
			at += result;
			n -= (size_t)result;
			end_ns = end_of(timeout_ms);
			continue;
		}
		int err = go_on(tls, result, end_ns, message);
		if (err)
			return err;
	}
	return 0;
}

int coord_tls_read(struct coord_tls *tls, void *bytes, size_t room, uint32_t timeout_ms,
	size_t *ret_n, char message[COORD_TLS_MESSAGE])
{
	uint64_t end_ns = end_of(timeout_ms);
	for (;;) {
		int result = SSL_read(tls->ssl, bytes, room < PIECE ? (int)room : PIECE);
		if (result > 0) {
			*ret_n = (size_t)result;
			return 0;
		}
		int err = go_on(tls, result, end_ns, message);
		if (err)
			return err;
	}
}

void coord_tls_free(struct coord_tls **pointer)
{
	struct coord_tls *tls = *pointer;
	if (!tls)
		return;
	SSL_free(tls->ssl);
	ERR_clear_error();
	free(tls);
	*pointer = NULL;
}

#endif
