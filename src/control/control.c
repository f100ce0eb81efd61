// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "control/control.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "control/control_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define SECOND_NS UINT64_C(1000000000)
/* The time for a whole request, and again for a whole response. */
#define CLIENT_NS (3 * SECOND_NS)
#define POLL_MAX_NS (60 * SECOND_NS) /* fits poll()'s argument */

struct control {
	const struct files_context *context;
	struct session *session;
	struct sockaddr_un address;
	int listener, stop;
	dev_t device; /* of our socket file, as the next */
	ino_t inode;
	bool bound, running;
	pthread_t thread;
	char *request; /* CONTROL_REQUEST_MAX + 1 bytes */
};

/* --- one client -------------------------------------------------------------------- */

/* Waits for the events: 0, or -ETIMEDOUT, -EINTR (control_free), -errno. */
static int wait_for(
	const struct control *control, int fd, short events, uint64_t deadline)
{
	struct pollfd fds[] = {
		{.fd = fd, .events = events}, {.fd = control->stop, .events = POLLIN}};
	for (;;) {
		uint64_t now = clock_now_ns();
		if (now >= deadline)
			return -ETIMEDOUT;
		uint64_t ns = deadline - now < POLL_MAX_NS ? deadline - now : POLL_MAX_NS;
		int n = poll(fds, 2, (int)(ns / 1000000 + 1));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && fds[1].revents)
			return -EINTR;
		if (n > 0)
			return 0;
	}
}

union rights {
	char space[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* The last descriptor counts. */
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
		/* for one descriptor: the kernel closes others */
		.msg_controllen = CMSG_LEN(sizeof(int))};
	ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	if (n >= 0)
		take_descriptor(&message, descriptor);
	return n;
}

/* Receives the whole request. -EMSGSIZE: it is too large. */
static int receive(
	const struct control *control, int fd, size_t *ret_bytes, int *descriptor)
{
	uint64_t deadline = clock_now_ns() + CLIENT_NS;
	size_t bytes = 0;
	for (;;) {
		int err = wait_for(control, fd, POLLIN, deadline);
		if (err)
			return err;
		/* One byte more than allowed tells that there are too many. */
		ssize_t n = receive_part(fd, control->request + bytes,
			CONTROL_REQUEST_MAX + 1 - bytes, descriptor);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		bytes += n > 0 ? (size_t)n : 0;
		if (bytes > CONTROL_REQUEST_MAX)
			return -EMSGSIZE;
	}
	*ret_bytes = bytes;
	return 0;
}

static int send_all(const struct control *control, int fd, const char *data, size_t bytes)
{
	uint64_t deadline = clock_now_ns() + CLIENT_NS;
	while (bytes > 0) {
		int err = wait_for(control, fd, POLLOUT, deadline);
		if (err)
			return err;
		ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int respond(
	const struct control *control, int fd, bool ok, const char *text, size_t bytes)
{
	char head[40];
	int n = snprintf(head, sizeof(head), "%s %zu\n", ok ? "ok" : "error", bytes);
	int err = send_all(control, fd, head, (size_t)n);
	return err ? err : send_all(control, fd, text, bytes);
}

static pid_t sender_of(int fd)
{
	struct ucred sender;
	socklen_t bytes = sizeof(sender);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &sender, &bytes) != 0)
		return 0; /* as for a process that can't be seen from here */
	return sender.pid;
}

static int execute(const struct control *control, int fd, size_t bytes, int *descriptor)
{
	struct control_message message = {.text = control->request,
		.bytes = bytes,
		.descriptor = *descriptor,
		.sender = sender_of(fd)};
	auto_free char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return -errno;
	bool ok = control_execute(control->context, control->session, &message, out);
	*descriptor = message.descriptor;
	bool lost = ferror(out);
	if (fclose(out) != 0 || lost)
		return -ENOMEM;
	return respond(control, fd, ok, text, n);
}

