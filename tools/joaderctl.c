// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* joaderctl: speaks to a running joaderfs; the protocol is in src/view/control.h. */

#include "base/cleanup.h"
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define EXIT_USAGE 2

static const char help[] =
	"usage: joaderctl [-s SOCKET] COMMAND [ARGUMENT]...\n"
	"\n"
	"  add FILE...          add jobs: each FILE is a job's ini, - is standard input\n"
	"  rm JOB...            remove jobs\n"
	"  ls                   list the jobs\n"
	"  status [JOB]         where a job is and how it was served; without JOB: all\n"
	"  order JOB [EPOCH]    the samples of an epoch in the order in which they were\n"
	"                       given out; without EPOCH: of the latest one\n"
	"  stats                counters of the daemon\n"
	"  datasets             the datasets\n"
	"\n"
	"  -s, --socket SOCKET  control socket of the daemon; otherwise "
	"$JOADERFS_SOCKET,\n"
	"                       otherwise the daemon's default\n"
	"  -h, --help           this text\n"
	"      --version        the version\n"
	"\n"
	"Exit status: 0 done, 1 refused or no daemon, 2 wrong usage.\n";

static void complain(const char *format, ...) printf_like(1, 2);

static void complain(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("joaderctl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

/* --- bytes ------------------------------------------------------------------------- */

/* Reads to the end. 0 or -errno; the caller frees *ret, which ends with a NUL byte. */
static int read_all(int fd, char **ret, size_t *ret_bytes)
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
		/* So ends the answer to a request that was not read to its end. */
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
		/* Whoever reads our output has seen enough. */
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

static int send_request(int fd, const char *const *arguments, size_t n)
{
	int err = 0;
	for (size_t i = 0; i < n && !err; i++)
		err = send_all(fd, arguments[i], strlen(arguments[i]) + 1);
	if (!err && shutdown(fd, SHUT_WR) < 0)
		err = -errno;
	return err;
}

/* The exit status. */
static int request(const char *path, const char *const *arguments, size_t n)
{
	auto_free char *response = NULL;
	size_t bytes;
	auto_close int fd = open_daemon(path);
	if (fd < 0)
		return EXIT_FAILURE;
	int send_err = send_request(fd, arguments, n);
	/* A daemon that refuses what we send says why before it hangs up. */
	int err = read_all(fd, &response, &bytes);
	if (err || (bytes == 0 && send_err)) {
		complain("%s: %s", path, strerror(err ? -err : -send_err));
		return EXIT_FAILURE;
	}
	return print_response(path, response, bytes);
}

/* --- commands ---------------------------------------------------------------------- */

static int read_file(const char *file, char **ret, size_t *ret_bytes)
{
	if (strcmp(file, "-") == 0)
		return read_all(STDIN_FILENO, ret, ret_bytes);
	auto_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : read_all(fd, ret, ret_bytes);
}

static int add(const char *path, const char *file)
{
	auto_free char *text = NULL;
	size_t bytes = 0;
	/* Before connecting: the daemon waits for nobody. */
	int err = read_file(file, &text, &bytes);
	const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
	if (err) {
		complain("%s: %s", name, strerror(-err));
		return EXIT_FAILURE;
	}
	if (strlen(text) != bytes) {
		complain("%s: not a text file: it has a NUL byte", name);
		return EXIT_FAILURE;
	}
	const char *arguments[] = {"add", name, text};
	return request(path, arguments, 3);
}

static int rm(const char *path, const char *job)
{
	const char *arguments[] = {"rm", job};
	return request(path, arguments, 2);
}

static int each(const char *path, char **arguments, int n,
	int (*command)(const char *path, const char *argument))
{
	int status = EXIT_SUCCESS;
	if (n == 0) {
		complain("nothing given; joaderctl --help says more");
		return EXIT_USAGE;
	}
	for (int i = 0; i < n; i++)
		if (command(path, arguments[i]) != EXIT_SUCCESS)
			status = EXIT_FAILURE;
	return status;
}

static int run(const char *path, char **arguments, int n)
{
	if (strcmp(arguments[0], "add") == 0)
		return each(path, arguments + 1, n - 1, add);
	if (strcmp(arguments[0], "rm") == 0)
		return each(path, arguments + 1, n - 1, rm);
	return request(path, (const char *const *)arguments, (size_t)n);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"socket", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0}};
	const char *socket_path = getenv("JOADERFS_SOCKET");
	auto_free char *default_path = NULL;
	int option;
	/* +: what follows the command belongs to it */
	while ((option = getopt_long(argc, argv, "+s:h", options, NULL)) != -1) {
		if (option == 's') {
			socket_path = optarg;
		} else if (option == 'h') {
			return fputs(help, stdout) < 0 || fflush(stdout) != 0;
		} else if (option == 'V') {
			return printf("joaderctl %s\n", JOADERFS_VERSION) < 0 ||
			       fflush(stdout) != 0;
		} else {
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		fputs(help, stderr);
		return EXIT_USAGE;
	}
	if (!socket_path || !socket_path[0])
		socket_path = default_path = config_default_socket();
	if (!socket_path) {
		complain("%s", strerror(ENOMEM));
		return EXIT_FAILURE;
	}
	/* A pager that was left is no reason to die with a signal. */
	signal(SIGPIPE, SIG_IGN);
	return run(socket_path, argv + optind, argc - optind);
}
