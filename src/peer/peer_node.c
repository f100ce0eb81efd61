// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "peer/peer_client_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

/* most overdue answers of a connection; a connection that has more of them hangs, and is ended */
#define MOST_LEFT (PEER_WINDOW / 2)

/* --- the end of a connection ------------------------------------------------------------- */

static void fail_queue(struct peer_node *node, int err)
{
	struct peer_want *want;
	while ((want = TAILQ_FIRST(&node->queue))) {
		TAILQ_REMOVE(&node->queue, want, link);
		peer_want_done(want, err);
	}
}

static void fail_asked(struct peer_node *node, int err)
{
	for (uint32_t i = 0; i < PEER_WINDOW; i++) {
		struct peer_want *want = node->slots[i].want;
		if (!node->slots[i].is_used)
			continue;
		peer_slot_free(node, &node->slots[i]);
		if (want)
			peer_want_done(want, err);
	}
}

static void hang_up(struct peer_node *node, int err)
{
	peer_link_close(&node->stream);
	node->state = PEER_DOWN;
	node->n_in = node->n_out = node->out_sent = 0;
	node->in_body = false;
	node->to = NULL;
	memset(node->knows_space, 0, sizeof(node->knows_space));
	fail_asked(node, err);
}

void peer_node_close(struct peer_node *node, int err)
{
	hang_up(node, err);
	fail_queue(node, err == -ECANCELED ? err : -EHOSTDOWN);
}

void peer_node_move(struct peer_node *node)
{
	if (node->stream.fd >= 0)
		hang_up(node, -ECONNRESET);
	peer_address_print(&node->address, node->address_text);
	node->pause_ns = 0;
}

/* Logs why the connection failed. Does not log the same reason again until a handshake has
 * succeeded. */
static void log_down(struct peer_node *node, const char *why)
{
	if (strcmp(node->why, why) == 0)
		return;
	snprintf(node->why, sizeof(node->why), "%s", why);
	log_warn("node %s at %s: %s; this node prepares its samples", node->name,
		node->address_text, why);
}

/* Sent requests fail with asked_err, queued requests with -EHOSTDOWN. */
static void end_connection(struct peer_node *node, int asked_err, const char *why)
{
	uint64_t pause = node->pause_ns ? 2 * node->pause_ns : PEER_FIRST_PAUSE_NS;
	node->pause_ns = pause < PEER_LAST_PAUSE_NS ? pause : PEER_LAST_PAUSE_NS;
	peer_node_set_down(node, clock_now_ns() + node->pause_ns);
	log_down(node, why);
	peer_node_close(node, asked_err);
}

static void down_for(struct peer_node *node, int err, const char *why)
{
	end_connection(node, -ECONNRESET, why ? why : strerror(-err));
}

/* --- sending ----------------------------------------------------------------------------- */

static struct peer_slot *new_slot(struct peer_node *node, struct peer_want *want)
{
	struct peer_slot *slot = &node->slots[node->free_slots[--node->n_free]];
	slot->request += PEER_WINDOW;
	slot->is_used = true;
	slot->want = want;
	return slot;
}

/* Appends a fetch frame with the queue's first requests, up to a request for another space. */
static void put_fetch(struct peer_node *node, uint32_t space)
{
	uint8_t *frame = node->out + node->n_out;
	struct peer_want *want;
	uint32_t count = 0;
	node->n_out += peer_fetch_begin(frame, space);
	while ((want = TAILQ_FIRST(&node->queue)) && want->fetch.space == space &&
		node->n_free > 0 && node->n_out + 8 <= sizeof(node->out) &&
		count < PEER_WINDOW) {
		TAILQ_REMOVE(&node->queue, want, link);
		const struct peer_slot *slot = new_slot(node, want);
		node->n_out += peer_fetch_put(
			node->out + node->n_out, slot->request, want->fetch.sample);
		count++;
	}
	peer_fetch_end(frame, count);
}

static size_t space_bytes(const struct peer_space *space)
{
	return PEER_FRAME_HEAD + PEER_SPACE_HEAD + strlen(space->dataset) +
	       strlen(space->preparation);
}

static void gather(struct peer_node *node)
{
	const struct peer_want *want;
	while (node->n_free > 0 && (want = TAILQ_FIRST(&node->queue))) {
		uint32_t number = want->fetch.space;
		const struct peer_space *space = &node->client->spaces[number];
		size_t n = PEER_FRAME_HEAD + PEER_FETCH_HEAD + 8;
		if (!node->knows_space[number])
			n += space_bytes(space);
		if (node->n_out + n > sizeof(node->out))
			return;
		if (!node->knows_space[number])
			node->n_out +=
				peer_space_put(node->out + node->n_out, number, space);
		node->knows_space[number] = true;
		put_fetch(node, number);
	}
}

