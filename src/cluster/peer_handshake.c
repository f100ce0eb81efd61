// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "cluster/peer_handshake.h"
#include "base/ensure.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum verdict {
	WELCOME,
	WRONG_SECRET,
	SECRET_MISSING,
	SECRET_TOO_MANY,
	SAME_NAME,
	N_VERDICTS
};

/* What the server logs, and the client. */
static const char *const reasons[N_VERDICTS][2] = {
	[WELCOME] = {"", ""},
	[WRONG_SECRET] = {"it is refused: it has another secret than this node",
		"it refuses this node, which has another secret"},
	[SECRET_MISSING] = {"it is refused: it has no secret, and this node has one",
		"it refuses this node, which has no secret"},
	[SECRET_TOO_MANY] = {"it is refused: it has a secret, and this node has none",
		"it refuses this node, which has a secret where it has none"},
	[SAME_NAME] = {"it is refused: it has the name of this node",
		"it refuses this node, which has its name"},
};

static const char *const labels[] = {
	[PEER_CLIENT] = "joaderfs peer client",
	[PEER_SERVER] = "joaderfs peer server",
};

static int fail(struct peer_handshake *handshake, int err, const char *why)
{
	handshake->why = why;
	return err;
}

static void put(struct peer_handshake *handshake, const void *bytes, size_t n)
{
	ensure(handshake->n_out + n <= sizeof(handshake->out));
	memcpy(handshake->out + handshake->n_out, bytes, n);
	handshake->n_out += n;
}

int peer_handshake_begin(struct peer_handshake *handshake, const struct peer_self *self,
	enum peer_role role, const char *expected)
{
	struct peer_hello hello = {.version = PEER_VERSION,
		.has_secret = self->secret != NULL,
		.incarnation = self->incarnation};
	*handshake =
		(struct peer_handshake){.self = self, .role = role, .expected = expected};
	strncpy(hello.name, self->name, PEER_NAME);
	if (getrandom(hello.nonce, sizeof(hello.nonce), 0) != sizeof(hello.nonce))
		return fail(handshake, errno ? -errno : -EIO, "no random numbers");
	peer_hello_put(&hello, handshake->hellos[role]);
	if (role == PEER_CLIENT)
		put(handshake, handshake->hellos[role], PEER_HELLO_BYTES);
	return 0;
}

static int sign(const struct peer_handshake *handshake, enum peer_role role,
	uint8_t ret[static PEER_PROOF_BYTES])
{
	return peer_secret_sign(handshake->self->secret, labels[role],
		strlen(labels[role]), handshake->hellos, sizeof(handshake->hellos), ret);
}

static int put_proof(struct peer_handshake *handshake)
{
	uint8_t proof[PEER_PROOF_BYTES];
	if (sign(handshake, handshake->role, proof))
		return fail(handshake, -ENOMEM, "its proof can't be computed");
	put(handshake, proof, sizeof(proof));
	return 0;
}

static bool is_proof(const struct peer_handshake *handshake, const uint8_t *proof)
{
	uint8_t right[PEER_PROOF_BYTES];
	enum peer_role other = handshake->role == PEER_CLIENT ? PEER_SERVER : PEER_CLIENT;
	return sign(handshake, other, right) == 0 && peer_secret_equal(right, proof);
}

/* --- steps ------------------------------------------------------------------------------- */

static enum verdict judge(const struct peer_handshake *handshake, const uint8_t *proof)
{
	const struct peer_self *self = handshake->self;
	if (self->secret && !handshake->other.has_secret)
		return SECRET_MISSING;
	if (!self->secret && handshake->other.has_secret)
		return SECRET_TOO_MANY;
	if (!is_proof(handshake, proof))
		return WRONG_SECRET;
	return strcmp(handshake->other.name, self->name) == 0 ? SAME_NAME : WELCOME;
}

static int other_version(struct peer_handshake *handshake)
{
	snprintf(handshake->text, sizeof(handshake->text),
		"it speaks another version of the protocol: found %u, allowed: %u",
		handshake->other.version, PEER_VERSION);
	return fail(handshake, -EPROTO, handshake->text);
}

/* Also to one of another version, which can so tell its own log. */
static int take_hello(struct peer_handshake *handshake)
{
	bool serves = handshake->role == PEER_SERVER;
	int err = peer_hello_take(handshake->in, &handshake->other, &handshake->why);
	if (serves && (!err || handshake->other.version))
		put(handshake, handshake->hellos[PEER_SERVER], PEER_HELLO_BYTES);
	if (err && handshake->other.version && handshake->other.version != PEER_VERSION)
		return other_version(handshake);
	if (err)
		return err;
	memcpy(handshake->hellos[serves ? PEER_CLIENT : PEER_SERVER], handshake->in,
		PEER_HELLO_BYTES);
	handshake->step = serves ? PEER_STEP_PROOF : PEER_STEP_VERDICT;
	if (serves)
		return 0;
	if (handshake->self->secret && !handshake->other.has_secret)
		return fail(
			handshake, -EACCES, "it has no secret, and this node has one");
	if (strcmp(handshake->expected, handshake->other.name) != 0)
		return fail(handshake, -EACCES, "a node of another name answers there");
	return put_proof(handshake);
}

static int take_proof(struct peer_handshake *handshake)
{
	enum verdict verdict = judge(handshake, handshake->in);
	uint32_t code = htole32(verdict);
	put(handshake, &code, sizeof(code));
	if (verdict == WELCOME)
		return put_proof(handshake) ? -ENOMEM : 1;
	uint8_t none[PEER_PROOF_BYTES] = {0};
	put(handshake, none, sizeof(none));
	return fail(handshake, -EACCES, reasons[verdict][0]);
}

static int take_verdict(struct peer_handshake *handshake)
{
	uint32_t code;
	memcpy(&code, handshake->in, sizeof(code));
	code = le32toh(code);
	if (code >= N_VERDICTS)
		return fail(handshake, -EPROTO, "its verdict is none");
	if (code != WELCOME)
		return fail(handshake, -EACCES, reasons[code][1]);
	if (!is_proof(handshake, handshake->in + sizeof(code)))
		return fail(handshake, -EACCES, "it can't prove that it has the secret");
	return 1;
}

static size_t bytes_of(enum peer_step step)
{
	return step == PEER_STEP_HELLO	 ? PEER_HELLO_BYTES
	       : step == PEER_STEP_PROOF ? PEER_PROOF_BYTES
					 : PEER_VERDICT_BYTES;
}

int peer_handshake_take(struct peer_handshake *handshake, const uint8_t *bytes, size_t n,
	size_t *ret_used)
{
	int err = 0;
	*ret_used = 0;
	while (err == 0 && *ret_used < n) {
		size_t lacks = bytes_of(handshake->step) - handshake->n_in;
		size_t part = n - *ret_used < lacks ? n - *ret_used : lacks;
		memcpy(handshake->in + handshake->n_in, bytes + *ret_used, part);
		handshake->n_in += part;
		*ret_used += part;
		if (part < lacks)
			break;
		err = handshake->step == PEER_STEP_HELLO   ? take_hello(handshake)
		      : handshake->step == PEER_STEP_PROOF ? take_proof(handshake)
							   : take_verdict(handshake);
		handshake->n_in = 0;
	}
	return err;
}
