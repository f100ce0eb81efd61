// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/address.h"
#include "peer/peer_server_internal.h"
#include "peer_helpers.h"

#include <netinet/in.h>
#include <stdlib.h>

/* Messages of hostile or broken peers. The connection must end, a line of the log must say why,
 * and others must not be affected: after each case the same server and client still serve and
 * fetch. */

TestSuite(strangers, .init = log_begin, .fini = log_end);

/* --- by hand ----------------------------------------------------------------------------- */

static void send_all(int fd, const void *bytes, size_t n)
{
	cr_assert_eq(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
}

static void receive_all(int fd, void *bytes, size_t n)
{
	cr_assert_eq(recv(fd, bytes, n, MSG_WAITALL), (ssize_t)n);
}

/* Checks that the other end hangs up, after any bytes. */
static void hangs_up(int fd)
{
	char bytes[4096];
	ssize_t n;
	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
	}
	cr_assert(n == 0 || errno == ECONNRESET);
	close(fd);
}

static int connect_to(const char *address)
{
	struct peer_address to;
	cr_assert_eq(address_parse(address, &to.bytes, &to.n), 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval patience = {.tv_sec = PATIENCE_S};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	cr_assert_eq(connect(fd, (const struct sockaddr *)&to.bytes, to.n), 0);
	return fd;
}

static void make_hello(uint32_t version, uint8_t ret[static PEER_HELLO_BYTES])
{
	const struct peer_hello hello = {.version = version, .name = "mallory"};
	peer_hello_put(&hello, ret);
}

/* Connects a client that the server accepts, because this server has no secret. */
static int welcome_client(const char *address)
{
	uint8_t hello[PEER_HELLO_BYTES], answer[PEER_HELLO_BYTES];
	struct peer_hello other;
	const char *why;
	int fd = connect_to(address);
	make_hello(PEER_VERSION, hello);
	send_all(fd, hello, sizeof(hello));
	receive_all(fd, answer, sizeof(answer));
	cr_assert_eq(peer_hello_take(answer, &other, &why), 0);
	cr_assert_eq(other.verdict, PEER_WELCOME);
	return fd;
}

/* --- a server and its clients ------------------------------------------------------------ */

static void still_serves(const struct owner *owner)
{
	struct asker asker = ask(owner);
	cr_assert_eq(fetch_one(&asker, 1, PATIENCE_S), 0);
	peer_client_free(&asker.client);
}

Test(strangers, garbage_is_hung_up_on)
{
	struct owner *owner = serve("b", NULL);
	char garbage[PEER_HELLO_BYTES];
	int fd = connect_to(peer_server_address(owner->server));
	memset(garbage, 'G', sizeof(garbage));
	send_all(fd, garbage, sizeof(garbage));
	hangs_up(fd);
	EVENTUALLY(logged("it is no joaderfs"));
	still_serves(owner);
	end_serving(&owner);
}

Test(strangers, another_version_is_told_ours)
{
	struct owner *owner = serve("b", NULL);
	uint8_t hello[PEER_HELLO_BYTES];
	struct peer_hello other;
	const char *why;
	int fd = connect_to(peer_server_address(owner->server));
	make_hello(PEER_VERSION + 6, hello);
	send_all(fd, hello, sizeof(hello));
	receive_all(fd, hello, sizeof(hello));
	cr_assert_eq(peer_hello_take(hello, &other, &why), 0);
	cr_assert_eq(other.version, PEER_VERSION);
	hangs_up(fd);
	EVENTUALLY(
		logged("it speaks another version of the protocol: found 8, allowed: 2"));
	still_serves(owner);
	end_serving(&owner);
}

Test(strangers, one_that_greets_too_slowly_is_hung_up_on)
{
	struct owner *owner = serve("b", NULL);
	uint8_t hello[PEER_HELLO_BYTES];
	int fd = connect_to(peer_server_address(owner->server));
	make_hello(PEER_VERSION, hello);
	uint64_t begun = clock_now_ns();
	size_t sent = 0;
	/* Sends a byte now and then. Such progress must not keep the connection open. */
	while (clock_now_ns() - begun < PATIENCE_S * SECOND && sent < sizeof(hello) - 1 &&
		send(fd, hello + sent, 1, MSG_NOSIGNAL) == 1) {
		sent++;
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
	cr_assert_lt(sent, sizeof(hello) - 1);
	close(fd);
	EVENTUALLY(logged("its greeting takes too long"));
	still_serves(owner);
	end_serving(&owner);
}

Test(strangers, many_of_them_keep_nobody_out)
{
	struct owner *owner = serve("b", NULL);
	int fds[PEER_STRANGERS + 8];
	for (int i = 0; i < PEER_STRANGERS + 8; i++)
		fds[i] = connect_to(peer_server_address(owner->server));
	still_serves(owner);
	EVENTUALLY(logged("too many connections have not greeted"));
	hangs_up(fds[0]);
	for (int i = 1; i < PEER_STRANGERS + 8; i++)
		close(fds[i]);
	end_serving(&owner);
}

static const uint8_t space_0[] = {1, 0, 0, 0, 24 + 6 + 1, 0, 0,
	0,						 /* a space of 31 bytes */
	0, 0, 0, 0, 6, 0, 0, 0,				 /* number, dataset */
	77, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, /* fingerprint, preparation */
	'p', 'h', 'o', 't', 'o', 's', 'x'};

/* 32 bits, little-endian. */
#define BYTES(n) (n) & 255, (n) >> 8 & 255, (n) >> 16 & 255, (n) >> 24 & 255

static const struct {
	const char *why;
	uint8_t bytes[48];
	size_t n;
	bool names_space; /* space 0, before */
} cases[] = {
	{"of an unknown kind", {BYTES(3), BYTES(0)}, 8, false},
	{"of an unknown kind", {BYTES(UINT32_MAX), BYTES(UINT32_MAX)}, 8, false},
	{"a message is too long", {BYTES(1), BYTES(UINT32_MAX)}, 8, false},
	{"a message is too long", {BYTES(2), BYTES(PEER_FRAME_MOST)}, 8, false},
	{"a space is too short", {BYTES(1), BYTES(23)}, 31, false},
	{"a number that is too large", {BYTES(1), BYTES(24), BYTES(UINT32_MAX), BYTES(0)},
		32, false},
	{"texts have another length than announced",
		{BYTES(1), BYTES(24), BYTES(0), BYTES(UINT32_MAX)}, 32, false},
	{"texts have another length than announced",
		{BYTES(1), BYTES(24), BYTES(0), BYTES(1)}, 32, false},
	{"a space is named twice", {BYTES(1), BYTES(24), BYTES(0), BYTES(0)}, 32, true},
	{"a fetch is too short", {BYTES(2), BYTES(4), BYTES(0)}, 12, true},
	{"a fetch refers to an impossible space",
		{BYTES(2), BYTES(16), BYTES(UINT32_MAX), BYTES(1)}, 24, true},
	{"a fetch refers to a space without a name",
		{BYTES(2), BYTES(16), BYTES(1), BYTES(1)}, 24, true},
	{"a fetch has another length than announced",
		{BYTES(2), BYTES(16), BYTES(0), BYTES(UINT32_MAX)}, 24, true},
	{"a fetch has another length than announced",
		{BYTES(2), BYTES(8), BYTES(0), BYTES(0)}, 16, true},
	{"it hung up in the middle of a message", {BYTES(2), BYTES(16)}, 8, true},
};

Test(strangers, wrong_messages_end_the_connection)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct owner *owner = serve("b", NULL);
		owner->expected = NULL;
		log_begin();
		int fd = welcome_client(peer_server_address(owner->server));
		if (cases[i].names_space)
			send_all(fd, space_0, sizeof(space_0));
		send_all(fd, cases[i].bytes, cases[i].n);
		shutdown(fd, SHUT_WR);
		hangs_up(fd);
		EVENTUALLY(logged(cases[i].why));
		EVENTUALLY(logged("peer mallory at 127.0.0.1"));
		still_serves(owner);
		end_serving(&owner);
		log_end();
	}
}

