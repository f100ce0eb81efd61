// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "control/control_internal.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define ROOM_FIRST 1024u  /* bytes of a request's buffer at first */
#define LINES_AT_ONCE 256 /* lines of an epoch's order in a frame, about 10 KB */

struct client *client_new(struct listener *listener, int fd)
{
	struct client *client = calloc(1, sizeof(*client));
	socklen_t bytes = sizeof(client->sender);
	if (!client)
		return NULL;
	client->watch = (struct watch){.kind = WATCH_CLIENT, .fd = fd};
	client->listener = listener;
	client->descriptor = -1;
	client->sender = (struct ucred){.uid = (uid_t)-1, .gid = (gid_t)-1};
	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &client->sender, &bytes);
	TAILQ_INSERT_TAIL(&listener->clients, client, link);
	listener->n_clients++;
	return client;
}

void client_free(struct client *client)
{
	TAILQ_REMOVE(&client->listener->clients, client, link);
	listener_forget(client->listener);
	if (client->lines.job)
		sched_job_put(client->lines.job);
	if (client->descriptor >= 0)
		close(client->descriptor);
	close(client->watch.fd);
	free(client->in);
	free(client->out);
	free(client);
}

union rights {
	char space[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* If a descriptor came with the message, sets *descriptor to it, and closes the descriptor that
 * came with an earlier message. */
static void take_descriptor(struct msghdr *message, int *descriptor)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(message);
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
		head->cmsg_len != CMSG_LEN(sizeof(int)))
		return;
	if (*descriptor >= 0)
		close(*descriptor);
	memcpy(descriptor, CMSG_DATA(head), sizeof(int));
}

static ssize_t receive_part(int fd, char *data, size_t room, int *descriptor)
{
	union rights rights;
	struct iovec iov = {.iov_base = data, .iov_len = room};
	struct msghdr message = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &rights,
		/* room for one descriptor; the kernel closes the others */
		.msg_controllen = CMSG_LEN(sizeof(int))};
	ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n >= 0)
		take_descriptor(&message, descriptor);
	return n < 0 ? -errno : n;
}

/* Makes a full buffer larger: up to one byte more than the limit, so that client_receive notices a
 * request that is too large. Returns false if there is no memory, or if the limit for the requests
 * of all clients together leaves no room. */
static bool grow(struct client *client)
{
	size_t most = client->listener->rights.max_request + 1;
	size_t room = client->in_room ? 2 * client->in_room : ROOM_FIRST;
	if (client->n_in < client->in_room)
		return true;
	room = room < most ? room : most;
	char *in = realloc(client->in, room);
	if (!in)
		return false;
	client->in = in;
	client->in_room = room;
	return listener_make_room(client);
}

static void refuse_size(struct client *client)
{
	size_t most = client->listener->rights.max_request;
	if (most % (1u << 20) == 0)
		client_refuse(client, "the request is larger than %zu MiB", most >> 20);
	else
		client_refuse(client, "the request is larger than %zu bytes", most);
}

void client_receive(struct client *client)
{
	if (!grow(client)) {
		client_refuse(client, "no memory for the request");
		return;
	}
	ssize_t n = receive_part(client->watch.fd, client->in + client->n_in,
		client->in_room - client->n_in, &client->descriptor);
	if (n == -EAGAIN || n == -EINTR)
		return;
	client->n_in += n > 0 ? (size_t)n : 0;
	/* An empty request only tests whether the daemon listens, and gets no answer. */
	if (n < 0 || client->n_in == 0) {
		client->state = CLIENT_ENDS;
	} else if (client->n_in > client->listener->rights.max_request) {
		refuse_size(client);
	} else if (n == 0) {
		client->state = CLIENT_WAITS;
	}
}

/* Makes the frame (control.h) that is sent next. If there is no memory, sets CLIENT_ENDS, and the
 * daemon hangs up on the client. */
static void frame(struct client *client, const char *word, const char *text, size_t bytes)
{
	char head[40];
	size_t n = (size_t)snprintf(head, sizeof(head), "%s %zu\n", word, bytes);
	free(client->out);
	client->sent = 0;
	client->n_out = 0;
	client->out = malloc(n + bytes);
	client->state = client->out ? CLIENT_SENDS : CLIENT_ENDS;
	if (!client->out)
		return;
	memcpy(client->out, head, n);
	memcpy(client->out + n, text, bytes);
	client->n_out = n + bytes;
}

void client_refuse(struct client *client, const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	size_t bytes = n > 0 ? (size_t)n : 0;
	if (bytes > sizeof(text) - 2)
		bytes = sizeof(text) - 2;
	text[bytes++] = '\n';
	frame(client, "error", text, bytes);
}

void client_execute(struct client *client, struct control *control)
{
	auto_free char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	client->state = CLIENT_ENDS; /* the state if memory runs out */
	if (!out)
		return;
	bool ok = control_execute(control, client, out);
	bool lost = ferror(out);
	if (fclose(out) == 0 && !lost)
		frame(client,
			client->lines.job ? "more"
			: ok		  ? "ok"
					  : "error",
			text, bytes);
	free(client->in);
	client->in = NULL;
	client->in_room = 0;
}

/* Ends the answer. The answer ends with an error if the epoch's order was deleted before all lines
 * were sent. */
static void end_lines(struct client *client)
{
	struct sched_job *job = client->lines.job;
	if (client->next == 0 || sched_has_order(job, client->lines.epoch))
		frame(client, "ok", "", 0);
	else
		client_refuse(client, "%s: the order of epoch %" PRIu32 " is gone",
			sched_job_config(job)->name, client->lines.epoch);
	client->lines.job = NULL;
	sched_job_put(job);
}

/* Makes a frame with the next lines of the order, or ends the answer if no line is left. */
static void next_lines(struct client *client)
{
	auto_free char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	client->state = CLIENT_ENDS; /* the state if memory runs out */
	if (!out)
		return;
	uint32_t n = order_lines_print(&client->lines, client->next, LINES_AT_ONCE, out);
	client->next += n;
	bool lost = ferror(out);
	if (fclose(out) != 0 || lost)
		return;
	if (n > 0)
		frame(client, "more", text, bytes);
	else
		end_lines(client);
}

void client_send(struct client *client)
{
	if (client->state != CLIENT_SENDS)
		return;
	ssize_t n = send(client->watch.fd, client->out + client->sent,
		client->n_out - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			client->state = CLIENT_ENDS;
		return;
	}
	client->sent += (size_t)n;
	if (client->sent < client->n_out)
		return;
	if (client->lines.job)
		next_lines(client);
	else
		client->state = CLIENT_ENDS;
}
