// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "peer/peer_handshake.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

void peer_address_print(
	const struct peer_address *address, char ret[static PEER_ADDRESS_TEXT])
{
	char host[48] = "?", port[6] = "?";
	getnameinfo((const struct sockaddr *)&address->bytes, address->n, host,
		sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(ret, PEER_ADDRESS_TEXT, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host,
		port);
}

bool peer_address_is_loopback(const struct peer_address *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->bytes;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->bytes;
	if (address->bytes.ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	if (address->bytes.ss_family != AF_INET6)
		return false;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) &&
		       v6->sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

#define GONE_MS 10000 /* sent data must be acknowledged within this time */

void peer_socket_tune(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {{IPPROTO_TCP, TCP_NODELAY, 1}, {SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 5}, {IPPROTO_TCP, TCP_KEEPINTVL, 2},
		{IPPROTO_TCP, TCP_KEEPCNT, 3}, {IPPROTO_TCP, TCP_USER_TIMEOUT, GONE_MS}};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			sizeof(options[i].value));
}
