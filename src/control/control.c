// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "control/control.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/signals.h"
#include "control/control_request.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define PAUSE_MS 1000
#define PAUSE_NS (PAUSE_MS * UINT64_C(1000000))

static const struct listener_rights all_rights = {.mode = 0600,
	.max_clients = 256,
	.max_request = CONTROL_REQUEST_MAX,
	.max_bytes = 32u << 20};

int control_watch(const struct control *control, int operation, struct watch *watch,
	uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};
	return epoll_ctl(control->epoll, operation, watch->fd, &event) < 0 ? -errno : 0;
}

static int give_to_worker(
	struct control *control, struct worker *worker, struct client *client)
{
	/* This thread ignores the socket, even a hang-up, while the worker has the client. */
	int err = control_watch(control, EPOLL_CTL_DEL, &client->watch, 0);
	if (err)
		return err;
	client->at_worker = true;
	worker_give(worker, client);
	return 0;
}

static int go_on_sending(const struct control *control, struct client *client)
{
	client_send(client);
	(void)listener_make_room(client);
	return control_watch(control, EPOLL_CTL_MOD, &client->watch, EPOLLOUT);
}

/* Passes the request to a worker or carries it out, sends a part of the answer, or hangs up. */
static void go_on(struct control *control, struct client *client)
{
	int err = 0;
	enum control_place place = client->state == CLIENT_WAITS
					   ? control_place_of(client)
					   : CONTROL_AT_ONCE;
	if (place != CONTROL_AT_ONCE) {
		err = give_to_worker(control,
			place == CONTROL_SCANNER ? &control->scanner : &control->worker,
			client);
		if (!err)
			return;
	}
	if (client->state == CLIENT_WAITS && !err)
		client_execute(client, control);
	if (client->state == CLIENT_SENDS)
		err = go_on_sending(control, client);
	bool hands_over = client->hands_over;
	if (err || client->state == CLIENT_ENDS) {
		client_free(client);
		if (hands_over)
			control_hand_over();
	}
}

static void step(struct control *control, struct client *client)
{
	listener_touch(client);
	if (client->state == CLIENT_RECEIVES)
		client_receive(client);
	go_on(control, client);
}

/* Goes on with the clients whose commands the worker has carried out. */
static void take_up(struct control *control, struct worker *worker)
{
	struct client *client;
	eventfd_t ignored;
	(void)eventfd_read(worker->watch.fd, &ignored);
	while ((client = worker_take(worker))) {
		client->at_worker = false;
		grants_prune(control);
		if (client->listener->closed ||
			control_watch(control, EPOLL_CTL_ADD, &client->watch, 0) != 0)
			client_free(client);
		else
			step(control, client);
	}
}

/* Makes the thread accept no connections for a while (pause), or accept them again. The thread
 * pauses after it could not accept a connection, for instance because the daemon has no free
 * descriptor. New clients then wait. */
static void pause_listeners(struct control *control, bool pause)
{
	struct listener *grant;
	uint32_t events = pause ? 0 : EPOLLIN;
	control->paused_ns = pause ? clock_now_ns() : 0;
	ensure(control_watch(control, EPOLL_CTL_MOD, &control->listener->watch, events) ==
		0);
	LIST_FOREACH (grant, &control->grants, link)
		ensure(control_watch(control, EPOLL_CTL_MOD, &grant->watch, events) == 0);
}

static void admit(struct control *control, struct listener *listener, int fd)
{
	struct client *client = client_new(listener, fd);
	if (!client) {
		close(fd);
		return;
	}
	if (control_watch(control, EPOLL_CTL_ADD, &client->watch, EPOLLIN) != 0) {
		client_free(client);
	} else if (!listener_make_room(client)) {
		client_refuse(client,
			"hung up: the daemon has no room for this client, because every "
			"other client waits for its command (allowed: %zu clients)",
			listener->rights.max_clients);
		client_send(client);
		client_free(client);
	}
}

