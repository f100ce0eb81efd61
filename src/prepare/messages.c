// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "prepare/process.h"
#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Exchanges messages with a process, as joaderfs-prepare(7) describes them:
 *
 *     joaderfs-prepare 1\n                             the process sends this when it starts
 *     sample NUMBER NAME-BYTES BYTES\n name sample     the daemon sends a sample
 *     array NUMBER BYTES\n NumPy file                  the process answers with an array,
 *     error NUMBER BYTES\n text                        or with an error
 *
 * NUMBER grows by one with each sample, so that the daemon recognises a late answer. The process
 * may read slowly, and may write to its standard error at any time. The daemon therefore waits for
 * standard input, output and error of the process together.
 */

#define READY "joaderfs-prepare 1"
#define LINE_BYTES 80
#define ERROR_BYTES 1024
#define FIRST_READ 512 /* enough for a line, and usually for a NumPy header */

struct exchange {
	struct process *process;
	uint64_t deadline_ns, timeout_ns;
	struct iovec unsent[3];
	int n_unsent;
	uint8_t buffer[LINE_BYTES + ARRAY_MOST_HEAD];
	/* have: number of bytes in the buffer. used: number of these bytes that are parsed */
	size_t have, used;
	char *message;
};

static int refuse(const struct exchange *exchange, int err, const char *text)
{
	snprintf(exchange->message, IMAGE_MESSAGE, "%s", text);
	return err;
}

static void note_said(struct process *process, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '\n') {
			process->line_ended = true;
			continue;
		}
		if (process->line_ended)
			process->n_said = 0;
		process->line_ended = false;
		if (process->n_said + 1 < sizeof(process->said))
			process->said[process->n_said++] = isprint(c) ? (char)c : '?';
		process->said[process->n_said] = '\0';
	}
}

/* Reads a limited part of the standard error, so that a long text does not delay the answer. */
static void listen_to(struct process *process)
{
	char text[1024];
	ssize_t n = read(process->err, text, sizeof(text));
	if (n > 0)
		note_said(process, text, (size_t)n);
	process->closed_err = n == 0;
}

static void describe_end(const struct process *process, char *ret, size_t size)
{
	struct pollfd ended = {.fd = process->pidfd, .events = POLLIN};
	siginfo_t info = {0};
	if (poll(&ended, 1, 1000) != 1 ||
		waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) !=
			0 ||
		info.si_pid == 0)
		snprintf(ret, size, "has closed its output");
	else if (info.si_code == CLD_EXITED)
		snprintf(ret, size, "has ended with status %d", info.si_status);
	else
		snprintf(ret, size, "was ended by signal %d", info.si_status);
}

/* Writes exit status and last line of standard error to exchange->message. Returns -EPIPE. */
static int has_ended(const struct exchange *exchange)
{
	struct process *process = exchange->process;
	char how[40];
	listen_to(process);
	describe_end(process, how, sizeof(how));
	snprintf(exchange->message, IMAGE_MESSAGE, "the process %s%s%.*s", how,
		process->n_said ? ": " : "", 90, process->said);
	return -EPIPE;
}

static int is_silent(const struct exchange *exchange)
{
	snprintf(exchange->message, IMAGE_MESSAGE,
		"the process has not answered for %" PRIu64 " s",
		exchange->timeout_ns / 1000000000);
	return -ETIMEDOUT;
}

/* Sends as many bytes as the process takes now. If the process has closed its input, drops the
 * unsent bytes: this is no error, because the process may already have answered. */
static void send_some(struct exchange *exchange)
{
	ssize_t n = writev(exchange->process->in, exchange->unsent, exchange->n_unsent);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		exchange->n_unsent = 0;
	struct iovec *part = exchange->unsent;
	while (n > 0 && exchange->n_unsent > 0 && (size_t)n >= part->iov_len) {
		n -= (ssize_t)part->iov_len;
		exchange->n_unsent--;
		memmove(part, part + 1, (size_t)exchange->n_unsent * sizeof(*part));
	}
	if (n > 0 && exchange->n_unsent > 0) {
		part->iov_base = (uint8_t *)part->iov_base + n;
		part->iov_len -= (size_t)n;
	}
}

