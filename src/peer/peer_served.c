// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "peer/peer_server_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#define TURN 32 /* most answers sent on a connection in one turn of the loop */

int peer_served_new(
	struct peer_server *server, int fd, const struct peer_address *address)
{
	struct peer_served *served = calloc(1, sizeof(*served));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = served};
	int err = served ? 0 : -ENOMEM;
	if (!err && epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		err = -errno;
	if (err) {
		close(fd);
		free(served);
		return err;
	}
	peer_socket_tune(fd);
	peer_address_print(address, served->address);
	STAILQ_INIT(&served->answered);
	served->server = server;
	peer_link_begin(&served->stream, fd, true);
	peer_handshake_begin(&served->handshake, &server->self, PEER_SERVER, NULL);
	served->begun_ns = served->progress_ns = clock_now_ns();
	TAILQ_INSERT_TAIL(&server->connections, served, link);
	server->n_connections++;
	server->n_strangers++;
	return 0;
}

static void log_end(const struct peer_served *served, const char *why)
{
	if (served->is_welcome)
		log_warn(
			"peer %s at %s: %s", served->counted->name, served->address, why);
	else if (!peer_server_may_log(served->server))
		return;
	else if (served->handshake.other.name[0])
		log_warn("peer %s at %s: %s", served->handshake.other.name,
			served->address, why);
	else
		log_warn("peer at %s: %s", served->address, why);
}

static void drop_answers(struct peer_served *served)
{
	struct peer_request *request;
	while ((request = STAILQ_FIRST(&served->answered))) {
		STAILQ_REMOVE_HEAD(&served->answered, link);
		served->n_open--;
		peer_request_free(request);
	}
}

void peer_served_end(struct peer_served *served, int err, const char *why)
{
	struct peer_server *server = served->server;
	ensure(served->stream.fd >= 0);
	if (why)
		log_end(served, why);
	else if (err && served->is_welcome && err != -ECONNRESET && err != -EPIPE)
		log_end(served, strerror(-err));
	peer_link_close(&served->stream);
	TAILQ_REMOVE(&server->connections, served, link);
	TAILQ_INSERT_TAIL(&server->gone, served, link);
	server->n_connections--;
	if (!served->is_welcome)
		server->n_strangers--;
	drop_answers(served);
}

void peer_served_free(struct peer_served *served)
{
	ensure(served->stream.fd < 0 && served->n_asked == 0);
	TAILQ_REMOVE(&served->server->gone, served, link);
	for (size_t i = 0; i < PEER_SPACES; i++)
		free(served->spaces[i]);
	free(served);
}

/* --- sending ----------------------------------------------------------------------------- */

/* Sends the rest of the front (the answer's fixed part and head), then the tensor's bytes. */
static ssize_t send_some(struct peer_served *served, struct peer_request *request)
{
	const struct peer_tensor *tensor = &request->tensor;
	size_t n_front = request->n_front;
	size_t front = request->sent < n_front ? n_front - request->sent : 0;
	uint64_t body = front ? 0 : request->sent - n_front;
	uint8_t *bytes = (uint8_t *)(uintptr_t)tensor->bytes;
	const struct iovec parts[2] = {
		{.iov_base = request->front + n_front - front, .iov_len = front},
		{.iov_base = body > 0 ? bytes + body : bytes,
			.iov_len = tensor->length - body}};
	return peer_link_send(&served->stream, parts);
}

/* Returns 1 when the answer is sent completely, 0 if the socket accepts no more now. */
static int send_first(struct peer_served *served, struct peer_request *request)
{
	uint64_t all = request->n_front + request->tensor.length;
	while (request->sent < all) {
		ssize_t n = send_some(served, request);
		if (n < 0)
			return errno == EAGAIN ? 0 : errno == EINTR ? 0 : -errno;
		request->sent += (uint64_t)n;
		served->progress_ns = clock_now_ns();
	}
	return 1;
}

static void sent_whole(struct peer_served *served, struct peer_request *request)
{
	STAILQ_REMOVE_HEAD(&served->answered, link);
	served->n_open--;
	atomic_fetch_add(&served->counted->bytes, request->tensor.length);
	peer_request_free(request);
}

static int send_answers(struct peer_served *served)
{
	struct peer_request *request;
	int sent = 1;
	for (int i = 0; i < TURN && (request = STAILQ_FIRST(&served->answered)); i++) {
		sent = send_first(served, request);
		if (sent <= 0)
			break;
		sent_whole(served, request);
	}
	if (sent >= 0)
		peer_link_await(&served->stream, served->server->epoll, served,
			!STAILQ_EMPTY(&served->answered));
	return sent < 0 ? sent : 0;
}

