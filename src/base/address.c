// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/address.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ADDRESS_TEXT 64

static bool divide(const char *text, char *address, size_t n, const char **ret_port)
{
	const char *colon = strrchr(text, ':');
	const char *begin = text, *end = colon;
	if (!colon || colon == text || !colon[1])
		return false;
	if (*text == '[') {
		begin++;
		end--;
		if (*end != ']')
			return false;
	} else if (memchr(text, ':', (size_t)(colon - text))) {
		return false;
	}
	if (end <= begin || (size_t)(end - begin) >= n)
		return false;
	memcpy(address, begin, (size_t)(end - begin));
	address[end - begin] = '\0';
	*ret_port = colon + 1;
	return true;
}

static int find(
	const char *text, int flags, struct sockaddr_storage *ret, socklen_t *ret_n)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = flags | AI_NUMERICSERV};
	char address[ADDRESS_TEXT];
	struct addrinfo *found;
	const char *port;
	if (!divide(text, address, sizeof(address), &port) || strlen(port) > 5 ||
		strtoul(port, NULL, 10) > UINT16_MAX)
		return -EINVAL;
	if (getaddrinfo(address, port, &hints, &found) != 0)
		return -EINVAL;
	*ret = (struct sockaddr_storage){0};
	memcpy(ret, found->ai_addr, found->ai_addrlen);
	*ret_n = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

int address_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_n)
{
	return find(text, AI_NUMERICHOST, ret, ret_n);
}

int address_resolve(const char *text, struct sockaddr_storage *ret, socklen_t *ret_n)
{
	char everywhere[ADDRESS_TEXT] = "0.0.0.0";
	size_t n = strlen(everywhere);
	if (*text != ':')
		return find(text, 0, ret, ret_n);
	if (strlen(text) >= sizeof(everywhere) - n)
		return -EINVAL;
	strcpy(everywhere + n, text);
	return find(everywhere, AI_NUMERICHOST, ret, ret_n);
}