static void serve(const struct control *control, int fd)
{
	size_t bytes = 0;
	auto_close int descriptor = -1;
	int err = receive(control, fd, &bytes, &descriptor);
	if (err == -EMSGSIZE) {
		static const char text[] = "the request is larger than 1 MiB\n";
		err = respond(control, fd, false, text, sizeof(text) - 1);
	} else if (!err && bytes > 0) { /* 0: it only looked whether we are there */
		err = execute(control, fd, bytes, &descriptor);
	}
	if (err == -ETIMEDOUT)
		log_warn("control socket: hung up on a silent client");
	else if (err && err != -EINTR && err != -EPIPE && err != -ECONNRESET)
		log_warn("control socket: %s", strerror(-err));
}

static void *run(void *argument)
{
	const struct control *control = argument;
	for (;;) {
		int err = wait_for(control, control->listener, POLLIN, UINT64_MAX);
		if (err == -EINTR)
			return NULL;
		auto_close int fd = accept4(
			control->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			serve(control, fd);
		} else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
			log_warn("control socket: accept: %s", strerror(errno));
			/* For want of descriptors, say. The socket stays readable: don't
			 * spin. */
			err = wait_for(control, -1, 0, clock_now_ns() + SECOND_NS);
			if (err == -EINTR)
				return NULL;
		}
	}
}

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

/* Nobody can connect before listen(), and the file's mode is 0600 from its beginning. */
static int open_listener(struct control *control)
{
	const struct sockaddr *address = (const struct sockaddr *)&control->address;
	const char *path = control->address.sun_path;
	struct stat st;
	int fd = control->listener = open_socket();
	if (fd < 0)
		return fd;
	/* bind() gives the file the mode of the socket, so the umask, which belongs to
	 * all threads, can stay as it is. */
	if (fchmod(fd, 0600) < 0)
		return -errno;
	if (bind(fd, address, sizeof(control->address)) < 0) {
		if (errno != EADDRINUSE)
			return -errno;
		int err = remove_stale(&control->address);
		if (err)
			return err;
		if (bind(fd, address, sizeof(control->address)) < 0)
			return -errno;
	}
	control->bound = true;
	if (lstat(path, &st) < 0)
		return -errno;
	control->device = st.st_dev;
	control->inode = st.st_ino;
	return chmod(path, 0600) < 0 || listen(fd, 16) < 0 ? -errno : 0;
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

/* --- life -------------------------------------------------------------------------- */

/* The thread blocks signals, which are for the thread that main waits in. */
static int start_thread(struct control *control)
{
	sigset_t all, before;
	sigfillset(&all);
	ensure(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	int err = pthread_create(&control->thread, NULL, run, control);
	ensure(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	control->running = err == 0;
	return -err;
}

int control_new(const struct files_context *context, struct session *session,
	struct control **ret)
{
	const char *path = context->config->socket;
	int err = -ENOMEM;
	struct control *control = calloc(1, sizeof(*control));
	if (!control)
		goto fail;
	*control = (struct control){.context = context,
		.session = session,
		.address.sun_family = AF_UNIX,
		.listener = -1,
		.stop = -1,
		.request = malloc(CONTROL_REQUEST_MAX + 1)};
	if (!control->request)
		goto fail;
	err = -ENAMETOOLONG;
	if (strlen(path) >= sizeof(control->address.sun_path))
		goto fail;
	strcpy(control->address.sun_path, path);
	control->stop = eventfd(0, EFD_CLOEXEC);
	err = control->stop < 0 ? -errno : open_listener(control);
	if (!err)
		err = start_thread(control);
	if (err)
		goto fail;
	*ret = control;
	return 0;
fail:
	log_failure(path, err);
	control_free(&control);
	return err;
}

/* Removes our socket file, unless another one has taken its place. */
static void remove_file(const struct control *control)
{
	struct stat st;
	const char *path = control->address.sun_path;
	if (lstat(path, &st) == 0 && st.st_dev == control->device &&
		st.st_ino == control->inode)
		unlink(path);
}

void control_free(struct control **control_)
{
	struct control *control = *control_;
	if (!control)
		return;
	*control_ = NULL;
	if (control->running) {
		ensure(eventfd_write(control->stop, 1) == 0);
		ensure(pthread_join(control->thread, NULL) == 0);
	}
	if (control->bound)
		remove_file(control);
	if (control->listener >= 0)
		close(control->listener);
	if (control->stop >= 0)
		close(control->stop);
	free(control->request);
	free(control);
}
