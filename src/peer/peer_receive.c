// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "peer/peer_client_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

/* about the most bytes read from one connection in one turn of the loop */
#define TURN_BYTES (4u << 20)

/* Returns the request's slot; NULL: no request of this number waits for an answer. */
static struct peer_slot *slot_of(struct peer_node *node, uint32_t request)
{
	struct peer_slot *slot = &node->slots[request % PEER_WINDOW];
	return slot->is_used && slot->request == request ? slot : NULL;
}

static void end_answer(struct peer_node *node)
{
	struct peer_slot *slot = slot_of(node, node->answer.request);
	struct peer_want *want = slot->want;
	int err = node->answer.status ? node->answer.status : node->to_err;
	node->in_body = false;
	node->to = NULL;
	peer_slot_free(node, slot);
	if (!want)
		return;
	if (!err) {
		atomic_fetch_add(&node->bytes, node->answer.length);
		/* The node works: the pause after its next failure is the shortest again. */
		node->pause_ns = 0;
	}
	peer_want_done(want, err);
}

static void begin_body(struct peer_node *node, const struct peer_slot *slot)
{
	const struct peer_answer *answer = &node->answer;
	node->in_body = true;
	node->got = 0;
	node->to = NULL;
	node->to_err = 0;
	if (!slot->want || answer->status)
		return;
	const struct peer_fetch *fetch = &slot->want->fetch;
	node->to = fetch->place_for(fetch->context, node->in + PEER_ANSWER_BYTES,
		answer->head_bytes, answer->length);
	if (!node->to)
		node->to_err = -EBADMSG;
}

static void drop_input(struct peer_node *node, size_t n)
{
	memmove(node->in, node->in + n, node->n_in - n);
	node->n_in -= n;
}

static int take_front(struct peer_node *node, const char **ret_why)
{
	struct peer_answer *answer = &node->answer;
	if (node->n_in < PEER_ANSWER_BYTES)
		return 0;
	int err = peer_answer_take(node->in, node->client->most_bytes, answer, ret_why);
	if (err || node->n_in < PEER_ANSWER_BYTES + answer->head_bytes)
		return err;
	const struct peer_slot *slot = slot_of(node, answer->request);
	if (!slot) {
		*ret_why = "it answers a request that was not sent";
		return -EPROTO;
	}
	begin_body(node, slot);
	drop_input(node, PEER_ANSWER_BYTES + answer->head_bytes);
	return 0;
}

static void take_body(struct peer_node *node)
{
	uint64_t lacks = node->answer.length - node->got;
	size_t n = node->n_in < lacks ? node->n_in : (size_t)lacks;
	if (node->to)
		memcpy(node->to + node->got, node->in, n);
	node->got += n;
	drop_input(node, n);
	if (node->got == node->answer.length)
		end_answer(node);
}

static int take_input(struct peer_node *node, const char **ret_why)
{
	size_t before;
	do {
		before = node->n_in;
		if (!node->in_body) {
			int err = take_front(node, ret_why);
			if (err)
				return err;
		}
		if (node->in_body)
			take_body(node);
	} while (node->n_in > 0 && node->n_in != before);
	return 0;
}

/* Reads the rest of the tensor to its destination, and the bytes that follow into the buffer. */
static ssize_t receive_body(struct peer_node *node, size_t *ret_room)
{
	uint64_t lacks = node->answer.length - node->got;
	struct iovec parts[2] = {
		{.iov_base = node->to ? node->to + node->got : node->client->scratch,
			.iov_len = lacks},
		{.iov_base = node->in, .iov_len = sizeof(node->in)}};
	bool whole = node->to || lacks <= PEER_SCRATCH_BYTES;
	if (!whole)
		parts[0].iov_len = PEER_SCRATCH_BYTES;
	*ret_room = parts[0].iov_len + (whole ? parts[1].iov_len : 0);
	ssize_t n = peer_link_read(&node->stream, parts, whole ? 2 : 1);
	if (n <= 0)
		return n;
	uint64_t body = (uint64_t)n < lacks ? (uint64_t)n : lacks;
	node->got += body;
	node->n_in = (size_t)((uint64_t)n - body);
	return n;
}

static ssize_t receive_some(struct peer_node *node, size_t *ret_room)
{
	if (node->in_body) /* while a tensor is being received, the buffer is empty */
		return receive_body(node, ret_room);
	*ret_room = sizeof(node->in) - node->n_in;
	const struct iovec part = {
		.iov_base = node->in + node->n_in, .iov_len = *ret_room};
	ssize_t n = peer_link_read(&node->stream, &part, 1);
	if (n > 0)
		node->n_in += (size_t)n;
	return n;
}

int peer_receive(struct peer_node *node, const char **ret_why)
{
	uint64_t all = 0;
	bool is_empty = false; /* the socket returned fewer bytes than requested */
	while ((all < TURN_BYTES && !is_empty) || peer_link_has_more(&node->stream)) {
		size_t room;
		ssize_t n = receive_some(node, &room);
		if (n < 0) {
			*ret_why = node->stream.why;
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		}
		if (n == 0) {
			*ret_why = node->in_body || node->n_in > 0
					   ? "it hung up in the middle of a tensor"
					   : "it hung up";
			return -ECONNRESET;
		}
		all += (uint64_t)n;
		is_empty = !node->stream.tls && (size_t)n < room;
		if (node->in_body && node->got == node->answer.length)
			end_answer(node);
		int err = take_input(node, ret_why);
		if (err)
			return err;
	}
	return 0;
}
