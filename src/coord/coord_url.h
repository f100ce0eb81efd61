// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The URL of an engine's server. The node logs in as USER:
 *
 *     redis[s]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DB]
 *     redis+unix://[USER[:PASSWORD]@]/PATH[?DB]
 *     redis[s]-sentinel://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/MASTER[/DB]
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets. USER, PASSWORD and PATH may have
 * bytes as %XX. The hosts of the last form are Sentinels, which tell MASTER's address. The schemes
 * rediss and rediss-sentinel use TLS for all connections.
 *
 *   Errors: -EINVAL with a message that shows no part of the URL, since any part may be a password.
 *   Threads: any.
 */

#define COORD_URL_HOSTS 8
#define COORD_URL_TEXT 256 /* bytes of a part, including the \0 */
#define COORD_URL_RULE                                                                   \
	"redis[s]://[USER[:PASSWORD]@]HOST[:PORT][,...][/DB], "                          \
	"redis[s]-sentinel://...HOST[:PORT][,...]/MASTER[/DB] or "                       \
	"redis+unix://...PATH[?DB]"

struct coord_url {
	struct coord_host {
		char name[COORD_URL_TEXT]; /* a host, or the path of a socket */
		int port;		   /* 0: `name` is a socket's path */
	} hosts[COORD_URL_HOSTS];
	size_t n;
	char user[COORD_URL_TEXT]; /* "": the server's default user */
	bool tls;
	bool has_password;
	char password[COORD_URL_TEXT];
	char master[COORD_URL_TEXT]; /* "": the hosts are servers */
	int db;
};

#define COORD_URL_MESSAGE 96

must_check int coord_url_parse(
	const char *url, struct coord_url *ret, char message[COORD_URL_MESSAGE]);
