// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/peer.h"

/*
 * What daemons say to each other, as bytes. Numbers are little-endian.
 *
 *     client                                  server
 *     hello 128                       ---->
 *                                     <----   hello 128, with its verdict
 *     space: 8, 24, dataset, preparation  ->
 *     fetch: 8, 8, n * (request, sample)  ->
 *                                     <----   answer 24, head, bytes
 *
 * The first 12 bytes of a hello are the same in every version of the protocol, so that
 * another version can be told from what is no daemon.
 *
 *   Flow: the functions ending in _put write; those ending in _take read bytes of a
 *         stranger.
 *   Threads, locks, clock, files: none.
 *   Errors: -EPROTO, with *ret_why set to a static text.
 */

#define PEER_HELLO_BYTES 128
#define PEER_FRAME_HEAD 8
#define PEER_SPACE_HEAD 24
#define PEER_FETCH_HEAD 8
#define PEER_ANSWER_BYTES 24
#define PEER_ERRNO_MOST 4095
/* The largest frame of a client. */
#define PEER_FRAME_MOST (PEER_FRAME_HEAD + PEER_FETCH_HEAD + 8 * PEER_WINDOW)

/* What a server thinks of a client; the client is told. */
enum peer_verdict {
	PEER_WELCOME,
	PEER_HAS_NO_TRUST,
	PEER_HAS_TRUST,
	PEER_HAS_THE_NAME,
	PEER_IS_PLAIN,
	PEER_ENCRYPTS,
	PEER_N_VERDICTS
};

struct peer_hello {
	uint32_t version;
	bool has_trust;		   /* a secret or a certificate */
	bool encrypts;		   /* what follows, too */
	enum peer_verdict verdict; /* of a server */
	uint64_t incarnation;
	char name[PEER_NAME + 1];
};

void peer_hello_put(const struct peer_hello *hello, uint8_t ret[static PEER_HELLO_BYTES]);
/* With another version than ours, nothing but the version is set, and it is -EPROTO. */
must_check int peer_hello_take(const uint8_t bytes[static PEER_HELLO_BYTES],
	struct peer_hello *ret, const char **ret_why);

/* What a client asks for. The texts are not terminated, and lie in the bytes that were
 * read. */
enum peer_frame_kind { PEER_FRAME_SPACE = 1, PEER_FRAME_FETCH = 2 };

struct peer_frame {
	enum peer_frame_kind kind;
	uint32_t space; /* below PEER_SPACES */
	/* PEER_FRAME_SPACE */
	uint64_t fingerprint;
	const char *dataset, *preparation;
	size_t dataset_bytes, preparation_bytes;
	/* PEER_FRAME_FETCH */
	uint32_t count; /* [1, PEER_WINDOW] */
	const uint8_t *wants;
};

/* The first frame of n bytes. The number of its bytes; 0: there are too few. */
must_check int peer_frame_take(
	const uint8_t *bytes, size_t n, struct peer_frame *ret, const char **ret_why);
void peer_frame_want(const struct peer_frame *frame, uint32_t i, uint32_t *ret_request,
	sample_id *ret_sample);

/* These return the number of bytes that they have written. */
size_t peer_space_put(uint8_t *to, uint32_t number, const struct peer_space *space);
size_t peer_fetch_begin(uint8_t *to, uint32_t space);
size_t peer_fetch_put(uint8_t *to, uint32_t request, sample_id sample);
void peer_fetch_end(uint8_t *frame, uint32_t count);

struct peer_answer {
	uint32_t request;
	int status; /* 0 or a negative errno, with which there are no head and no bytes */
	uint32_t head_bytes;
	uint64_t length;
};

void peer_answer_put(
	const struct peer_answer *answer, uint8_t ret[static PEER_ANSWER_BYTES]);
must_check int peer_answer_take(const uint8_t bytes[static PEER_ANSWER_BYTES],
	uint64_t most_bytes, struct peer_answer *ret, const char **ret_why);
