// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "peer/peer_link.h"
#include "base/ensure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

void peer_link_begin(struct peer_link *link, int fd, bool serves)
{
	*link = (struct peer_link){.fd = fd, .serves = serves};
}

void peer_link_await(struct peer_link *link, int epoll, void *data, bool waits_to_send)
{
	struct epoll_event event = {
		.events = EPOLLIN | (waits_to_send ? EPOLLOUT : 0), .data.ptr = data};
	if (link->waits_to_send == waits_to_send)
		return;
	link->waits_to_send = waits_to_send;
	ensure(epoll_ctl(epoll, EPOLL_CTL_MOD, link->fd, &event) == 0);
}

void peer_link_close(struct peer_link *link)
{
	peer_link_end_tls(link);
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
}

void peer_wake(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));
	ensure(n == sizeof(one) || errno == EAGAIN);
}

/* --- without TLS ------------------------------------------------------------------------- */

static ssize_t send_plain(struct peer_link *link, const struct iovec *parts)
{
	struct msghdr message = {
		.msg_iov = (struct iovec *)(uintptr_t)parts, .msg_iovlen = 2};
	return sendmsg(link->fd, &message, MSG_NOSIGNAL);
}

#ifndef HAVE_OPENSSL

int peer_link_secure(struct peer_link *link, struct peer_trust *trust)
{
	(void)link, (void)trust;
	return -ENOTSUP;
}

int peer_link_shake(struct peer_link *link, const struct peer_trust *trust)
{
	(void)link, (void)trust;
	return -ENOTSUP;
}

void peer_link_end_tls(struct peer_link *link)
{
	link->tls = NULL;
}

ssize_t peer_link_read(struct peer_link *link, const struct iovec *parts, int n)
{
	return readv(link->fd, parts, n);
}

bool peer_link_has_more(const struct peer_link *link)
{
	(void)link;
	return false;
}

ssize_t peer_link_send(struct peer_link *link, const struct iovec parts[static 2])
{
	return send_plain(link, parts);
}

#else

#include "base/tls_files.h"

#include <openssl/err.h>

#define RECORD (16u << 10) /* most bytes that TLS encrypts at once */

int peer_link_secure(struct peer_link *link, struct peer_trust *trust)
{
	link->tls = peer_trust_tls(trust, link->serves);
	link->key_lasts = peer_trust_key_lasts(trust);
	return link->tls && SSL_set_fd(link->tls, link->fd) ? 0 : -ENOMEM;
}

void peer_link_end_tls(struct peer_link *link)
{
	SSL_free(link->tls);
	link->tls = NULL;
	link->by_kernel = link->wants_to_send = false;
}

static void say(struct peer_link *link, const char *what, const char *detail)
{
	snprintf(link->text, sizeof(link->text), "%s%s%s", what, detail ? ": " : "",
		detail ? detail : "");
	link->why = link->text;
}

/* Returns what a socket call would: 0 at the end of the stream; -1 with errno, such as EAGAIN. */
static ssize_t result_of(struct peer_link *link, int result)
{
	int error = SSL_get_error(link->tls, result), system = errno;
	link->why = NULL;
	link->wants_to_send = error == SSL_ERROR_WANT_WRITE;
	if (error == SSL_ERROR_ZERO_RETURN || (error == SSL_ERROR_SYSCALL && system == 0))
		return 0;
	errno = error == SSL_ERROR_SYSCALL ? system : EAGAIN;
	if (error == SSL_ERROR_SSL) {
		say(link, "TLS ends", tls_reason());
		errno = EPROTO;
	}
	return -1;
}

static void begin_call(void)
{
	ERR_clear_error();
	errno = 0;
}

/* Tells whether the last error is an alert from the peer. */
static bool is_alert(void)
{
	return ERR_GET_REASON(ERR_peek_last_error()) >= SSL_AD_REASON_OFFSET;
}

static bool is_reason(int reason)
{
	return ERR_GET_REASON(ERR_peek_last_error()) == reason;
}

/* --- the handshake ----------------------------------------------------------------------- */

