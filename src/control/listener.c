// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "control/control_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* --- the socket file --------------------------------------------------------------- */

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return fd < 0 ? -errno : fd;
}

/* Removes the file if it is a socket where nobody answers. */
static int remove_stale(const struct sockaddr_un *address)
{
	struct stat st;
	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	auto_close int fd = open_socket();
	if (fd < 0)
		return fd;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
		errno == EAGAIN)
		return -EADDRINUSE;
	if (errno != ECONNREFUSED)
		return -errno;
	log_info("%s: nobody answers there, replaced", address->sun_path);
	return unlink(address->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

static int bind_socket(struct listener *listener, mode_t mode)
{
	const struct sockaddr *address = (const struct sockaddr *)&listener->address;
	const char *path = listener->address.sun_path;
	struct stat st;
	int fd = listener->watch.fd = open_socket();
	if (fd < 0)
		return fd;
	/* bind() gives the file the mode of the socket, so the umask, which belongs to
	 * all threads, can stay as it is. */
	if (fchmod(fd, mode) < 0)
		return -errno;
	if (bind(fd, address, sizeof(listener->address)) < 0) {
		if (errno != EADDRINUSE)
			return -errno;
		int err = remove_stale(&listener->address);
		if (err)
			return err;
		if (bind(fd, address, sizeof(listener->address)) < 0)
			return -errno;
	}
	listener->bound = true;
	if (lstat(path, &st) < 0)
		return -errno;
	listener->device = st.st_dev;
	listener->inode = st.st_ino;
	return chmod(path, mode) < 0 || listen(fd, SOMAXCONN) < 0 ? -errno : 0;
}

static void log_failure(const char *path, int err)
{
	if (err == -EADDRINUSE)
		log_error("%s: another joaderfs answers there", path);
	else if (err == -EEXIST)
		log_error("%s: exists and is not a socket", path);
	else if (err == -ENAMETOOLONG)
		log_error("%s: the path of a socket has at most %zu bytes", path,
			sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
	else
		log_error("%s: cannot make the control socket: %s", path, strerror(-err));
}

int listener_open(struct listener *listener, const char *path, mode_t mode)
{
	int err = -ENAMETOOLONG;
	TAILQ_INIT(&listener->clients);
	listener->watch = (struct watch){.kind = WATCH_LISTENER, .fd = -1};
	listener->address.sun_family = AF_UNIX;
	if (strlen(path) < sizeof(listener->address.sun_path)) {
		strcpy(listener->address.sun_path, path);
		err = bind_socket(listener, mode);
	}
	if (err)
		log_failure(path, err);
	return err;
}

void listener_close(struct listener *listener)
{
	struct client *client, *next;
	struct stat st;
	const char *path = listener->address.sun_path;
	for (client = TAILQ_FIRST(&listener->clients); client; client = next) {
		next = TAILQ_NEXT(client, link);
		client_free(client);
	}
	if (listener->bound && lstat(path, &st) == 0 && st.st_dev == listener->device &&
		st.st_ino == listener->inode)
		unlink(path);
	if (listener->watch.fd >= 0)
		close(listener->watch.fd);
}

/* --- its clients ------------------------------------------------------------------- */

void listener_touch(struct client *client)
{
	TAILQ_REMOVE(&client->listener->clients, client, link);
	TAILQ_INSERT_TAIL(&client->listener->clients, client, link);
}

static bool is_too_much(const struct listener *listener)
{
	const struct client *client;
	size_t bytes = 0;
	TAILQ_FOREACH (client, &listener->clients, link)
		bytes += client->in_room + client->n_out;
	return listener->n_clients > listener->max_clients || bytes > listener->max_bytes;
}

static struct client *longest_silent(
	const struct listener *listener, const struct client *but)
{
	struct client *client;
	TAILQ_FOREACH (client, &listener->clients, link)
		if (client != but && client->state != CLIENT_WAITS)
			return client;
	return NULL;
}

bool listener_make_room(struct listener *listener, const struct client *but)
{
	while (is_too_much(listener)) {
		struct client *client = longest_silent(listener, but);
		if (!client)
			return false;
		if (client->state == CLIENT_RECEIVES) {
			client_refuse(client,
				"hung up, to make room: no client is silent for longer "
				"(allowed: %zu clients, %zu bytes of requests)",
				listener->max_clients, listener->max_bytes);
			client_send(client);
		}
		client_free(client);
	}
	return true;
}
