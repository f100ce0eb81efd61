// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "base/kept.h"
#include "base/log.h"
#include "control/control_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return fd < 0 ? -errno : fd;
}

/* Removes the file of a socket at which no process listens. -EADDRINUSE: a process listens at the
 * socket; -EEXIST: the file is no socket. */
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
	log_info("%s: no process answers at this socket, so joaderfs replaces it",
		address->sun_path);
	return unlink(address->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

static int give_to_group(const struct listener *listener, const char *file)
{
	gid_t group = listener->rights.group;
	const char *path = listener->address.sun_path;
	if (!group || chown(file, (uid_t)-1, group) == 0)
		return 0;
	int err = -errno;
	log_error("%s: can't change the group of the socket to %lu (socket_group in "
		  "[joaderfs]): %s",
		path, (unsigned long)group, strerror(-err));
	unlink(path);
	return err;
}

/* Sets mode and group regardless of the umask. A client that may write to the directory could put a
 * link in the file's place, so neither a link nor its target is changed. */
static int set_rights(struct listener *listener)
{
	struct stat st;
	char place[32];
	auto_close int file =
		open(listener->address.sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (file < 0 || fstat(file, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_nlink != 1)
		return -EEXIST;
	listener->device = st.st_dev;
	listener->inode = st.st_ino;
	snprintf(place, sizeof(place), "/proc/self/fd/%d", file);
	if (chmod(place, listener->rights.mode) < 0)
		return -errno;
	return give_to_group(listener, place);
}

static int bind_socket(struct listener *listener)
{
	mode_t mode = listener->rights.mode;
	const struct sockaddr *address = (const struct sockaddr *)&listener->address;
	int fd = listener->watch.fd = open_socket();
	if (fd < 0)
		return fd;
	/* bind() creates the file with the socket's mode, so the umask, which all
	 * threads share, need not change. */
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
	(void)fault_hit("control.bound");
	int err = set_rights(listener);
	return !err && listen(fd, SOMAXCONN) < 0 ? -errno : err;
}

/* Takes over the socket of the previous engine process, at which clients may be waiting.
 * Returns false if there is no such socket, or if its file was deleted. */
static bool take_over(struct listener *listener)
{
	const char *path = listener->address.sun_path;
	struct kept_descriptor *place = NULL;
	struct stat st;
	while ((place = kept_next(place, KEPT_LISTENER)))
		if (strcmp(place->path, path) == 0)
			break;
	if (!place)
		return false;
	listener->kept = place;
	listener->watch.fd = atomic_load(&place->fd);
	if (lstat(path, &st) != 0)
		return false;
	listener->device = st.st_dev;
	listener->inode = st.st_ino;
	return true;
}

static void keep(struct listener *listener)
{
	listener->kept = kept_new();
	if (!listener->kept)
		return;
	snprintf(listener->kept->path, sizeof(listener->kept->path), "%s",
		listener->address.sun_path);
	listener->kept->unlimited = listener->rights.only == 0;
	kept_add(listener->kept, KEPT_LISTENER, listener->watch.fd);
}

static int listen_at(struct listener *listener)
{
	if (take_over(listener))
		return 0;
	if (listener->watch.fd >= 0)
		close(listener->watch.fd); /* its file was deleted */
	kept_drop(&listener->kept);
	int err = bind_socket(listener);
	if (!err)
		keep(listener);
	return err;
}

static void log_failure(const char *path, int err)
{
	if (err == -EADDRINUSE)
		log_error("%s: another joaderfs answers at this socket", path);
	else if (err == -EEXIST)
		log_error("%s: exists and is not a socket", path);
	else if (err == -ENAMETOOLONG)
		log_error("%s: the path of a socket has at most %zu bytes", path,
			sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
	else
		log_error("%s: can't make the control socket: %s; socket = in [joaderfs] "
			  "names another place",
			path, strerror(-err));
}

static void listener_free(struct listener *listener)
{
	if (listener->watch.fd >= 0)
		close(listener->watch.fd);
	free(listener);
}

int listener_new(
	const char *path, const struct listener_rights *rights, struct listener **ret)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int err = -ENAMETOOLONG;
	if (!listener)
		return -ENOMEM;
	*listener = (struct listener){.watch = {.kind = WATCH_LISTENER, .fd = -1},
		.rights = *rights,
		.address.sun_family = AF_UNIX};
	TAILQ_INIT(&listener->clients);
	if (strlen(path) < sizeof(listener->address.sun_path)) {
		strcpy(listener->address.sun_path, path);
		err = listen_at(listener);
	}
	if (err) {
		log_failure(path, err);
		listener_free(listener);
		return err;
	}
	*ret = listener;
	return 0;
}

static void remove_file(const struct listener *listener)
{
	struct stat st;
	const char *path = listener->address.sun_path;
	if (lstat(path, &st) == 0 && st.st_dev == listener->device &&
		st.st_ino == listener->inode)
		unlink(path);
}

void listener_close(struct listener **listener_)
{
	struct listener *listener = *listener_;
	struct client *client, *next;
	if (!listener)
		return;
	*listener_ = NULL;
	remove_file(listener);
	kept_drop(&listener->kept);
	close(listener->watch.fd);
	listener->watch.fd = -1;
	/* an extra client, so that client_free below does not free the listener */
	listener->n_clients++;
	listener->closed = true;
	for (client = TAILQ_FIRST(&listener->clients); client; client = next) {
		next = TAILQ_NEXT(client, link);
		if (!client->at_worker)
			client_free(client);
	}
	listener_forget(listener);
}

void listener_forget(struct listener *listener)
{
	listener->n_clients--;
	if (listener->closed && listener->n_clients == 0)
		listener_free(listener);
}

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
		bytes += client->bytes;
	return listener->n_clients > listener->rights.max_clients ||
	       bytes > listener->rights.max_bytes;
}

static struct client *longest_silent(
	const struct listener *listener, const struct client *but)
{
	struct client *client;
	TAILQ_FOREACH (client, &listener->clients, link)
		if (client != but && !client->at_worker)
			return client;
	return NULL;
}

bool listener_hang_up(struct listener *listener, const struct client *but)
{
	struct client *silent = longest_silent(listener, but);
	if (!silent)
		return false;
	if (silent->state == CLIENT_RECEIVES) {
		client_refuse(silent,
			"hung up: this client was silent longest, and another one needs "
			"its room (allowed: %zu clients, %zu bytes of requests)",
			listener->rights.max_clients, listener->rights.max_bytes);
		client_send(silent);
	}
	client_free(silent);
	return true;
}

bool listener_make_room(struct client *client)
{
	struct listener *listener = client->listener;
	client->bytes = client->in_room + client->n_out;
	while (is_too_much(listener))
		if (!listener_hang_up(listener, client))
			return false;
	return true;
}
