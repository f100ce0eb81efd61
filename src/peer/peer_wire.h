// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "peer/peer.h"

/*
 * The messages between daemons, with the lengths of their parts in bytes. Numbers are
 * little-endian. A client's messages after the hello are called frames.
 *
 *     client                                  server
 *     hello 128                       ---->
 *                                     <----   hello 128, with its verdict
 *     space: 8, 24, dataset, preparation  ->
 *     fetch: 8, 8, n * (request, sample)  ->
 *                                     <----   answer 24, head, bytes
 *
 * The first 12 bytes of a hello have one format in every version of the protocol, so that a daemon
 * of another version is recognised as a daemon.
 *
 *   Flow: functions ending in _put write; functions ending in _take read, and check each byte,
 *         because any program may have sent it.
 *   Threads, locks, clock, files: none.
 *   Errors: -EPROTO, with *ret_why set to a static text.
 */

#define PEER_HELLO_BYTES 128
#define PEER_FRAME_HEAD 8
#define PEER_SPACE_HEAD 24
#define PEER_FETCH_HEAD 8
#define PEER_ANSWER_BYTES 24
#define PEER_ERRNO_MOST 4095
/* the largest frame of a client */
#define PEER_FRAME_MOST (PEER_FRAME_HEAD + PEER_FETCH_HEAD + 8 * PEER_WINDOW)

/* A server's verdict on a client, sent in the server's hello. */
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
	bool has_trust;		   /* the node has a secret or a certificate */
	bool encrypts;		   /* bytes after the handshake are encrypted, too */
	enum peer_verdict verdict; /* the server's; a client sends PEER_WELCOME */
	uint64_t incarnation;
	char name[PEER_NAME + 1];
};

void peer_hello_put(const struct peer_hello *hello, uint8_t ret[static PEER_HELLO_BYTES]);
/* Reads a hello. -EPROTO: the hello is malformed, or of another version. A hello of another version
 * sets only ret->version. */
must_check int peer_hello_take(const uint8_t bytes[static PEER_HELLO_BYTES],
	struct peer_hello *ret, const char **ret_why);

enum peer_frame_kind { PEER_FRAME_SPACE = 1, PEER_FRAME_FETCH = 2 };

/* A client's frame. Its texts have no final \0, and point into the bytes read. */
struct peer_frame {
	enum peer_frame_kind kind;
	uint32_t space; /* below PEER_SPACES */
	/* set for PEER_FRAME_SPACE */
	uint64_t fingerprint;
	const char *dataset, *preparation;
	size_t dataset_bytes, preparation_bytes;
	/* set for PEER_FRAME_FETCH */
	uint32_t count; /* [1, PEER_WINDOW] */
	const uint8_t *wants;
};

/* Returns the length of the first frame in the n bytes; 0: the frame is not complete. */
must_check int peer_frame_take(
	const uint8_t *bytes, size_t n, struct peer_frame *ret, const char **ret_why);
/* Reads entry i of a PEER_FRAME_FETCH; i is below frame->count. */
void peer_frame_want(const struct peer_frame *frame, uint32_t i, uint32_t *ret_request,
	sample_id *ret_sample);

/* The functions that write return the number of bytes. To write a fetch frame, call
 * peer_fetch_begin, then peer_fetch_put for each request, then peer_fetch_end. */
size_t peer_space_put(uint8_t *to, uint32_t number, const struct peer_space *space);
size_t peer_fetch_begin(uint8_t *to, uint32_t space);
size_t peer_fetch_put(uint8_t *to, uint32_t request, sample_id sample);
/* frame: as given to peer_fetch_begin; count: the number of calls of peer_fetch_put */
void peer_fetch_end(uint8_t *frame, uint32_t count);

struct peer_answer {
	uint32_t request;
	int status; /* 0; or a negative errno, without head and bytes */
	uint32_t head_bytes;
	uint64_t length;
};

void peer_answer_put(
	const struct peer_answer *answer, uint8_t ret[static PEER_ANSWER_BYTES]);
/* -EPROTO: the answer is malformed, or the tensor is longer than most_bytes. */
must_check int peer_answer_take(const uint8_t bytes[static PEER_ANSWER_BYTES],
	uint64_t most_bytes, struct peer_answer *ret, const char **ret_why);
