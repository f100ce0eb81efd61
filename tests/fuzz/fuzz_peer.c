// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "peer/peer_client_internal.h"
#include "peer/peer_server_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/*
 * Bytes of a stranger to a server or a client, over a pair of sockets, without threads. The first
 * byte says which of the two, and whether the stranger was greeted before. The second byte says in
 * which pieces the rest comes. Each request and each fetch must end once, and nothing may be left.
 */

#define MOST_BYTES 100000
#define FETCHES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct peer_self self = {.name = "ours"};
static unsigned n_open; /* requests or fetches that have not ended */

static void make_pair(int ret[2])
{
	ensure(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ret) ==
		0);
}

/* Reads and drops all bytes. */
static void drain(int fd)
{
	uint8_t bytes[4096];
	while (read(fd, bytes, sizeof(bytes)) > 0) {
	}
}

/* --- the server -------------------------------------------------------------------------- */

static struct peer_server server;
/* the request that is answered when all bytes have come */
static struct peer_request *held;

static void released(void *context)
{
	(void)context;
	n_open--;
}

static void answer(struct peer_request *request, sample_id sample)
{
	static const uint8_t bytes[1000];
	const struct peer_tensor tensor = {.head = bytes,
		.head_bytes = sample % (PEER_HEAD + 1),
		.bytes = bytes,
		.length = sample % sizeof(bytes),
		.release = released};
	peer_answer(request, &tensor);
}

static void asked(void *context, struct peer_request *request,
	const struct peer_space *space, sample_id sample)
{
	(void)context;
	ensure(strlen(space->dataset) <= PEER_SPACE_TEXT);
	ensure(strlen(space->preparation) <= PEER_SPACE_TEXT);
	n_open++;
	if (sample % 3 == 1 && !held) {
		held = request;
	} else if (sample % 3 == 2) {
		n_open--;
		peer_refuse(request, -(int)(1 + sample % 100));
	} else {
		answer(request, sample);
	}
}

static void begin_server(void)
{
	server = (struct peer_server){.self = self,
		.calls = {.asked = asked},
		.listener = -1,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	ensure(server.epoll >= 0 && server.wake >= 0);
	TAILQ_INIT(&server.connections);
	TAILQ_INIT(&server.gone);
	STAILQ_INIT(&server.answered);
	SLIST_INIT(&server.counted);
	lock_init(&server.lock, LOCK_RANK_PEER, "peer server");
}

static void send_answers(void)
{
	struct peer_request *request;
	while ((request = STAILQ_FIRST(&server.answered))) {
		STAILQ_REMOVE_HEAD(&server.answered, link);
		peer_served_answer(request->served, request);
	}
}

static void end_server(struct peer_served *served)
{
	struct peer_counted *counted;
	if (held)
		answer(held, 1);
	held = NULL;
	send_answers();
	if (served->stream.fd >= 0)
		peer_served_end(served, 0, NULL);
	ensure(served->n_open == 0);
	peer_served_free(served);
	ensure(n_open == 0 && server.n_requests == 0);
	ensure(server.n_connections == 0 && server.n_strangers == 0);
	while ((counted = SLIST_FIRST(&server.counted))) {
		SLIST_REMOVE_HEAD(&server.counted, link);
		free(counted);
	}
}

static void greet_server(struct peer_served *served, int fd)
{
	const struct peer_hello hello = {.version = PEER_VERSION, .name = "theirs"};
	uint8_t bytes[PEER_HELLO_BYTES];
	peer_hello_put(&hello, bytes);
	ensure(write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes));
	ensure(peer_served_event(served, EPOLLIN) == 0 && served->is_welcome);
}

static void feed_server(const uint8_t *data, size_t size, size_t piece, bool greeted)
{
	const struct peer_address address = {.bytes.ss_family = AF_INET};
	int pair[2];
	make_pair(pair);
	ensure(peer_served_new(&server, pair[0], &address) == 0);
	struct peer_served *served = TAILQ_FIRST(&server.connections);
	if (greeted)
		greet_server(served, pair[1]);
	while (size > 0 && served->stream.fd >= 0) {
		size_t n = size < piece ? size : piece;
		ensure(write(pair[1], data, n) == (ssize_t)n);
		data += n;
		size -= n;
		if (peer_served_event(served, EPOLLIN | EPOLLOUT) == 0)
			ensure(served->n_in < sizeof(served->in));
		send_answers();
		drain(pair[1]);
	}
	close(pair[1]);
	if (served->stream.fd >= 0)
		(void)!peer_served_event(served, EPOLLIN);
	end_server(served);
}

