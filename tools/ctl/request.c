// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static FILE *complaints;

void complain_to(FILE *out)
{
	complaints = out;
}

bool complain(const char *format, ...)
{
	FILE *out = complaints ? complaints : stderr;
	va_list args;
	va_start(args, format);
	fputs("joaderctl: ", out);
	vfprintf(out, format, args);
	fputc('\n', out);
	va_end(args);
	return false;
}

void complain_of_ini(void *context, const char *message)
{
	(void)context;
	complain("%s", message);
}

int read_all(int fd, char **ret, size_t *ret_bytes)
{
	char block[65536], *text;
	ssize_t n;
	int err = 0;
	FILE *out = open_memstream(&text, ret_bytes);
	if (!out)
		return -ENOMEM;
	while (!err && (n = read(fd, block, sizeof(block))) != 0)
		if (n < 0)
			err = errno == EINTR ? 0 : -errno;
		else if (fwrite(block, 1, (size_t)n, out) != (size_t)n)
			err = -ENOMEM;
	if (fclose(out) != 0 && !err)
		err = -ENOMEM;
	if (err)
		free(text);
	else
		*ret = text;
	return err;
}

int read_file(const char *file, char **ret, size_t *ret_bytes)
{
	if (strcmp(file, "-") == 0)
		return read_all(STDIN_FILENO, ret, ret_bytes);
	auto_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : read_all(fd, ret, ret_bytes);
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

#define HEAD_MAX 40 /* bytes of a frame's first line */

struct answer {
	const char *path; /* path of the socket, for messages */
	int fd;
	char data[65536]; /* bytes in [begin, end) are not used yet */
	size_t begin, end;
	bool shows;    /* the daemon's status is shown on the terminal during the wait */
	bool is_shown; /* a line of status is on the terminal */
};

#define PAUSE_MS 300

static void clear(struct answer *answer)
{
	if (answer->is_shown)
		fputs("\r\033[K", stderr);
	answer->is_shown = false;
}

/* Shows the first line of the daemon's status, unless this line is about a job. The line tells of
 * long work of the daemon, which can be the reason of the wait. */
static void show(struct answer *answer)
{
	auto_free char *text = NULL;
	if (request_text(answer->path, (const char *[]){"status"}, 1, &text) && *text &&
		strncmp(text, "job ", strlen("job ")) != 0) {
		fprintf(stderr, "\r%.*s\033[K", (int)strcspn(text, "\n"), text);
		answer->is_shown = true;
	}
}

static void wait_and_show(struct answer *answer)
{
	struct pollfd fd = {.fd = answer->fd, .events = POLLIN};
	while (answer->shows && poll(&fd, 1, PAUSE_MS) == 0)
		show(answer);
	clear(answer);
}

/* Waits for further bytes of the answer. Returns false if the connection has ended. */
static bool receive(struct answer *answer)
{
	ssize_t n;
	if (answer->begin == answer->end)
		answer->begin = answer->end = 0;
	wait_and_show(answer);
	do
		n = read(answer->fd, answer->data + answer->end,
			sizeof(answer->data) - answer->end);
	while (n < 0 && errno == EINTR);
	/* ECONNRESET, too, is the end: the daemon refused a request that it had not read. */
	answer->end += n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* Reads "more BYTES\n", "ok BYTES\n" or "error BYTES\n". Returns false for any other line. */
static bool read_head(struct answer *answer, char word[static 8], size_t *ret_bytes)
{
	char head[HEAD_MAX];
	for (size_t n = 0; n < sizeof(head) - 1;) {
		if (answer->begin == answer->end && !receive(answer))
			return false;
		head[n++] = answer->data[answer->begin++];
		if (head[n - 1] != '\n')
			continue;
		head[n] = '\0';
		return sscanf(head, "%7s %zu", word, ret_bytes) == 2 &&
		       (strcmp(word, "more") == 0 || strcmp(word, "ok") == 0 ||
			       strcmp(word, "error") == 0);
	}
	return false;
}

/* Returns false. EPIPE is no error: the program that reads our output has read enough. */
static bool complain_of_write(void)
{
	return errno != EPIPE && complain("cannot write: %s", strerror(errno));
}

static bool print_text(struct answer *answer, size_t bytes, FILE *out)
{
	while (bytes > 0) {
		if (answer->begin == answer->end && !receive(answer)) {
			fflush(out);
			return complain("%s: the answer was cut off", answer->path);
		}
		size_t n = answer->end - answer->begin;
		n = n < bytes ? n : bytes;
		if (fwrite(answer->data + answer->begin, 1, n, out) != n)
			return complain_of_write();
		answer->begin += n;
		bytes -= n;
	}
	return true;
}

/* Prints the whole answer: a result to `out`, an error where complain() prints. Returns the exit
 * status. */
static int print_answer(struct answer *answer, FILE *out)
{
	char word[8];
	size_t bytes;
	bool begun = false;
	for (;;) {
		if (!read_head(answer, word, &bytes))
			return exit_failure(
				begun ? "%s: the answer was cut off"
				      : "%s: no joaderfs answers, or it has hung up",
				answer->path);
		begun = true;
		bool failed = strcmp(word, "error") == 0;
		FILE *errors = complaints ? complaints : stderr;
		if (!print_text(answer, bytes, failed ? errors : out))
			return EXIT_FAILURE;
		if (strcmp(word, "more") == 0)
			continue;
		bool written = fflush(out) == 0 || complain_of_write();
		return failed || !written ? EXIT_FAILURE : EXIT_SUCCESS;
	}
}

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

static bool takes_long(const char *const *arguments, size_t n)
{
	return strcmp(arguments[0], "restore") == 0 ||
	       (strcmp(arguments[0], "dataset") == 0 && n > 1 &&
		       strcmp(arguments[1], "ls") != 0);
}

int request(const char *path, const char *const *arguments, size_t n, int *descriptor,
	FILE *out)
{
	auto_close int fd = open_daemon(path);
	if (fd < 0)
		return EXIT_FAILURE;
	struct answer answer = {.path = path,
		.fd = fd,
		.shows = takes_long(arguments, n) && isatty(STDERR_FILENO) == 1};
	int err = send_request(fd, arguments, n, descriptor);
	/* A daemon that refuses the request sends the reason before it hangs up. */
	if (err && !receive(&answer))
		return exit_failure("%s: %s", path, strerror(-err));
	return print_answer(&answer, out);
}

bool request_text(const char *path, const char *const *arguments, size_t n, char **ret)
{
	auto_free char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return complain("%s", strerror(errno));
	bool ok = request(path, arguments, n, NULL, out) == EXIT_SUCCESS;
	if (fclose(out) != 0 || !ok)
		return false;
	*ret = text;
	text = NULL;
	return true;
}