/* Sends and refills the output buffer as long as the socket accepts more. */
static int flush(struct peer_node *node)
{
	for (;;) {
		if (node->out_sent == node->n_out) {
			node->out_sent = node->n_out = 0;
			if (node->state == PEER_UP)
				gather(node);
			if (node->n_out == 0)
				break;
		}
		const struct iovec parts[2] = {{.iov_base = node->out + node->out_sent,
			.iov_len = node->n_out - node->out_sent}};
		ssize_t n = peer_link_send(&node->stream, parts);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n < 0)
			break;
		node->out_sent += (size_t)n;
	}
	peer_link_await(&node->stream, node->client->epoll, node,
		node->out_sent < node->n_out || node->stream.wants_to_send);
	return 0;
}

/* --- connecting -------------------------------------------------------------------------- */

static int connect_node(struct peer_node *node)
{
	struct peer_client *client = node->client;
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = node};
	int domain = node->address.bytes.ss_family;
	peer_link_begin(&node->stream,
		socket(domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), false);
	if (node->stream.fd < 0)
		return -errno;
	peer_socket_tune(node->stream.fd);
	if (connect(node->stream.fd, (const struct sockaddr *)&node->address.bytes,
		    node->address.n) < 0 &&
		errno != EINPROGRESS)
		return -errno;
	if (epoll_ctl(client->epoll, EPOLL_CTL_ADD, node->stream.fd, &event) < 0)
		return -errno;
	node->stream.waits_to_send = true;
	node->state = PEER_CONNECTS;
	node->join_until_ns = clock_now_ns() + PEER_JOIN_NS;
	if (node->join_until_ns < client->next_look_ns)
		client->next_look_ns = node->join_until_ns;
	return 0;
}

static void welcome(struct peer_node *node)
{
	node->state = PEER_UP;
	peer_node_set_down(node, 0);
	if (node->why[0])
		log_info("node %s at %s: answers again", node->name, node->address_text);
	node->why[0] = '\0';
}

static int greet(struct peer_node *node, const char **ret_why)
{
	int done = peer_handshake_go(&node->handshake, &node->stream);
	if (done < 0)
		*ret_why = node->handshake.why;
	else if (done)
		welcome(node);
	return done < 0 ? done : 0;
}

static int connected(struct peer_node *node, const char **ret_why)
{
	int err = 0;
	socklen_t n = sizeof(err);
	if (getsockopt(node->stream.fd, SOL_SOCKET, SO_ERROR, &err, &n) < 0)
		return -errno;
	if (err)
		return -err;
	peer_handshake_begin(
		&node->handshake, &node->client->self, PEER_CLIENT, node->name);
	node->state = PEER_GREETS;
	return greet(node, ret_why);
}

/* --- events ------------------------------------------------------------------------------ */

void peer_node_go(struct peer_node *node)
{
	int err = 0;
	if (TAILQ_EMPTY(&node->queue))
		return;
	if (node->state == PEER_DOWN)
		err = connect_node(node);
	else if (node->state == PEER_UP && !node->stream.waits_to_send)
		err = flush(node);
	if (err)
		down_for(node, err, NULL);
}

void peer_node_event(struct peer_node *node, uint32_t events)
{
	const char *why = NULL;
	int err = 0;
	if (node->state == PEER_CONNECTS)
		err = connected(node, &why);
	else if (node->state == PEER_GREETS)
		err = greet(node, &why);
	else if (node->state == PEER_UP && events & ~EPOLLOUT)
		err = peer_receive(node, &why);
	if (!err && node->state != PEER_CONNECTS)
		err = flush(node);
	if (err)
		down_for(node, err, why);
}

uint64_t peer_node_look(struct peer_node *node, uint64_t now)
{
	struct peer_want *want, *after;
	uint64_t next = UINT64_MAX;
	bool joins = node->state == PEER_CONNECTS || node->state == PEER_GREETS;
	for (want = TAILQ_FIRST(&node->queue); want; want = after) {
		after = TAILQ_NEXT(want, link);
		if (want->fetch.deadline_ns <= now) {
			TAILQ_REMOVE(&node->queue, want, link);
			peer_want_done(want, -ETIMEDOUT);
		} else if (want->fetch.deadline_ns < next) {
			next = want->fetch.deadline_ns;
		}
	}
	for (uint32_t i = 0; i < PEER_WINDOW && node->n_free < PEER_WINDOW; i++) {
		want = node->slots[i].want;
		if (!want)
			continue;
		if (want->fetch.deadline_ns > now) {
			next = want->fetch.deadline_ns < next ? want->fetch.deadline_ns
							      : next;
			continue;
		}
		node->slots[i].want = NULL;
		node->n_left++;
		if (node->in_body && node->answer.request == node->slots[i].request)
			node->to = NULL;
		peer_want_done(want, -ETIMEDOUT);
	}
	if (node->n_left > MOST_LEFT)
		end_connection(node, -ECONNRESET, "it does not answer");
	else if (joins && node->join_until_ns <= now)
		end_connection(node, -EHOSTDOWN, "it sends no greeting");
	else if (joins && node->join_until_ns < next)
		next = node->join_until_ns;
	return next;
}
