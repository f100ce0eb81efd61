// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/address.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/signals.h"
#include "peer/peer_server_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define EVENTS 64
#define LOOK_NS 1000000000u /* interval of the search for connections that hang */
#define LINES 20 /* most lines in LINES_NS about clients without a complete handshake */
#define LINES_NS 10000000000u

/* The server whose loop this thread runs, or NULL. */
static _Thread_local const struct peer_server *looping;

/* --- answers, from any thread ------------------------------------------------------------ */

void peer_request_free(struct peer_request *request)
{
	struct peer_tensor tensor = request->tensor;
	struct peer_server *server = request->served->server;
	free(request);
	/* The last use of `server`: once n_requests is 0, the server's owner may free it. */
	atomic_fetch_sub(&server->n_requests, 1);
	if (tensor.release)
		tensor.release(tensor.context);
}

/* Passes the answered request to the server's thread. Returns false if the server has stopped. The
 * result true means that the caller must not use the request or the server any more: the answer may
 * already be sent, and the server freed. */
static bool hand_over(struct peer_server *server, struct peer_request *request)
{
	LOCK_SCOPE(&server->lock);
	if (server->stopped) {
		request->served->n_asked--;
		return false;
	}
	bool first = STAILQ_EMPTY(&server->answered);
	STAILQ_INSERT_TAIL(&server->answered, request, link);
	if (first && looping != server)
		peer_wake(server->wake);
	return true;
}

static void finish(struct peer_request *request)
{
	if (!hand_over(request->served->server, request))
		peer_request_free(request);
}

void peer_answer(struct peer_request *request, const struct peer_tensor *tensor)
{
	const struct peer_answer answer = {.request = request->number,
		.head_bytes = (uint32_t)tensor->head_bytes,
		.length = tensor->length};
	ensure(tensor->head_bytes <= PEER_HEAD);
	request->tensor = *tensor;
	request->n_front = PEER_ANSWER_BYTES + tensor->head_bytes;
	peer_answer_put(&answer, request->front);
	if (tensor->head_bytes > 0)
		memcpy(request->front + PEER_ANSWER_BYTES, tensor->head,
			tensor->head_bytes);
	finish(request);
}

void peer_refuse(struct peer_request *request, int err)
{
	const struct peer_answer answer = {.request = request->number, .status = err};
	ensure(err < 0 && err >= -PEER_ERRNO_MOST);
	request->tensor = (struct peer_tensor){.length = 0};
	request->n_front = PEER_ANSWER_BYTES;
	peer_answer_put(&answer, request->front);
	finish(request);
}

static bool has_answers(struct peer_server *server, struct peer_requests *ret)
{
	STAILQ_INIT(ret);
	LOCK_SCOPE(&server->lock);
	STAILQ_CONCAT(ret, &server->answered);
	return !STAILQ_EMPTY(ret);
}

static void send_answers(struct peer_server *server)
{
	struct peer_requests answered;
	while (has_answers(server, &answered)) {
		struct peer_request *request;
		while ((request = STAILQ_FIRST(&answered))) {
			STAILQ_REMOVE_HEAD(&answered, link);
			peer_served_answer(request->served, request);
		}
	}
}

/* --- the log and the counters ------------------------------------------------------------ */

bool peer_server_may_log(struct peer_server *server)
{
	uint64_t now = clock_now_ns();
	if (now - server->lines_since_ns > LINES_NS) {
		server->lines_since_ns = now;
		server->n_lines = 0;
	}
	if (server->n_lines++ == LINES)
		log_warn(
			"peers: more messages like these are left out for a few seconds");
	return server->n_lines <= LINES;
}

static struct peer_counted *find_counted_locked(
	const struct peer_server *server, const char *name)
{
	struct peer_counted *counted;
	lock_assert_held(&server->lock);
	SLIST_FOREACH (counted, &server->counted, link)
		if (strcmp(counted->name, name) == 0)
			return counted;
	return NULL;
}