static size_t frame_of(uint8_t frame[static PEER_FRAME_MOST], uint32_t first,
	uint32_t count, sample_id sample)
{
	size_t n = peer_fetch_begin(frame, 0);
	for (uint32_t i = 0; i < count; i++)
		n += peer_fetch_put(frame + n, first + i, sample);
	peer_fetch_end(frame, count);
	return n;
}

Test(strangers, one_that_asks_for_too_much_is_hung_up_on)
{
	struct owner *owner = serve("b", NULL);
	static uint8_t frame[PEER_FRAME_MOST];
	owner->expected = NULL;
	hold(owner, true);
	int fd = welcome_client(peer_server_address(owner->server));
	send_all(fd, space_0, sizeof(space_0));
	send_all(fd, frame, frame_of(frame, 0, PEER_WINDOW, 4));
	EVENTUALLY(owner->asked == PEER_WINDOW);
	send_all(fd, frame, frame_of(frame, PEER_WINDOW, 1, 4));
	hangs_up(fd);
	EVENTUALLY(logged("it sends more requests at once than allowed"));
	hold(owner, false);
	still_serves(owner);
	answer_held(owner);
	end_serving(&owner);
}

#define LARGE 8 /* tensors of 5 MB: more than sockets hold */

/* The client requests 40 MB and reads nothing. Meanwhile others are served, and when the client is
 * gone everything is released. */