void peer_served_answer(struct peer_served *served, struct peer_request *request)
{
	served->n_asked--;
	STAILQ_INSERT_TAIL(&served->answered, request, link);
	if (served->stream.fd < 0) {
		drop_answers(served);
		return;
	}
	if (served->stream.waits_to_send)
		return;
	int err = send_answers(served);
	if (err)
		peer_served_end(served, err, served->stream.why);
}

/* --- receiving --------------------------------------------------------------------------- */

static int name_space(
	struct peer_served *served, const struct peer_frame *frame, const char **ret_why)
{
	size_t n = frame->dataset_bytes + frame->preparation_bytes + 2;
	if (served->spaces[frame->space]) {
		*ret_why = "a space is named twice";
		return -EPROTO;
	}
	struct peer_served_space *space = calloc(1, sizeof(*space) + n);
	if (!space)
		return -ENOMEM;
	char *preparation = space->texts + frame->dataset_bytes + 1;
	memcpy(space->texts, frame->dataset, frame->dataset_bytes);
	memcpy(preparation, frame->preparation, frame->preparation_bytes);
	space->space = (struct peer_space){.dataset = space->texts,
		.preparation = preparation,
		.fingerprint = frame->fingerprint};
	served->spaces[frame->space] = space;
	return 0;
}

static int ask(struct peer_served *served, const struct peer_frame *frame, uint32_t i)
{
	struct peer_server *server = served->server;
	struct peer_request *request = malloc(sizeof(*request));
	sample_id sample;
	if (!request)
		return -ENOMEM;
	request->served = served;
	request->sent = 0;
	request->tensor.release = NULL;
	peer_frame_want(frame, i, &request->number, &sample);
	served->n_open++;
	served->n_asked++;
	atomic_fetch_add(&server->n_requests, 1);
	server->calls.asked(server->calls.context, request,
		&served->spaces[frame->space]->space, sample);
	return 0;
}

static int fetch(
	struct peer_served *served, const struct peer_frame *frame, const char **ret_why)
{
	int err = 0;
	if (!served->spaces[frame->space]) {
		*ret_why = "a fetch refers to a space without a name";
		return -EPROTO;
	}
	if (served->n_open + frame->count > PEER_WINDOW) {
		*ret_why = "it sends more requests at once than allowed";
		return -EPROTO;
	}
	for (uint32_t i = 0; i < frame->count && !err; i++)
		err = ask(served, frame, i);
	return err;
}

static int take_frames(struct peer_served *served, const char **ret_why)
{
	struct peer_frame frame;
	size_t used = 0;
	int n;
	while ((n = peer_frame_take(
			served->in + used, served->n_in - used, &frame, ret_why)) > 0) {
		int err = frame.kind == PEER_FRAME_SPACE
				  ? name_space(served, &frame, ret_why)
				  : fetch(served, &frame, ret_why);
		if (err)
			return err;
		used += (size_t)n;
	}
	memmove(served->in, served->in + used, served->n_in - used);
	served->n_in -= used;
	return n;
}

static int welcome(struct peer_served *served)
{
	served->counted = peer_server_count(served->server, &served->handshake.other);
	if (!served->counted)
		return -ENOMEM;
	served->is_welcome = true;
	served->server->n_strangers--;
	return 0;
}

static int greet(struct peer_served *served, const char **ret_why)
{
	int done = peer_handshake_go(&served->handshake, &served->stream);
	if (done < 0)
		*ret_why = served->handshake.why;
	if (done > 0)
		return welcome(served);
	peer_link_await(&served->stream, served->server->epoll, served,
		served->stream.wants_to_send);
	return done;
}

static int receive_some(struct peer_served *served, const char **ret_why)
{
	const struct iovec part = {.iov_base = served->in + served->n_in,
		.iov_len = sizeof(served->in) - served->n_in};
	ssize_t n = peer_link_read(&served->stream, &part, 1);
	if (n < 0) {
		*ret_why = served->stream.why;
		return -errno;
	}
	if (n == 0) {
		if (served->n_in > 0)
			*ret_why = "it hung up in the middle of a message";
		return -ECONNRESET;
	}
	served->n_in += (size_t)n;
	served->progress_ns = clock_now_ns();
	return take_frames(served, ret_why);
}

static int receive(struct peer_served *served, const char **ret_why)
{
	int err;
	do {
		err = receive_some(served, ret_why);
	} while (!err && peer_link_has_more(&served->stream));
	return err == -EAGAIN || err == -EINTR ? 0 : err;
}

int peer_served_event(struct peer_served *served, uint32_t events)
{
	const char *why = NULL;
	int err = 0;
	if (!served->is_welcome)
		err = greet(served, &why);
	else if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		err = receive(served, &why);
	if (err) {
		peer_served_end(served, err, why);
		return err;
	}
	if (events & EPOLLOUT && served->is_welcome)
		err = send_answers(served);
	if (err)
		peer_served_end(served, err, served->stream.why);
	return err;
}