static void explain(struct peer_link *link, const struct peer_trust *trust)
{
	const char *detail = tls_reason();
	long verified = SSL_get_verify_result(link->tls);
	bool has_secret = peer_trust_has_secret(trust);
	/* A peer without secret or certificate sends its hello unencrypted at once. OpenSSL reports
	 * the hello as a record of a wrong version. */
	if (!link->serves && is_reason(SSL_R_WRONG_VERSION_NUMBER))
		say(link, "it has no secret or certificate, but this node has one", NULL);
	else if (is_reason(SSL_R_BINDER_DOES_NOT_VERIFY))
		say(link, "it is refused: its secret differs from this node's", NULL);
	else if (has_secret && is_reason(SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER))
		say(link, "it refuses this node, whose secret differs", NULL);
	else if (is_alert())
		say(link, "it refuses this node", detail);
	else if (has_secret)
		say(link, "it is refused: its TLS has no secret", detail);
	else if (is_reason(SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE))
		say(link, "it is refused: it has no certificate", NULL);
	else if (verified != X509_V_OK)
		say(link, "it is refused: this node does not accept its certificate",
			X509_verify_cert_error_string(verified));
	else
		say(link, "it is refused", detail);
}

static bool has_proved(const struct peer_link *link, const struct peer_trust *trust)
{
	X509 *certificate = SSL_get0_peer_certificate(link->tls);
	/* Both ends need the secret to resume a session made from the secret. */
	if (peer_trust_has_secret(trust))
		return SSL_session_reused(link->tls);
	return certificate && SSL_get_verify_result(link->tls) == X509_V_OK;
}

int peer_link_shake(struct peer_link *link, const struct peer_trust *trust)
{
	begin_call();
	int result = SSL_do_handshake(link->tls);
	if (result == 1) {
		link->wants_to_send = false;
		link->by_kernel = BIO_get_ktls_send(SSL_get_wbio(link->tls));
		if (has_proved(link, trust))
			return 1;
		say(link, "it is refused: it has not proved who it is", NULL);
		return -EACCES;
	}
	bool ends = result_of(link, result) == 0;
	int err = ends ? -ECONNRESET : errno == EAGAIN ? 0 : -errno;
	if (err == -EPROTO) {
		explain(link, trust);
		err = -EACCES;
	}
	ERR_clear_error();
	return err;
}

/* --- bytes ------------------------------------------------------------------------------- */

ssize_t peer_link_read(struct peer_link *link, const struct iovec *parts, int n)
{
	link->why = NULL;
	if (!link->tls)
		return readv(link->fd, parts, n);
	size_t room = parts->iov_len < INT32_MAX ? parts->iov_len : INT32_MAX;
	begin_call();
	int result = SSL_read(link->tls, parts->iov_base, (int)room);
	if (result > 0)
		return result;
	ssize_t got = result_of(link, result);
	if (got < 0 && errno == EPROTO && is_alert())
		say(link, "it refuses this node", tls_reason());
	ERR_clear_error();
	return got;
}

bool peer_link_has_more(const struct peer_link *link)
{
	return link->tls && SSL_has_pending(link->tls);
}

/* Changes TLS's key when key_lasts bytes were sent with the old one. If the kernel encrypts, the
 * key can't be changed: the function returns false with ECONNRESET, the connection ends, and the
 * client connects again with a new key. */
static bool renew_keys(struct peer_link *link)
{
	if (link->n_sent < link->key_lasts)
		return true;
	link->n_sent = 0;
	if (!link->by_kernel)
		return SSL_key_update(link->tls, SSL_KEY_UPDATE_NOT_REQUESTED);
	say(link, "its keys are used up", NULL);
	errno = ECONNRESET;
	return false;
}

static ssize_t send_tls(struct peer_link *link, const void *bytes, size_t n)
{
	begin_call();
	if (!renew_keys(link))
		return -1;
	int sent = SSL_write(link->tls, bytes, n < RECORD ? (int)n : (int)RECORD);
	if (sent > 0) {
		link->n_sent += (uint64_t)sent;
		return sent;
	}
	if (result_of(link, sent) == 0)
		errno = ECONNRESET;
	ERR_clear_error();
	return -1;
}

/* Copies the first bytes of both parts into one record of TLS, so that they are sent together. */
ssize_t peer_link_send(struct peer_link *link, const struct iovec parts[static 2])
{
	uint8_t record[RECORD];
	size_t front = parts[0].iov_len;
	link->why = NULL;
	if (!link->tls)
		return send_plain(link, parts);
	if (front == 0)
		return send_tls(link, parts[1].iov_base, parts[1].iov_len);
	if (front >= RECORD || parts[1].iov_len == 0)
		return send_tls(link, parts[0].iov_base, front);
	size_t rest =
		parts[1].iov_len < RECORD - front ? parts[1].iov_len : RECORD - front;
	memcpy(record, parts[0].iov_base, front);
	memcpy(record + front, parts[1].iov_base, rest);
	return send_tls(link, record, front + rest);
}

#endif