Test(strangers, one_that_takes_nothing_delays_nobody)
{
	struct owner *owner = serve("b", NULL);
	static uint8_t frame[PEER_FRAME_MOST];
	owner->expected = NULL;
	hold(owner, true);
	int fd = welcome_client(peer_server_address(owner->server));
	send_all(fd, space_0, sizeof(space_0));
	send_all(fd, frame, frame_of(frame, 0, LARGE, 5));
	EVENTUALLY(owner->asked == LARGE);
	hold(owner, false);
	answer_held(owner);
	for (int i = 0; i < 3; i++)
		still_serves(owner);
	cr_assert_lt(owner->released, LARGE);
	close(fd);
	EVENTUALLY(owner->released == LARGE + 3);
	end_serving(&owner);
}

/* --- a client and its servers ------------------------------------------------------------ */

/* A server that the test plays. It serves one connection. */
struct by_hand {
	int listener;
	char address[PEER_ADDRESS_TEXT];
};

static struct by_hand listen_by_hand(void)
{
	struct by_hand by_hand = {.listener = socket(AF_INET, SOCK_STREAM, 0)};
	struct peer_address at = {.n = sizeof(at.bytes)};
	struct sockaddr_in any = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	cr_assert_eq(bind(by_hand.listener, (struct sockaddr *)&any, sizeof(any)), 0);
	cr_assert_eq(listen(by_hand.listener, 4), 0);
	cr_assert_eq(
		getsockname(by_hand.listener, (struct sockaddr *)&at.bytes, &at.n), 0);
	peer_address_print(&at, by_hand.address);
	return by_hand;
}

