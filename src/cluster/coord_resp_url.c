// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_HIREDIS

#include "cluster/coord_resp_internal.h"

#include <stdio.h>
#include <string.h>

/* Where the server is. */

static bool is_end(const char *text)
{
	return *text == '\0';
}

/* redis://[:PASSWORD@]HOST[:PORT][/DB] */
static bool parse_host(const char *at, struct coord_resp *resp)
{
	int end = 0;
	if (sscanf(at, ":%127[^@]@%n", resp->password, &end) == 1 && end)
		at += end;
	end = 0;
	if (sscanf(at, "%255[^:/]%n", resp->host, &end) != 1)
		return false;
	at += end;
	resp->port = 6379;
	end = 0;
	if (*at == ':' && (sscanf(at, ":%5d%n", &resp->port, &end) != 1))
		return false;
	at += end;
	end = 0;
	if (*at == '/' && at[1] && sscanf(at, "/%4d%n", &resp->db, &end) != 1)
		return false;
	at += *at == '/' && !at[1] ? 1 : end;
	return is_end(at) && resp->port > 0 && resp->port < 65536 && resp->db >= 0;
}

/* redis+unix://PATH[?DB] */
static bool parse_path(const char *at, struct coord_resp *resp)
{
	int end = 0;
	if (*at != '/' || sscanf(at, "%107[^?]%n", resp->host, &end) != 1)
		return false;
	at += end;
	end = 0;
	if (*at == '?' && sscanf(at, "?%4d%n", &resp->db, &end) != 1)
		return false;
	return is_end(at + end) && resp->db >= 0;
}

bool resp_parse(const char *url, struct coord_resp *resp)
{
	static const char host[] = "redis://", path[] = "redis+unix://";
	if (strncmp(url, host, strlen(host)) == 0)
		return parse_host(url + strlen(host), resp);
	if (strncmp(url, path, strlen(path)) == 0)
		return parse_path(url + strlen(path), resp);
	return false;
}

#endif
