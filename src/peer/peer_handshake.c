// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "peer/peer_handshake.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TLS_RECORD 0x16 /* first byte of a TLS handshake */
#define TLS_MAJOR 3	/* second byte of a TLS handshake */

/* [0]: for the server's log; [1]: for the client's log */
static const char *const reasons[PEER_N_VERDICTS][2] = {
	[PEER_WELCOME] = {"", ""},
	[PEER_HAS_NO_TRUST] =
		{"it is refused: it has no secret or certificate, but this node has one",
			"it refuses this node, which has no secret or certificate"},
	[PEER_HAS_TRUST] =
		{"it is refused: it has a secret or certificate, but this node has none",
			"it refuses this node, which has a secret or certificate: it has "
			"none itself"},
	[PEER_HAS_THE_NAME] = {"it is refused: it has this node's name",
		"it refuses this node, which has its name"},
	[PEER_IS_PLAIN] = {"it is refused: it has encrypt = no, but this node encrypts",
		"it refuses this node, which has encrypt = no"},
	[PEER_ENCRYPTS] = {"it is refused: it encrypts, but this node has encrypt = no",
		"it refuses this node, which encrypts: it has encrypt = no itself"},
};

void peer_handshake_begin(struct peer_handshake *handshake, const struct peer_self *self,
	enum peer_role role, const char *expected)
{
	*handshake =
		(struct peer_handshake){.self = self, .role = role, .expected = expected};
}

static int fail(struct peer_handshake *handshake, int err, const char *why)
{
	handshake->why = why;
	return err;
}

static int fail_for_link(
	struct peer_handshake *handshake, const struct peer_link *link, int err)
{
	snprintf(handshake->text, sizeof(handshake->text), "%s",
		link->why ? link->why : "");
	return fail(handshake, err, link->why ? handshake->text : NULL);
}

static int hung_up(struct peer_handshake *handshake, bool has_begun)
{
	return fail(handshake, -ECONNRESET,
		handshake->role == PEER_CLIENT ? "it hung up instead of greeting"
		: has_begun		       ? "it hung up in the middle of a message"
					       : NULL);
}

/* The call never waits: the socket's send buffer is empty, and has room for the hello. */
static int send_hello(struct peer_handshake *handshake, struct peer_link *link,
	enum peer_verdict verdict)
{
	uint8_t bytes[PEER_HELLO_BYTES];
	const struct peer_self *self = handshake->self;
	const struct iovec parts[2] = {{.iov_base = bytes, .iov_len = sizeof(bytes)}};
	struct peer_hello hello = {.version = PEER_VERSION,
		.has_trust = self->trust,
		.encrypts = peer_trust_encrypts(self->trust),
		.verdict = verdict,
		.incarnation = self->incarnation};
	strncpy(hello.name, self->name, PEER_NAME);
	peer_hello_put(&hello, bytes);
	ssize_t n = peer_link_send(link, parts);
	if (n == (ssize_t)sizeof(bytes))
		return 0;
	return fail_for_link(handshake, link, n < 0 && errno != EAGAIN ? -errno : -EPIPE);
}

/* --- TLS --------------------------------------------------------------------------------- */

/* Begins TLS if this node has a trust, and the client's first byte begins TLS. Otherwise expects a
 * plain hello, which answer_hello refuses if this node has a trust. */
static int first_of_server(struct peer_handshake *handshake, struct peer_link *link)
{
	uint8_t first;
	ssize_t n = recv(link->fd, &first, 1, MSG_PEEK);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return hung_up(handshake, false);
	bool secure = handshake->self->trust && first == TLS_RECORD;
	handshake->step = secure ? PEER_STEP_TLS : PEER_STEP_HELLO;
	return secure ? peer_link_secure(link, handshake->self->trust) : 0;
}

static int first_of_client(struct peer_handshake *handshake, struct peer_link *link)
{
	if (handshake->self->trust) {
		handshake->step = PEER_STEP_TLS;
		return peer_link_secure(link, handshake->self->trust);
	}
	handshake->step = PEER_STEP_HELLO;
	return send_hello(handshake, link, PEER_WELCOME);
}

static int shake(struct peer_handshake *handshake, struct peer_link *link)
{
	int done = peer_link_shake(link, handshake->self->trust);
	if (done == -ECONNRESET && !link->why)
		return hung_up(handshake, true);
	if (done < 0)
		return fail_for_link(handshake, link, done);
	if (done == 0)
		return 0;
	handshake->step = PEER_STEP_HELLO;
	return handshake->role == PEER_CLIENT ? send_hello(handshake, link, PEER_WELCOME)
					      : 0;
}

/* --- hellos ------------------------------------------------------------------------------ */

