// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "web/visitors.h"
#include "base/clock.h"

#include <netinet/in.h>
#include <string.h>

#define OF_ONE_NETWORK 8 /* bytes of an IPv6 address that identify the network */

static bool is_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return memcmp(&a6->sin6_addr, &b6->sin6_addr, OF_ONE_NETWORK) == 0;
	return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
}

static void hang_up(struct visitor *visitor)
{
	visitor->leaves = true;
	/* libmicrohttpd notices the shutdown, and closes the socket */
	(void)shutdown(visitor->fd, SHUT_RDWR);
}

/* Returns the number of visitors with the given address, or of all visitors if `address` is NULL.
 * Visitors whose connection is being ended do not count. Sets *ret_first to the counted visitor
 * whose request has taken longest, or to NULL. */
static unsigned count(const struct visitors *visitors,
	const struct sockaddr_storage *address, struct visitor **ret_first)
{
	struct visitor *visitor;
	unsigned n = 0;
	*ret_first = NULL;
	TAILQ_FOREACH (visitor, visitors, link) {
		if (visitor->leaves || (address && !is_same(&visitor->address, address)))
			continue;
		if (n++ == 0)
			*ret_first = visitor;
	}
	return n;
}

struct visitor *visitors_add(
	struct visitors *visitors, const struct sockaddr *address, int fd)
{
	struct visitor *visitor = calloc(1, sizeof(*visitor)), *first;
	if (!visitor)
		return NULL;
	size_t bytes = address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						      : sizeof(struct sockaddr_in);
	memcpy(&visitor->address, address, bytes);
	visitor->fd = fd;
	visitor->since_ns = clock_now_ns();
	TAILQ_INSERT_TAIL(visitors, visitor, link);
	if (count(visitors, &visitor->address, &first) > VISITORS_OF_ONE ||
		count(visitors, NULL, &first) > VISITORS_MOST)
		hang_up(first);
	return visitor;
}

void visitors_remove(struct visitors *visitors, struct visitor *visitor)
{
	TAILQ_REMOVE(visitors, visitor, link);
	free(visitor);
}

void visitors_served(struct visitors *visitors, struct visitor *visitor)
{
	visitor->since_ns = clock_now_ns();
	TAILQ_REMOVE(visitors, visitor, link);
	TAILQ_INSERT_TAIL(visitors, visitor, link);
}

uint64_t visitors_hurry(struct visitors *visitors, uint64_t most_ns)
{
	uint64_t now_ns = clock_now_ns();
	struct visitor *visitor;
	TAILQ_FOREACH (visitor, visitors, link) {
		if (visitor->leaves)
			continue;
		if (now_ns - visitor->since_ns < most_ns)
			return visitor->since_ns + most_ns;
		hang_up(visitor);
	}
	return UINT64_MAX;
}
