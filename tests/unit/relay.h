// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/address.h"
#include "peer/peer_handshake.h"
#include "peer_helpers.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>

/*
 * A relay between a client and a server. It records what the server sends, and may cut it off or
 * change it. It serves one connection after the other.
 */

#define RELAY_BYTES (1u << 20)

struct relay {
	char address[PEER_ADDRESS_TEXT], server[PEER_ADDRESS_TEXT];
	int listener;
	pthread_t thread;
	atomic_bool stops, has_stopped;
	/* Bytes from the server before the first byte that is cut off, or is changed; 0: no such
	 * byte. */
	atomic_size_t cuts_at, flips_at;
	/* length of `bytes`, sent by both ends; valid after the relay has stopped */
	size_t n;
	uint8_t bytes[RELAY_BYTES];
};

static inline int relay_listen(char ret[static PEER_ADDRESS_TEXT])
{
	struct peer_address at = {.n = sizeof(at.bytes)};
	struct sockaddr_in any = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	cr_assert_eq(listen(fd, 4), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&at.bytes, &at.n), 0);
	peer_address_print(&at, ret);
	return fd;
}

static inline int relay_connect(const char *address)
{
	struct peer_address to;
	cr_assert_eq(address_parse(address, &to.bytes, &to.n), 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(connect(fd, (const struct sockaddr *)&to.bytes, to.n), 0);
	return fd;
}

/* Passes bytes from one end to the other. false: the connection has ended. */
static inline bool relay_some(struct relay *relay, int from, int to, size_t *said)
{
	uint8_t bytes[8192];
	size_t cut = said ? relay->cuts_at : 0, flip = said ? relay->flips_at : 0;
	ssize_t n = recv(from, bytes, sizeof(bytes), 0);
	if (n <= 0)
		return false;
	size_t part = (size_t)n;
	if (said && flip > *said && flip <= *said + part)
		bytes[flip - 1 - *said] ^= 4;
	if (cut && cut <= *said + part)
		part = cut - 1 - *said;
	if (relay->n + part <= RELAY_BYTES) {
		memcpy(relay->bytes + relay->n, bytes, part);
		relay->n += part;
	}
	if (said)
		*said += part;
	return (part == 0 || send(to, bytes, part, MSG_NOSIGNAL) == (ssize_t)part) &&
	       part == (size_t)n;
}

static inline void relay_connection(struct relay *relay, int client)
{
	int server = relay_connect(relay->server);
	struct pollfd fds[2] = {
		{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
	size_t said = 0;
	bool goes_on = true;
	while (goes_on && !relay->stops) {
		if (poll(fds, 2, 10) <= 0)
			continue;
		if (fds[0].revents)
			goes_on = relay_some(relay, client, server, NULL);
		if (goes_on && fds[1].revents)
			goes_on = relay_some(relay, server, client, &said);
	}
	close(server);
	close(client);
}

static inline void *relay_run(void *context)
{
	struct relay *relay = context;
	struct pollfd fd = {.fd = relay->listener, .events = POLLIN};
	while (!relay->stops) {
		if (poll(&fd, 1, 10) <= 0)
			continue;
		int client = accept(relay->listener, NULL, NULL);
		if (client >= 0)
			relay_connection(relay, client);
	}
	return NULL;
}

static inline struct relay *relay_to(const char *server)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	cr_assert_not_null(relay);
	snprintf(relay->server, sizeof(relay->server), "%s", server);
	relay->listener = relay_listen(relay->address);
	cr_assert_eq(pthread_create(&relay->thread, NULL, relay_run, relay), 0);
	return relay;
}

static inline void relay_stop(struct relay *relay)
{
	relay->stops = true;
	if (!relay->has_stopped)
		pthread_join(relay->thread, NULL);
	relay->has_stopped = true;
}

static inline void relay_free(struct relay **relay)
{
	relay_stop(*relay);
	close((*relay)->listener);
	free(*relay);
	*relay = NULL;
}