static int accept_by_hand(const struct by_hand *by_hand)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int fd = accept(by_hand->listener, NULL, NULL);
	cr_assert(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* Accepts the client and its first fetch. Returns the number of the request. */
static uint32_t welcome_by_hand(int fd)
{
	uint8_t hello[PEER_HELLO_BYTES], frame[512];
	size_t n = PEER_FRAME_HEAD + PEER_SPACE_HEAD + strlen(photos.dataset) +
		   strlen(photos.preparation);
	uint32_t request;
	receive_all(fd, hello, sizeof(hello));
	const struct peer_hello ours = {.version = PEER_VERSION, .name = "b"};
	peer_hello_put(&ours, hello);
	send_all(fd, hello, sizeof(hello));
	n += PEER_FRAME_HEAD + PEER_FETCH_HEAD + 8;
	receive_all(fd, frame, n);
	memcpy(&request, frame + n - 8, sizeof(request));
	return request;
}

/* Writes a wrong answer to the request. */
typedef size_t wrong_answer(uint32_t request, uint8_t *to);

static size_t put_answer(
	uint8_t *to, uint32_t request, int status, uint32_t head, uint64_t length)
{
	const struct peer_answer answer = {.request = request,
		.status = status,
		.head_bytes = head,
		.length = length};
	peer_answer_put(&answer, to);
	return PEER_ANSWER_BYTES;
}

static size_t endless(uint32_t request, uint8_t *to)
{
	return put_answer(to, request, 0, 4, UINT64_MAX);
}

static size_t four_gigabytes(uint32_t request, uint8_t *to)
{
	return put_answer(to, request, 0, 4, UINT32_MAX);
}

static size_t long_head(uint32_t request, uint8_t *to)
{
	return put_answer(to, request, 0, UINT32_MAX, 10);
}

static size_t not_asked(uint32_t request, uint8_t *to)
{
	return put_answer(to, request + 1, 0, 4, 10) + 4;
}

static size_t error_with_bytes(uint32_t request, uint8_t *to)
{
	return put_answer(to, request, -ENOENT, 0, 10);
}

static size_t no_error(uint32_t request, uint8_t *to)
{
	put_answer(to, request, 0, 0, 0);
	memset(to + 8, 255, 4);
	return PEER_ANSWER_BYTES;
}

static size_t garbage(uint32_t request, uint8_t *to)
{
	(void)request;
	memset(to, 'G', 64);
	return 64;
}

static size_t half_a_tensor(uint32_t request, uint8_t *to)
{
	return put_answer(to, request, 0, 4, 1000) + 4 + 500;
}

static size_t half_a_front(uint32_t request, uint8_t *to)
{
	return put_answer(to, request, 0, 4, 1000) / 2;
}

static const struct {
	wrong_answer *put;
	const char *why;
} answers[] = {
	{endless, "an answer is longer than any tensor"},
	{four_gigabytes, "an answer is longer than any tensor"},
	{long_head, "an answer's head is too long"},
	{not_asked, "it answers a request that was not sent"},
	{error_with_bytes, "an answer with an error has data"},
	{no_error, "an answer has an unknown error"},
	{garbage, "an answer begins with invalid bytes"},
	{half_a_tensor, "it hung up in the middle of a tensor"},
	{half_a_front, "it hung up in the middle of a tensor"},
};

Test(strangers, wrong_answers_end_the_connection)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct by_hand by_hand = listen_by_hand();
		struct owner *owner = serve("c", NULL);
		struct asker asker = ask_as("a", NULL, "b", by_hand.address);
		struct got got = {0};
		uint8_t wrong[1024] = {0};
		log_begin();
		cr_assert_eq(start_fetch(&asker, &got, 1, 1000), 0);
		int fd = accept_by_hand(&by_hand);
		uint32_t request = welcome_by_hand(fd);
		send_all(fd, wrong, answers[i].put(request, wrong));
		shutdown(fd, SHUT_WR);
		EVENTUALLY(got.done);
		cr_assert_eq(got.err, -ECONNRESET);
		cr_assert(logged(answers[i].why), "%s", answers[i].why);
		free(got.bytes);
		close(fd);
		/* Another node is not affected. */
		cr_assert_eq(peer_client_node(asker.client, "c",
				     peer_server_address(owner->server), &asker.node),
			0);
		cr_assert_eq(fetch_one(&asker, 2, PATIENCE_S), 0);
		peer_client_free(&asker.client);
		end_serving(&owner);
		close(by_hand.listener);
		log_end();
	}
}

/* Checks that the client refuses a server that sends these bytes instead of a hello. */
static void greeted_with(const uint8_t *bytes, size_t n, const char *why)
{
	struct by_hand by_hand = listen_by_hand();
	struct asker asker = ask_as("a", NULL, "b", by_hand.address);
	struct got got = {0};
	cr_assert_eq(start_fetch(&asker, &got, 1, 1000), 0);
	int fd = accept_by_hand(&by_hand);
	if (n > 0)
		send_all(fd, bytes, n);
	EVENTUALLY(got.done);
	cr_assert_eq(got.err, -EHOSTDOWN);
	cr_assert(logged(why), "%s", why);
	peer_client_free(&asker.client);
	close(fd);
	close(by_hand.listener);
}

Test(strangers, a_node_that_greets_wrongly_is_none)
{
	uint8_t bytes[PEER_HELLO_BYTES];
	memset(bytes, 'G', sizeof(bytes));
	greeted_with(bytes, sizeof(bytes), "it is no joaderfs");
	make_hello(PEER_VERSION + 1, bytes);
	greeted_with(bytes, sizeof(bytes),
		"it speaks another version of the protocol: found 3, allowed: 2");
	make_hello(PEER_VERSION, bytes);
	greeted_with(bytes, sizeof(bytes), "a node of another name answers there");
	memset(bytes + 56, 0, 64);
	greeted_with(bytes, sizeof(bytes), "its name is invalid");
	greeted_with(NULL, 0, "it sends no greeting");
}
