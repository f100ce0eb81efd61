// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/engine_failed.h"
#include "base/kept.h"
#include "base/log.h"
#include "config/config_owner.h"
#include "fuse/kernel_features.h"
#include "fuse/mount_options.h"
#include "fuse/handover.h"

#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#define CLIENT_MS 1000 /* longest wait for the next bytes of a client's request */

/* The kernel gives a request only to a buffer that has room for the largest request. */
static char buffer[(1 << 20) + (1 << 16)];
static bool leaves;

static void write_header(int device, const struct fuse_out_header *header)
{
	ssize_t ignored = write(device, header, sizeof(*header));
	(void)ignored; /* the write fails if the reader was killed */
}

static bool wants_answer(uint32_t opcode)
{
	return opcode != FUSE_FORGET && opcode != FUSE_BATCH_FORGET &&
	       opcode != FUSE_INTERRUPT;
}

static bool succeeds(uint32_t opcode)
{
	return opcode == FUSE_RELEASE || opcode == FUSE_RELEASEDIR ||
	       opcode == FUSE_DESTROY;
}

/* Removes the entry of an open that an earlier engine has received, but not answered. */
static void forget_open(uint32_t mount, uint64_t unique)
{
	struct kept_open *open = NULL;
	while ((open = kept_open_next(open, mount)))
		if (open->request == (unique & ~UNIQUE_RESEND))
			kept_open_remove(open);
}

/* Notes a release for the next engine. Forgets an open that the kernel sends again. */
static void note(const struct kept_descriptor *place, size_t bytes)
{
	const struct fuse_in_header *request = (const void *)buffer;
	const struct fuse_release_in *release = (const void *)(request + 1);
	uint32_t mount = handover_mount(place);
	if (request->opcode == FUSE_OPEN && (request->unique & UNIQUE_RESEND))
		forget_open(mount, request->unique);
	if (request->opcode == FUSE_RELEASE &&
		bytes >= sizeof(*request) + sizeof(*release))
		kept_close_add(mount, request->nodeid, release->fh);
}

/* Answers one request of a mount. Returns false if the mount was unmounted. */
static bool refuse_one(const struct kept_descriptor *place)
{
	int device = atomic_load(&place->fd);
	const struct fuse_in_header *request = (const void *)buffer;
	ssize_t n = read(device, buffer, sizeof(buffer));
	if (n < 0)
		return errno != ENODEV;
	if ((size_t)n < sizeof(*request) || !wants_answer(request->opcode))
		return true;
	note(place, (size_t)n);
	write_header(
		device, &(struct fuse_out_header){.len = sizeof(struct fuse_out_header),
				.error = succeeds(request->opcode) ? 0 : -EIO,
				.unique = request->unique});
	return true;
}

/* Receives a request up to its end, or until no byte has come for CLIENT_MS. */
static size_t receive(int client)
{
	size_t n = 0;
	struct pollfd fd = {.fd = client, .events = POLLIN};
	while (n < sizeof(buffer) - 1 && poll(&fd, 1, CLIENT_MS) == 1) {
		ssize_t some = read(client, buffer + n, sizeof(buffer) - 1 - n);
		if (some <= 0)
			break;
		n += (size_t)some;
	}
	buffer[n] = '\0';
	return n;
}

static void answer(int client, const char *kind, const char *text)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "%s %zu\n", kind, strlen(text));
	(void)!write(client, head, (size_t)n);
	(void)!write(client, text, strlen(text));
}

/* Tells whether the client may demand an upgrade: root and the daemon's user may. Other users may
 * reach the socket, too, if the ini has `socket_group`. */
static bool is_master(int client)
{
	struct ucred sender;
	socklen_t bytes = sizeof(sender);
	return getsockopt(client, SOL_SOCKET, SO_PEERCRED, &sender, &bytes) == 0 &&
	       config_is_master(sender.uid);
}

/* Ends this process. The supervisor then starts another engine: the program that the request names
 * or, if the request names none, the same program. */
static void take_upgrade(int client, size_t n)
{
	const char *program = buffer + strlen(buffer) + 1;
	snprintf(kept()->program, sizeof(kept()->program), "%s",
		program < buffer + n ? program : "");
	answer(client, "ok", "another engine is started\n");
	leaves = true;
}

static void serve_client(const struct kept_descriptor *place)
{
	static const char advice[] =
		"\n"
		"Correct the cause; then joaderctl upgrade starts another engine\n";
	char text[sizeof(kept()->reason) + sizeof(advice) + 64];
	int client = accept4(atomic_load(&place->fd), NULL, NULL, SOCK_CLOEXEC);
	if (client < 0)
		return;
	size_t n = receive(client);
	if (strcmp(buffer, "upgrade") == 0 && place->unlimited && is_master(client)) {
		take_upgrade(client, n);
	} else {
		snprintf(text, sizeof(text), "joaderfs answers EIO: %s%s", kept()->reason,
			advice);
		answer(client, "error", text);
	}
	close(client);
}

static int open_signals(void)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

int engine_failed_unmount(const char *mountpoint)
{
	struct kept_descriptor *place = NULL;
	while ((place = kept_next(place, KEPT_MOUNT)))
		if (place->mount.root == FUSE_ROOT_ID && !place->mount.foreign)
			mount_point_unmount(mountpoint, atomic_load(&place->fd));
	place = NULL;
	while ((place = kept_next(place, KEPT_LISTENER)))
		unlink(place->path);
	atomic_store(&kept()->ended, true);
	return EXIT_FAILURE;
}

/* Serves one request, or one client. Returns false if the whole tree was unmounted. */
static bool serve_place(struct kept_descriptor *place)
{
	if (atomic_load(&place->kind) == KEPT_LISTENER) {
		serve_client(place);
	} else if (!refuse_one(place)) {
		if (place->mount.root == FUSE_ROOT_ID)
			return false;
		kept_drop(&place);
	}
	return true;
}

static unsigned collect(struct pollfd *fds, struct kept_descriptor **places)
{
	static const enum kept_kind kinds[] = {KEPT_MOUNT, KEPT_LISTENER};
	unsigned n = 0;
	for (unsigned i = 0; i < 2; i++)
		for (struct kept_descriptor *place = kept_next(NULL, kinds[i]); place;
			place = kept_next(place, kinds[i])) {
			places[n] = place;
			fds[n++] = (struct pollfd){
				.fd = atomic_load(&place->fd), .events = POLLIN};
		}
	return n;
}

static void resend(void)
{
	struct kept_descriptor *place = NULL;
	while ((place = kept_next(place, KEPT_MOUNT)))
		write_header(atomic_load(&place->fd),
			&(struct fuse_out_header){.len = sizeof(struct fuse_out_header),
				.error = NOTIFY_RESEND});
}

int engine_failed_run(const char *mountpoint)
{
	static struct pollfd fds[KEPT_DESCRIPTORS + 1];
	static struct kept_descriptor *places[KEPT_DESCRIPTORS];
	int signals = open_signals();
	log_error("too many engines have ended, so readers get EIO; %s", kept()->reason);
	resend();
	kept_ready();
	while (!leaves) {
		unsigned n = collect(fds, places);
		fds[n] = (struct pollfd){.fd = signals, .events = POLLIN};
		if (poll(fds, n + 1, -1) < 0)
			continue;
		if (fds[n].revents)
			return engine_failed_unmount(mountpoint);
		for (unsigned i = 0; i < n && !leaves; i++)
			if (fds[i].revents && !serve_place(places[i]))
				return engine_failed_unmount(mountpoint);
	}
	atomic_store(&kept()->hands_over, true);
	return EXIT_SUCCESS;
}