/* Accepts one client. If more clients are waiting, epoll_wait reports the socket again. */
static void accept_one(struct control *control, struct listener *listener)
{
	int fd = accept4(listener->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int err = fd < 0 ? errno : 0;
	if (!err)
		admit(control, listener, fd);
	if (!err || err == EAGAIN || err == EINTR || err == ECONNABORTED)
		return;
	if ((err == EMFILE || err == ENFILE) && listener_hang_up(listener, NULL))
		return;
	log_warn("control socket: accept: %s", strerror(err));
	pause_listeners(control, true);
}

/* Gets one event at a time, because an event can free the clients to which other events point. */
static void *run(void *argument)
{
	struct control *control = argument;
	for (;;) {
		struct epoll_event event;
		int n = epoll_wait(
			control->epoll, &event, 1, control->paused_ns ? PAUSE_MS : -1);
		ensure(n >= 0 || errno == EINTR);
		if (control->paused_ns && clock_now_ns() - control->paused_ns >= PAUSE_NS)
			pause_listeners(control, false);
		if (n <= 0)
			continue;
		struct watch *ready = event.data.ptr;
		switch (ready->kind) {
		case WATCH_STOP:
			return NULL;
		case WATCH_WORKER:
			take_up(control, ready == &control->scanner.watch
						 ? &control->scanner
						 : &control->worker);
			break;
		case WATCH_LISTENER:
			accept_one(control, (struct listener *)ready);
			break;
		case WATCH_CLIENT:
			step(control, (struct client *)ready);
			break;
		}
	}
}

static int start(struct control *control)
{
	control->stop.fd = eventfd(0, EFD_CLOEXEC);
	control->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (control->stop.fd < 0 || control->epoll < 0)
		return -errno;
	int err = worker_start(&control->worker, control);
	if (!err)
		err = worker_start(&control->scanner, control);
	struct watch *watches[] = {&control->stop, &control->worker.watch,
		&control->scanner.watch, &control->listener->watch};
	for (size_t i = 0; !err && i < sizeof(watches) / sizeof(watches[0]); i++)
		err = control_watch(control, EPOLL_CTL_ADD, watches[i], EPOLLIN);
	if (err)
		return err;
	grants_restore(control);
	err = signals_thread(&control->thread, run, control);
	control->running = err == 0;
	return err;
}

int control_new(const struct files_context *context, struct session *session,
	struct control **ret)
{
	struct control *control = calloc(1, sizeof(*control));
	if (!control)
		return -ENOMEM;
	*control = (struct control){.context = context,
		.session = session,
		.stop = {.kind = WATCH_STOP, .fd = -1},
		.grants = LIST_HEAD_INITIALIZER(control->grants),
		.epoll = -1};
	struct listener_rights rights = all_rights;
	if (context->config->socket_group) {
		rights.mode = 0660;
		rights.group = context->config->socket_group;
	}
	int err = listener_new(context->config->socket, &rights, &control->listener);
	if (!err) {
		err = start(control);
		if (err)
			log_error("%s: cannot serve the control socket: %s",
				context->config->socket, strerror(-err));
	}
	if (err)
		control_free(&control);
	*ret = control;
	return err;
}

void control_free(struct control **control_)
{
	struct control *control = *control_;
	if (!control)
		return;
	*control_ = NULL;
	(void)fault_hit("control.end");
	if (control->running) {
		ensure(eventfd_write(control->stop.fd, 1) == 0);
		ensure(pthread_join(control->thread, NULL) == 0);
	}
	atomic_store(&control->ends, true);
	worker_stop(&control->scanner);
	worker_stop(&control->worker);
	listener_close(&control->listener);
	grants_close(control);
	if (control->stop.fd >= 0)
		close(control->stop.fd);
	if (control->epoll >= 0)
		close(control->epoll);
	free(control);
}