struct peer_counted *peer_server_count(
	struct peer_server *server, const struct peer_hello *hello)
{
	LOCK_SCOPE(&server->lock);
	struct peer_counted *counted = find_counted_locked(server, hello->name);
	if (counted)
		return counted;
	counted = calloc(1, sizeof(*counted));
	if (!counted)
		return NULL;
	memcpy(counted->name, hello->name, sizeof(counted->name));
	SLIST_INSERT_HEAD(&server->counted, counted, link);
	return counted;
}

bool peer_server_bytes(struct peer_server *server, const char *name, uint64_t *ret)
{
	LOCK_SCOPE(&server->lock);
	const struct peer_counted *counted = find_counted_locked(server, name);
	if (counted)
		*ret = counted->bytes;
	return counted;
}

/* --- the loop ---------------------------------------------------------------------------- */

static void listen_again(struct peer_server *server, bool listens)
{
	struct epoll_event event = {
		.events = listens ? EPOLLIN : 0, .data.ptr = &server->listener};
	if (server->listens == listens)
		return;
	server->listens = listens;
	ensure(epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->listener, &event) == 0);
}

/* Ends the oldest connection without a complete handshake if there are PEER_STRANGERS of them, so
 * that strangers can't keep others out. */
static void make_room(struct peer_server *server)
{
	struct peer_served *served;
	if (server->n_strangers < PEER_STRANGERS)
		return;
	TAILQ_FOREACH (served, &server->connections, link) {
		if (served->is_welcome)
			continue;
		peer_served_end(served, 0,
			"it is dropped to make room: too many connections have not "
			"greeted");
		return;
	}
}

static void accept_one(struct peer_server *server)
{
	struct peer_address address = {.n = sizeof(address.bytes)};
	int fd = accept4(server->listener, (struct sockaddr *)&address.bytes, &address.n,
		SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		bool passes = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
		if (!passes && peer_server_may_log(server))
			log_warn("peers: cannot take a connection: %s", strerror(errno));
		if (!passes)
			listen_again(server, false);
		return;
	}
	if (server->n_connections >= PEER_CONNECTIONS) {
		if (peer_server_may_log(server))
			log_warn("peers: a connection is refused: there are already %d, "
				 "the most allowed",
				PEER_CONNECTIONS);
		close(fd);
		return;
	}
	make_room(server);
	int err = peer_served_new(server, fd, &address);
	if (err && peer_server_may_log(server))
		log_warn("peers: cannot serve a connection: %s", strerror(-err));
}

static void look(struct peer_server *server, uint64_t now)
{
	struct peer_served *served, *next;
	for (served = TAILQ_FIRST(&server->connections); served; served = next) {
		next = TAILQ_NEXT(served, link);
		bool busy = served->n_in > 0 || !STAILQ_EMPTY(&served->answered);
		if (!served->is_welcome && now - served->begun_ns > PEER_GREET_NS)
			peer_served_end(served, 0, "its greeting takes too long");
		else if (busy && now - served->progress_ns > PEER_STALL_NS)
			peer_served_end(served, 0,
				"it receives no data; its connection is closed");
	}
	listen_again(server, true);
	server->next_look_ns = now + LOOK_NS;
}

static void free_gone(struct peer_server *server)
{
	struct peer_served *served, *next;
	for (served = TAILQ_FIRST(&server->gone); served; served = next) {
		next = TAILQ_NEXT(served, link);
		if (served->n_asked == 0)
			peer_served_free(served);
	}
}

static void handle(struct peer_server *server, const struct epoll_event *event)
{
	uint64_t count;
	struct peer_served *served = event->data.ptr;
	if (event->data.ptr == &server->listener)
		accept_one(server);
	else if (event->data.ptr == &server->wake)
		(void)!read(server->wake, &count, sizeof(count));
	else if (served->stream.fd >= 0) /* the connection has not ended yet */
		(void)!peer_served_event(served, event->events);
}

static void *loop(void *context)
{
	struct peer_server *server = context;
	struct epoll_event events[EVENTS];
	looping = server;
	while (!server->stopping) {
		bool alone = server->n_connections == 0 && server->listens;
		int n = epoll_wait(server->epoll, events, EVENTS,
			alone ? -1 : (int)(LOOK_NS / 1000000));
		for (int i = 0; i < n; i++)
			handle(server, &events[i]);
		send_answers(server);
		uint64_t now = clock_now_ns();
		if (now >= server->next_look_ns)
			look(server, now);
		free_gone(server);
	}
	return NULL;
}

