// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Where the server of an engine is, and as whom a node talks to it:
 *
 *     redis[s]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DB]
 *     redis+unix://[USER[:PASSWORD]@]/PATH[?DB]
 *     redis[s]-sentinel://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/MASTER[/DB]
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets. In USER, PASSWORD and PATH
 * %XX is a byte. The hosts of the last form are Sentinels, which tell where MASTER is.
 * With an s all connections have TLS.
 *
 *   Errors: -EINVAL with a message, which has nothing of the URL: any part of it may be a
 *         password.
 *   Threads: any.
 */

#define COORD_URL_HOSTS 8
#define COORD_URL_TEXT 256 /* bytes of a part, with the 0 */
#define COORD_URL_RULE                                                                   \
	"redis[s]://[USER[:PASSWORD]@]HOST[:PORT][,...][/DB], "                          \
	"redis[s]-sentinel://...HOST[:PORT][,...]/MASTER[/DB] or "                       \
	"redis+unix://...PATH[?DB]"

struct coord_url {
	struct coord_host {
		char name[COORD_URL_TEXT]; /* or the path of a socket */
		int port;		   /* 0: it is a socket */
	} hosts[COORD_URL_HOSTS];
	size_t n;
	char user[COORD_URL_TEXT]; /* "": the server's default */
	bool tls;
	bool has_password;
	char password[COORD_URL_TEXT];
	char master[COORD_URL_TEXT]; /* that the hosts know; "": they are it */
	int db;
};

#define COORD_URL_MESSAGE 96

must_check int coord_url_parse(
	const char *url, struct coord_url *ret, char message[COORD_URL_MESSAGE]);