/* Waits until the process has written an answer's next bytes, or has ended. Meanwhile sends the
 * unsent bytes, and reads the standard error of the process. */
static int await_answer(struct exchange *exchange)
{
	struct process *process = exchange->process;
	for (;;) {
		struct pollfd polled[] = {{.fd = process->out, .events = POLLIN},
			{.fd = process->closed_err ? -1 : process->err, .events = POLLIN},
			{.fd = exchange->n_unsent ? process->in : -1, .events = POLLOUT}};
		if (clock_now_ns() >= exchange->deadline_ns)
			return is_silent(exchange);
		if (poll(polled, 3, clock_ms_until(exchange->deadline_ns)) < 0 &&
			errno != EINTR)
			return refuse(exchange, -errno, "poll failed");
		if (polled[1].revents)
			listen_to(process);
		if (polled[2].revents)
			send_some(exchange);
		if (polled[0].revents)
			return 0;
	}
}

/* Reads up to `most` bytes; waits until there is at least one. *ret: the number of bytes read. */
static int receive(struct exchange *exchange, void *to, size_t most, size_t *ret)
{
	for (;;) {
		ssize_t n = read(exchange->process->out, to, most);
		if (n > 0) {
			*ret = (size_t)n;
			return 0;
		}
		if (n == 0)
			return has_ended(exchange);
		if (errno != EAGAIN && errno != EINTR)
			return refuse(exchange, -errno, strerror(errno));
		int err = await_answer(exchange);
		if (err)
			return err;
	}
}

static int receive_more(struct exchange *exchange, size_t most)
{
	size_t room = sizeof(exchange->buffer) - exchange->have, n;
	int err = receive(exchange, exchange->buffer + exchange->have,
		most < room ? most : room, &n);
	if (!err)
		exchange->have += n;
	return err;
}

/* Receives a line. *ret points to the line in the buffer. exchange->used becomes the offset of the
 * byte after the line. */
static int receive_line(struct exchange *exchange, const char **ret)
{
	uint8_t *end;
	while (!(end = memchr(exchange->buffer, '\n', exchange->have))) {
		if (exchange->have >= LINE_BYTES)
			return refuse(exchange, -EPROTO,
				"the process has sent an invalid answer");
		int err = receive_more(exchange, FIRST_READ);
		if (err)
			return err;
	}
	*end = '\0';
	exchange->used = (size_t)(end + 1 - exchange->buffer);
	*ret = (const char *)exchange->buffer;
	return 0;
}

static bool take_number(const char **text, char end, uint64_t *ret)
{
	char *behind;
	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*ret = strtoull(*text, &behind, 10);
	bool ends = *behind == end;
	*text = behind + (*behind != '\0');
	return errno == 0 && ends;
}

static int receive_refusal(struct exchange *exchange, uint64_t bytes)
{
	if (bytes > ERROR_BYTES)
		return refuse(exchange, -EPROTO,
			"the process has sent an error of more than 1024 bytes");
	while (exchange->have - exchange->used < bytes) {
		int err = receive_more(exchange, bytes);
		if (err)
			return err;
	}
	if (exchange->have - exchange->used != bytes)
		return refuse(exchange, -EPROTO,
			"the process answers more than it was asked for");
	for (size_t i = 0; i < bytes; i++) {
		uint8_t *c = &exchange->buffer[exchange->used + i];
		*c = isprint(*c) ? *c : *c == '\n' ? ' ' : '?';
	}
	snprintf(exchange->message, IMAGE_MESSAGE, "%.*s", (int)bytes,
		exchange->buffer + exchange->used);
	return -EBADMSG;
}

/* Receives and checks the NumPy header of an array. Sets exchange->used to the offset of the byte
 * after the header. */
