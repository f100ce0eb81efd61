// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "peer/peer_wire.h"

#include "base/byte_order.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define MAGIC "joaderfs"
#define MAGIC_BYTES 8
#define HAS_TRUST 1u
#define ENCRYPTS 2u
/* begins each answer; if it is missing, the client has lost its place in the stream */
#define ANSWER_MARK 0x7265706au

static uint8_t *put32(uint8_t *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static uint8_t *put64(uint8_t *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static int wrong(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EPROTO;
}

/* --- hello: magic 8, version 4, flags 4, verdict 4, zeros 28, incarnation 8, name 64, zeros 8 */

void peer_hello_put(const struct peer_hello *hello, uint8_t ret[static PEER_HELLO_BYTES])
{
	memset(ret, 0, PEER_HELLO_BYTES);
	memcpy(ret, MAGIC, MAGIC_BYTES);
	put32(ret + 8, hello->version);
	put32(ret + 12,
		(hello->has_trust ? HAS_TRUST : 0) | (hello->encrypts ? ENCRYPTS : 0));
	put32(ret + 16, hello->verdict);
	put64(ret + 48, hello->incarnation);
	memcpy(ret + 56, hello->name, strnlen(hello->name, PEER_NAME));
}

/* Accepts printable ASCII without spaces, because names are logged. */
static bool is_name(const char *name)
{
	size_t n = 0;
	for (; name[n]; n++)
		if (name[n] <= ' ' || name[n] > '~')
			return false;
	return n > 0;
}

int peer_hello_take(const uint8_t bytes[static PEER_HELLO_BYTES], struct peer_hello *ret,
	const char **ret_why)
{
	*ret = (struct peer_hello){0};
	if (memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
		return wrong(ret_why, "it is no joaderfs");
	ret->version = get_le32(bytes + 8);
	if (ret->version != PEER_VERSION)
		return wrong(ret_why, "it speaks another version of the protocol");
	ret->has_trust = get_le32(bytes + 12) & HAS_TRUST;
	ret->encrypts = get_le32(bytes + 12) & ENCRYPTS;
	uint32_t verdict = get_le32(bytes + 16);
	if (verdict >= PEER_N_VERDICTS)
		return wrong(ret_why, "its verdict is invalid");
	ret->verdict = (enum peer_verdict)verdict;
	ret->incarnation = get_le64(bytes + 48);
	memcpy(ret->name, bytes + 56, PEER_NAME);
	return is_name(ret->name) ? 0 : wrong(ret_why, "its name is invalid");
}

/* --- frames of a client ------------------------------------------------------------------ */

static int take_space(
	const uint8_t *body, uint32_t n, struct peer_frame *frame, const char **ret_why)
{
	if (n < PEER_SPACE_HEAD)
		return wrong(ret_why, "a space is too short");
	frame->space = get_le32(body);
	frame->dataset_bytes = get_le32(body + 4);
	frame->fingerprint = get_le64(body + 8);
	frame->preparation_bytes = get_le32(body + 16);
	frame->dataset = (const char *)body + PEER_SPACE_HEAD;
	frame->preparation = frame->dataset + frame->dataset_bytes;
	if (frame->space >= PEER_SPACES)
		return wrong(ret_why, "a space has a number that is too large");
	if (frame->dataset_bytes > PEER_SPACE_TEXT ||
		frame->preparation_bytes > PEER_SPACE_TEXT ||
		PEER_SPACE_HEAD + frame->dataset_bytes + frame->preparation_bytes != n)
		return wrong(
			ret_why, "a space's texts have another length than announced");
	return 0;
}

static int take_fetch(
	const uint8_t *body, uint32_t n, struct peer_frame *frame, const char **ret_why)
{
	if (n < PEER_FETCH_HEAD)
		return wrong(ret_why, "a fetch is too short");
	frame->space = get_le32(body);
	frame->count = get_le32(body + 4);
	frame->wants = body + PEER_FETCH_HEAD;
	if (frame->space >= PEER_SPACES)
		return wrong(ret_why, "a fetch refers to an impossible space");
	if (frame->count == 0 || frame->count > PEER_WINDOW ||
		PEER_FETCH_HEAD + (uint64_t)frame->count * 8 != n)
		return wrong(ret_why, "a fetch has another length than announced");
	return 0;
}

int peer_frame_take(
	const uint8_t *bytes, size_t n, struct peer_frame *ret, const char **ret_why)
{
	if (n < PEER_FRAME_HEAD)
		return 0;
	uint32_t kind = get_le32(bytes), body = get_le32(bytes + 4);
	const uint8_t *at = bytes + PEER_FRAME_HEAD;
	*ret = (struct peer_frame){.kind = (enum peer_frame_kind)kind};
	if (kind != PEER_FRAME_SPACE && kind != PEER_FRAME_FETCH)
		return wrong(ret_why, "a message is of an unknown kind");
	if (body > PEER_FRAME_MOST - PEER_FRAME_HEAD)
		return wrong(ret_why, "a message is too long");
	if (n < PEER_FRAME_HEAD + body)
		return 0;
	int err = kind == PEER_FRAME_SPACE ? take_space(at, body, ret, ret_why)
					   : take_fetch(at, body, ret, ret_why);
	return err ? err : (int)(PEER_FRAME_HEAD + body);
}

void peer_frame_want(const struct peer_frame *frame, uint32_t i, uint32_t *ret_request,
	sample_id *ret_sample)
{
	*ret_request = get_le32(frame->wants + (size_t)i * 8);
	*ret_sample = get_le32(frame->wants + (size_t)i * 8 + 4);
}

size_t peer_space_put(uint8_t *to, uint32_t number, const struct peer_space *space)
{
	size_t dataset = strlen(space->dataset), preparation = strlen(space->preparation);
	size_t body = PEER_SPACE_HEAD + dataset + preparation;
	uint8_t *at = put32(put32(to, PEER_FRAME_SPACE), (uint32_t)body);
	at = put32(put32(at, number), (uint32_t)dataset);
	at = put64(at, space->fingerprint);
	at = put32(put32(at, (uint32_t)preparation), 0);
	memcpy(at, space->dataset, dataset);
	memcpy(at + dataset, space->preparation, preparation);
	return PEER_FRAME_HEAD + body;
}

size_t peer_fetch_begin(uint8_t *to, uint32_t space)
{
	put32(put32(to, PEER_FRAME_FETCH), 0);
	put32(put32(to + PEER_FRAME_HEAD, space), 0);
	return PEER_FRAME_HEAD + PEER_FETCH_HEAD;
}

size_t peer_fetch_put(uint8_t *to, uint32_t request, sample_id sample)
{
	put32(put32(to, request), sample);
	return 8;
}

void peer_fetch_end(uint8_t *frame, uint32_t count)
{
	put32(frame + 4, PEER_FETCH_HEAD + count * 8);
	put32(frame + PEER_FRAME_HEAD + 4, count);
}

/* --- answers: mark 4, request 4, status 4, bytes of the head 4, length 8 ----------------- */

void peer_answer_put(
	const struct peer_answer *answer, uint8_t ret[static PEER_ANSWER_BYTES])
{
	put32(ret, ANSWER_MARK);
	put32(ret + 4, answer->request);
	put32(ret + 8, (uint32_t)-answer->status);
	put32(ret + 12, answer->head_bytes);
	put64(ret + 16, answer->length);
}

int peer_answer_take(const uint8_t bytes[static PEER_ANSWER_BYTES], uint64_t most_bytes,
	struct peer_answer *ret, const char **ret_why)
{
	uint32_t status = get_le32(bytes + 8);
	*ret = (struct peer_answer){.request = get_le32(bytes + 4),
		.head_bytes = get_le32(bytes + 12),
		.length = get_le64(bytes + 16)};
	if (get_le32(bytes) != ANSWER_MARK)
		return wrong(ret_why, "an answer begins with invalid bytes");
	if (status > PEER_ERRNO_MOST)
		return wrong(ret_why, "an answer has an unknown error");
	ret->status = -(int)status;
	if (ret->head_bytes > PEER_HEAD)
		return wrong(ret_why, "an answer's head is too long");
	if (ret->length > most_bytes)
		return wrong(ret_why, "an answer is longer than any tensor");
	if (ret->status && (ret->head_bytes || ret->length))
		return wrong(ret_why, "an answer with an error has data");
	return 0;
}