static int bind_listener(struct peer_server *server, const struct peer_address *address)
{
	struct peer_address bound = {.n = sizeof(bound.bytes)};
	int on = 1;
	server->listener = socket(
		address->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (server->listener < 0)
		return -errno;
	setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(server->listener, (const struct sockaddr *)&address->bytes, address->n) <
			0 ||
		listen(server->listener, SOMAXCONN) < 0 ||
		getsockname(server->listener, (struct sockaddr *)&bound.bytes, &bound.n) <
			0)
		return -errno;
	peer_address_print(&bound, server->address);
	return 0;
}

static int open_listener(struct peer_server *server, const char *text)
{
	struct peer_address address;
	if (address_resolve(text, &address.bytes, &address.n)) {
		log_error("[cluster]:listen: found \"%s\", allowed: ADDRESS:PORT, "
			  "NAME:PORT of a name that is known here, or :PORT",
			text);
		return -EINVAL;
	}
	if (!server->self.trust && !peer_address_is_loopback(&address)) {
		log_error("[cluster]:listen: found \"%s\": without a secret or "
			  "certificate only loopback addresses are allowed",
			text);
		return -EPERM;
	}
	int err = bind_listener(server, &address);
	if (err)
		log_error("[cluster]:listen: found \"%s\": %s", text, strerror(-err));
	return err;
}

static int watch(const struct peer_server *server, int fd, const int *what)
{
	struct epoll_event event = {
		.events = EPOLLIN, .data.ptr = (void *)(uintptr_t)what};
	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int start(struct peer_server *server)
{
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (server->epoll < 0 || server->wake < 0)
		return -errno;
	int err = watch(server, server->listener, &server->listener);
	if (!err)
		err = watch(server, server->wake, &server->wake);
	if (err)
		return err;
	return signals_thread(&server->thread, loop, server);
}

static void destroy(struct peer_server *server)
{
	struct peer_counted *counted;
	while ((counted = SLIST_FIRST(&server->counted))) {
		SLIST_REMOVE_HEAD(&server->counted, link);
		free(counted);
	}
	cleanup_close(&server->listener);
	cleanup_close(&server->epoll);
	cleanup_close(&server->wake);
	lock_destroy(&server->lock);
	free(server);
}

int peer_server_new(const char *listen, const struct peer_self *self,
	const struct peer_server_calls *calls, struct peer_server **ret)
{
	struct peer_server *server = calloc(1, sizeof(*server));
	if (!server)
		return -ENOMEM;
	ensure(strlen(self->name) <= PEER_NAME);
	strcpy(server->name, self->name);
	server->self = *self;
	server->self.name = server->name;
	server->calls = *calls;
	server->listener = server->epoll = server->wake = -1;
	server->listens = true;
	TAILQ_INIT(&server->connections);
	TAILQ_INIT(&server->gone);
	STAILQ_INIT(&server->answered);
	SLIST_INIT(&server->counted);
	lock_init(&server->lock, LOCK_RANK_PEER, "peer server");
	int err = open_listener(server, listen);
	if (!err)
		err = start(server);
	if (err)
		destroy(server);
	else
		*ret = server;
	return err;
}

const char *peer_server_address(const struct peer_server *server)
{
	return server->address;
}

void peer_server_stop(struct peer_server *server)
{
	struct peer_served *served;
	server->stopping = true;
	peer_wake(server->wake);
	ensure(pthread_join(server->thread, NULL) == 0);
	while ((served = TAILQ_FIRST(&server->connections)))
		peer_served_end(served, 0, NULL);
	lock_take(&server->lock);
	server->stopped = true;
	lock_release(&server->lock);
	send_answers(server); /* no connection is left, so this frees the requests */
}

void peer_server_free(struct peer_server **server_)
{
	struct peer_server *server = *server_;
	*server_ = NULL;
	if (!server)
		return;
	ensure(atomic_load(&server->n_requests) == 0);
	free_gone(server);
	ensure(TAILQ_EMPTY(&server->gone));
	destroy(server);
}