/* --- the client -------------------------------------------------------------------------- */

static struct peer_client client;
static struct peer_node node;

static void *place_for(
	void *context, const void *head, size_t head_bytes, uint64_t length)
{
	uint8_t **bytes = context;
	uint8_t sum = 0;
	ensure(head_bytes <= PEER_HEAD && length <= MOST_BYTES);
	for (size_t i = 0; i < head_bytes; i++)
		sum ^= ((const uint8_t *)head)[i];
	ensure(!*bytes);
	return *bytes = sum == 7 ? NULL : malloc(length + 1);
}

static void done(void *context, int err)
{
	uint8_t **bytes = context;
	(void)err;
	free(*bytes);
	*bytes = NULL;
	n_open--;
}

static void begin_client(void)
{
	client = (struct peer_client){.self = self,
		.most_bytes = MOST_BYTES,
		.wake = -1,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.scratch = malloc(PEER_SCRATCH_BYTES),
		.spaces = {{.dataset = "photos", .preparation = "crop 224"}},
		.n_spaces = 1};
	ensure(client.epoll >= 0 && client.scratch);
	lock_init(&client.lock, LOCK_RANK_PEER, "peer client");
}

static void begin_node(int fd, bool greeted)
{
	static uint8_t *bytes[FETCHES];
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &node};
	node = (struct peer_node){.client = &client,
		.name = "theirs",
		.state = greeted ? PEER_UP : PEER_GREETS,
		.n_free = PEER_WINDOW};
	peer_link_begin(&node.stream, fd, false);
	TAILQ_INIT(&node.queue);
	for (uint32_t i = 0; i < PEER_WINDOW; i++) {
		node.slots[i].request = i;
		node.free_slots[i] = PEER_WINDOW - 1 - i;
	}
	ensure(epoll_ctl(client.epoll, EPOLL_CTL_ADD, fd, &event) == 0);
	peer_handshake_begin(&node.handshake, &self, PEER_CLIENT, "theirs");
	node.handshake.step = PEER_STEP_HELLO;
	for (uint32_t i = 0; i < FETCHES; i++) {
		struct peer_want *want = calloc(1, sizeof(*want));
		ensure(want);
		want->fetch = (struct peer_fetch){.sample = i,
			.deadline_ns = i, /* sometimes the first fetches are too late */
			.place_for = place_for,
			.done = done,
			.context = &bytes[i]};
		TAILQ_INSERT_TAIL(&node.queue, want, link);
		n_open++;
	}
}

static void feed_client(const uint8_t *data, size_t size, size_t piece, bool greeted)
{
	int pair[2];
	make_pair(pair);
	begin_node(pair[0], greeted);
	peer_node_go(&node);
	while (size > 0 && node.stream.fd >= 0) {
		size_t n = size < piece ? size : piece;
		ensure(write(pair[1], data, n) == (ssize_t)n);
		data += n;
		size -= n;
		peer_node_event(&node, EPOLLIN);
		drain(pair[1]);
		if (piece == 13 && node.stream.fd >= 0)
			peer_node_look(&node, 2);
	}
	close(pair[1]);
	if (node.stream.fd >= 0)
		peer_node_event(&node, EPOLLIN);
	peer_node_close(&node, -ECANCELED);
	ensure(n_open == 0 && node.n_free == PEER_WINDOW && node.n_left == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;
	if (!begun) {
		ensure(log_to_file("/dev/null") == 0);
		begin_server();
		begin_client();
		begun = true;
	}
	if (size < 2)
		return 0;
	size_t piece = data[1] == 0 ? 8192 : data[1];
	if (data[0] & 1)
		feed_client(data + 2, size - 2, piece, data[0] & 2);
	else
		feed_server(data + 2, size - 2, piece, data[0] & 2);
	return 0;
}