static int receive_head(
	struct exchange *exchange, const struct array_type *type, uint64_t bytes)
{
	char why[IMAGE_MESSAGE - 24];
	int head;
	while ((head = array_check_head(type, exchange->buffer + exchange->used,
			exchange->have - exchange->used, why, sizeof(why))) == 0) {
		int err = receive_more(exchange, FIRST_READ);
		if (err)
			return err;
	}
	if (head < 0) {
		snprintf(
			exchange->message, IMAGE_MESSAGE, "the process has sent %s", why);
		return -EPROTO;
	}
	exchange->used += (size_t)head;
	if ((uint64_t)head + array_bytes(type) != bytes)
		return refuse(exchange, -EPROTO,
			"the process has sent an array whose length differs from its "
			"header's");
	return 0;
}

static int receive_array(struct exchange *exchange, const struct array_type *type,
	uint64_t bytes, uint8_t *tensor)
{
	size_t all = array_bytes(type);
	int err = receive_head(exchange, type, bytes);
	if (err)
		return err;
	size_t at = exchange->have - exchange->used;
	if (at > all)
		return refuse(exchange, -EPROTO,
			"the process answers more than it was asked for");
	memcpy(tensor, exchange->buffer + exchange->used, at);
	for (size_t n = 0; !err && at < all; at += n)
		err = receive(exchange, tensor + at, all - at, &n);
	return err;
}

static int receive_answer(
	struct exchange *exchange, const struct array_type *type, uint8_t *tensor)
{
	const char *line;
	uint64_t number, bytes;
	int err = receive_line(exchange, &line);
	if (err)
		return err;
	bool array = strncmp(line, "array ", 6) == 0;
	bool error = strncmp(line, "error ", 6) == 0;
	line += 6;
	if ((!array && !error) || !take_number(&line, ' ', &number) ||
		!take_number(&line, '\0', &bytes))
		return refuse(
			exchange, -EPROTO, "the process has sent an invalid answer");
	if (number != exchange->process->asked)
		return refuse(exchange, -EPROTO,
			"the process has answered for another sample than the requested "
			"one");
	return array ? receive_array(exchange, type, bytes, tensor)
		     : receive_refusal(exchange, bytes);
}

static struct exchange begin(struct process *process, uint64_t timeout_ns, char *message)
{
	return (struct exchange){.process = process,
		.timeout_ns = timeout_ns,
		.deadline_ns = clock_now_ns() + timeout_ns,
		.message = message};
}

bool process_is_good(struct process *process)
{
	char byte;
	return read(process->out, &byte, 1) < 0 && errno == EAGAIN;
}

int process_await_ready(
	struct process *process, uint64_t timeout_ns, char message[static IMAGE_MESSAGE])
{
	struct exchange exchange = begin(process, timeout_ns, message);
	const char *line;
	int err = receive_line(&exchange, &line);
	if (err)
		return err;
	if (strcmp(line, READY) == 0 && exchange.used == exchange.have)
		return 0;
	return refuse(&exchange, -EPROTO, "the program does not begin with " READY);
}

int process_ask(struct process *process, const struct program_sample *sample,
	const struct array_type *type, uint64_t timeout_ns, uint8_t *tensor,
	char message[static IMAGE_MESSAGE])
{
	struct exchange exchange = begin(process, timeout_ns, message);
	char line[LINE_BYTES];
	size_t name = strlen(sample->name);
	int n = snprintf(line, sizeof(line), "sample %" PRIu64 " %zu %zu\n",
		++process->asked, name, sample->size);
	exchange.unsent[0] = (struct iovec){line, (size_t)n};
	exchange.unsent[1] = (struct iovec){(void *)(uintptr_t)sample->name, name};
	exchange.unsent[2] =
		(struct iovec){(void *)(uintptr_t)sample->data, sample->size};
	exchange.n_unsent = sample->size ? 3 : 2;
	send_some(&exchange);
	int err = receive_answer(&exchange, type, tensor);
	if ((err == 0 || err == -EBADMSG) && exchange.n_unsent > 0)
		return refuse(&exchange, -EPROTO,
			"the process has answered before it read its sample");
	return err;
}
