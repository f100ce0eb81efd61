// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "base/secret_file.h"
#include "cluster/peer_handshake.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define SECRET_LEAST 16

struct peer_secret {
	size_t n;
	uint8_t bytes[PEER_SECRET + 1];
};

int peer_secret_read(const char *path, struct peer_secret **ret)
{
	struct peer_secret *secret = calloc(1, sizeof(*secret));
	if (!secret)
		return -ENOMEM;
	char message[SECRET_FILE_MESSAGE];
	int err = secret_file_read("secret", path, secret->bytes, sizeof(secret->bytes),
		&secret->n, message);
	if (err)
		log_error("[cluster]:%s", message);
	if (!err && (secret->n < SECRET_LEAST || secret->n > PEER_SECRET)) {
		log_error("[cluster]:secret: %s: %s%zu bytes; allowed: %d to %d", path,
			secret->n > PEER_SECRET ? "at least " : "", secret->n,
			SECRET_LEAST, PEER_SECRET);
		err = -EINVAL;
	}
	if (err)
		peer_secret_free(&secret);
	else
		*ret = secret;
	return err;
}

void peer_secret_free(struct peer_secret **secret)
{
	if (*secret)
		OPENSSL_cleanse(*secret, sizeof(**secret));
	free(*secret);
	*secret = NULL;
}

/* --- what it is for ---------------------------------------------------------------------- */

#define MOST_SIGNED 512

int peer_secret_sign(const struct peer_secret *secret, const void *label,
	size_t label_bytes, const void *bytes, size_t n,
	uint8_t ret[static PEER_PROOF_BYTES])
{
	uint8_t all[MOST_SIGNED];
	unsigned length = 0;
	memset(ret, 0, PEER_PROOF_BYTES);
	if (!secret)
		return 0;
	if (label_bytes + n > sizeof(all))
		return -EINVAL;
	memcpy(all, label, label_bytes);
	memcpy(all + label_bytes, bytes, n);
	if (!HMAC(EVP_sha256(), secret->bytes, (int)secret->n, all, label_bytes + n, ret,
		    &length) ||
		length != PEER_PROOF_BYTES)
		return -ENOMEM;
	return 0;
}

bool peer_secret_equal(const uint8_t a[static PEER_PROOF_BYTES],
	const uint8_t b[static PEER_PROOF_BYTES])
{
	return CRYPTO_memcmp(a, b, PEER_PROOF_BYTES) == 0;
}
