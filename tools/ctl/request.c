// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "request.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

void complain(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("joaderctl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

/* --- bytes ------------------------------------------------------------------------- */

int read_all(int fd, char **ret, size_t *ret_bytes)
{
	char *data = NULL;
	size_t bytes = 0, room = 0;
	for (;;) {
		if (room - bytes < 2) {
			room = room ? 2 * room : 65536;
			char *grown = realloc(data, room);
			if (!grown)
				break;
			data = grown;
		}
		ssize_t n = read(fd, data + bytes, room - bytes - 1);
		if (n < 0 && errno == EINTR)
			continue;
		/* The end of an answer to a request that the daemon did not read to its
		 * end. */
		if (n < 0 && errno == ECONNRESET)
			n = 0;
		if (n < 0)
			break;
		if (n == 0) {
			data[bytes] = '\0';
			*ret = data;
			*ret_bytes = bytes;
			return 0;
		}
		bytes += (size_t)n;
	}
	int err = -errno;
	free(data);
	return err;
}

static int send_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* --- one request ------------------------------------------------------------------- */

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int open_daemon(const char *path)
{
	int fd = connect_to(path);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		complain("no joaderfs answers at %s", path);
	else if (fd < 0)
		complain("%s: %s", path, strerror(-fd));
	return fd;
}

/* "ok BYTES\n" or "error BYTES\n", then the text. */
static int print_response(const char *path, const char *data, size_t bytes)
{
	char word[8];
	size_t expected;
	const char *text = memchr(data, '\n', bytes);
	if (!text || sscanf(data, "%7s %zu", word, &expected) != 2 ||
		(strcmp(word, "ok") != 0 && strcmp(word, "error") != 0)) {
		complain("%s: no joaderfs, or it hung up", path);
		return EXIT_FAILURE;
	}
	text++;
	size_t n = bytes - (size_t)(text - data);
	bool ok = word[0] == 'o';
	FILE *out = ok ? stdout : stderr;
	if (n > 0 && (fwrite(text, 1, n, out) != n || fflush(out) != 0)) {
		/* The reader of our output has seen enough. */
		if (errno != EPIPE)
			complain("cannot write: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	if (n != expected) {
		complain("%s: the answer was cut off", path);
		return EXIT_FAILURE;
	}
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The descriptor goes along with the first byte of the request. */
static int send_descriptor(int fd, int descriptor, char byte)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} rights = {.space = {0}};
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &rights,
		.msg_controllen = sizeof(rights.space)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int send_request(int fd, const char *const *arguments, size_t n, int *descriptor)
{
	int err = 0;
	size_t sent = 0;
	if (descriptor) {
		err = send_descriptor(fd, *descriptor, arguments[0][0]);
		close(*descriptor);
		*descriptor = -1;
		sent = 1;
	}
	for (size_t i = 0; i < n && !err; i++, sent = 0)
		err = send_all(fd, arguments[i] + sent, strlen(arguments[i]) + 1 - sent);
	if (!err && shutdown(fd, SHUT_WR) < 0)
		err = -errno;
	return err;
}

int request(const char *path, const char *const *arguments, size_t n, int *descriptor)
{
	auto_free char *response = NULL;
	size_t bytes;
	auto_close int fd = open_daemon(path);
	if (fd < 0)
		return EXIT_FAILURE;
	int send_err = send_request(fd, arguments, n, descriptor);
	/* A daemon that refuses the request says why before it hangs up. */
	int err = read_all(fd, &response, &bytes);
	if (err || (bytes == 0 && send_err)) {
		complain("%s: %s", path, strerror(err ? -err : -send_err));
		return EXIT_FAILURE;
	}
	return print_response(path, response, bytes);
}