static int other_version(struct peer_handshake *handshake)
{
	snprintf(handshake->text, sizeof(handshake->text),
		"it speaks another version of the protocol: found %u, allowed: %u",
		handshake->other.version, PEER_VERSION);
	return fail(handshake, -EPROTO, handshake->text);
}

static int take_hello(struct peer_handshake *handshake)
{
	int err = peer_hello_take(handshake->in, &handshake->other, &handshake->why);
	uint32_t version = handshake->other.version;
	return err && version && version != PEER_VERSION ? other_version(handshake) : err;
}

static enum peer_verdict judge(
	const struct peer_handshake *handshake, const struct peer_link *link)
{
	const struct peer_self *self = handshake->self;
	const struct peer_hello *other = &handshake->other;
	bool encrypts = peer_trust_encrypts(self->trust);
	if (self->trust && !link->tls)
		return PEER_HAS_NO_TRUST;
	if (!self->trust && other->has_trust)
		return PEER_HAS_TRUST;
	if (encrypts != other->encrypts)
		return encrypts ? PEER_IS_PLAIN : PEER_ENCRYPTS;
	return strcmp(other->name, self->name) == 0 ? PEER_HAS_THE_NAME : PEER_WELCOME;
}

/* Ends TLS if only the handshake is encrypted. */
static int welcome(const struct peer_handshake *handshake, struct peer_link *link)
{
	if (!peer_trust_encrypts(handshake->self->trust))
		peer_link_end_tls(link);
	return 1;
}

/* Even a client of another version gets a hello, and can log both versions. */
static int answer_hello(struct peer_handshake *handshake, struct peer_link *link)
{
	int err = take_hello(handshake);
	const char *why = handshake->why;
	if (err && !handshake->other.version)
		return err;
	enum peer_verdict verdict = err ? PEER_WELCOME : judge(handshake, link);
	int sent = send_hello(handshake, link, verdict);
	if (err)
		return fail(handshake, err, why);
	if (verdict != PEER_WELCOME)
		return fail(handshake, -EACCES, reasons[verdict][0]);
	return sent ? sent : welcome(handshake, link);
}

static int take_answer(struct peer_handshake *handshake, struct peer_link *link)
{
	const struct peer_hello *other = &handshake->other;
	int err = take_hello(handshake);
	if (err)
		return err;
	if (other->verdict != PEER_WELCOME)
		return fail(handshake, -EACCES, reasons[other->verdict][1]);
	if (strcmp(handshake->expected, other->name) != 0)
		return fail(handshake, -EACCES, "a node of another name answers there");
	return welcome(handshake, link);
}

static bool is_tls(const struct peer_handshake *handshake)
{
	return handshake->n_in >= 2 && handshake->in[0] == TLS_RECORD &&
	       handshake->in[1] == TLS_MAJOR;
}

static int hello(struct peer_handshake *handshake, struct peer_link *link)
{
	const struct iovec rest = {.iov_base = handshake->in + handshake->n_in,
		.iov_len = sizeof(handshake->in) - handshake->n_in};
	ssize_t n = peer_link_read(link, &rest, 1);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return fail_for_link(handshake, link, -errno);
	if (n == 0)
		return hung_up(handshake, handshake->n_in > 0 || link->tls);
	handshake->n_in += (size_t)n;
	bool serves = handshake->role == PEER_SERVER;
	if (serves && !link->tls && is_tls(handshake)) {
		(void)!send_hello(handshake, link, PEER_HAS_TRUST);
		return fail(handshake, -EACCES, reasons[PEER_HAS_TRUST][0]);
	}
	if (handshake->n_in < sizeof(handshake->in))
		return 0;
	return serves ? answer_hello(handshake, link) : take_answer(handshake, link);
}

/* Ends sending, and discards received bytes, so that the peer can read the last message. Closing a
 * socket with unread bytes would reset the connection, and lose this message. */
static void let_it_read(const struct peer_link *link)
{
	uint8_t bytes[4096];
	shutdown(link->fd, SHUT_WR);
	for (int i = 0; i < 16 && recv(link->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0;
		i++) {
	}
}

int peer_handshake_go(struct peer_handshake *handshake, struct peer_link *link)
{
	enum peer_step step;
	bool serves = handshake->role == PEER_SERVER;
	int done;
	do {
		step = handshake->step;
		done = step == PEER_STEP_FIRST
			       ? (serves ? first_of_server : first_of_client)(
					 handshake, link)
		       : step == PEER_STEP_TLS ? shake(handshake, link)
					       : hello(handshake, link);
	} while (done == 0 && handshake->step != step);
	if (done < 0)
		let_it_read(link);
	return done;
}
