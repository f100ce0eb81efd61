// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PORT 6379
#define SENTINEL_PORT 26379
#define PATH_MOST 107 /* most bytes of a socket's path */
#define DB_MOST 9999

/* a part of the URL, not yet decoded */
struct part {
	const char *at;
	size_t n;
};

/* the rest of the URL, which is not parsed yet */
struct rest {
	const char *at;
	char *message;
};

static int refuse(const struct rest *rest, const char *why)
{
	snprintf(rest->message, COORD_URL_MESSAGE, "%s", why);
	return -EINVAL;
}

/* --- bytes ------------------------------------------------------------------------------ */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Decodes each %XX. false: malformed, too long, or with a zero byte. */
static bool decode(struct part part, char ret[COORD_URL_TEXT])
{
	size_t n = 0;
	for (size_t i = 0; i < part.n; i++) {
		int byte = (unsigned char)part.at[i];
		if (byte == '%') {
			int high = i + 2 < part.n ? hex_digit(part.at[i + 1]) : -1;
			int low = high >= 0 ? hex_digit(part.at[i + 2]) : -1;
			byte = low >= 0 ? 16 * high + low : 0;
			i += 2;
		}
		if (byte == 0 || n == COORD_URL_TEXT - 1)
			return false;
		ret[n++] = (char)byte;
	}
	ret[n] = '\0';
	return true;
}

static bool take_number(struct part part, int least, int most, int *ret)
{
	*ret = 0;
	for (size_t i = 0; i < part.n; i++) {
		if (part.at[i] < '0' || part.at[i] > '9' || i >= 5)
			return false;
		*ret = 10 * *ret + (part.at[i] - '0');
	}
	return part.n > 0 && *ret >= least && *ret <= most;
}

/* --- parts ------------------------------------------------------------------------------ */

/* Parses [USER[:PASSWORD]@] at the start of `rest`. end: the bytes that end this part of the URL,
 * such as the slash. Users and passwords may contain these bytes only as %XX, so a URL whose first
 * @ comes after such a byte is refused. */
static int take_user(struct rest *rest, const char *end, struct coord_url *ret)
{
	size_t n = strcspn(rest->at, end);
	const char *sign = memchr(rest->at, '@', n);
	if (strchr(rest->at + n, '@') && !sign)
		return refuse(rest, "a user or password has / as %2F and ? as %3F");
	if (!sign)
		return 0;
	if (strchr(sign + 1, '@'))
		return refuse(rest, "a user or password has @ as %40");
	struct part both = {rest->at, (size_t)(sign - rest->at)};
	const char *colon = memchr(both.at, ':', both.n);
	struct part user = {both.at, colon ? (size_t)(colon - both.at) : both.n};
	if (!decode(user, ret->user))
		return refuse(rest, "the user has more than 255 bytes, or a % without "
				    "the two digits of a byte");
	struct part password = {sign, 0};
	if (colon)
		password = (struct part){colon + 1, (size_t)(sign - colon - 1)};
	if (!decode(password, ret->password))
		return refuse(rest, "the password has more than 255 bytes, or a % "
				    "without the two digits of a byte (%25 is % itself)");
	ret->has_password = colon != NULL;
	rest->at = sign + 1;
	return 0;
}

static bool is_name(struct part part)
{
	for (size_t i = 0; i < part.n; i++) {
		char c = part.at[i];
		bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
		if (!letter && !(c >= '0' && c <= '9') && !strchr("-._", c))
			return false;
	}
	return part.n > 0 && part.n < COORD_URL_TEXT && part.at[0] != '-';
}

static bool is_address(const char *text)
{
	struct in6_addr address;
	return inet_pton(AF_INET6, text, &address) == 1;
}

/* part: HOST[:PORT] */
static int take_host(
	struct rest *rest, struct part part, int preset, struct coord_url *ret)
{
	struct coord_host *host = &ret->hosts[ret->n++];
	bool bracket = part.n > 0 && *part.at == '[';
	const char *end = bracket ? memchr(part.at, ']', part.n) : NULL;
	struct part name = {part.at, part.n}, port;
	if (bracket)
		name = (struct part){part.at + 1, end ? (size_t)(end - part.at) - 1 : 0};
	else if ((end = memchr(part.at, ':', part.n)))
		name.n = (size_t)(end - part.at);
	if (name.n >= sizeof(host->name))
		return refuse(rest, "a host has more than 255 bytes");
	memcpy(host->name, name.at, name.n);
	host->name[name.n] = '\0';
	if (bracket ? !end || !is_address(host->name) : !is_name(name))
		return refuse(rest, "a host is a name, an IPv4 address, or an IPv6 "
				    "address in brackets");
	host->port = preset;
	port.at = name.at + name.n + bracket;
	port.n = (size_t)(part.at + part.n - port.at);
	if (port.n == 0)
		return 0;
	if (*port.at != ':' || !take_number((struct part){port.at + 1, port.n - 1}, 1,
				       65535, &host->port))
		return refuse(
			rest, "a colon is followed by a port, a number from 1 to 65535");
	return 0;
}

static int take_hosts(struct rest *rest, int preset, struct coord_url *ret)
{
	for (;;) {
		struct part part = {rest->at, strcspn(rest->at, ",/")};
		if (ret->n == COORD_URL_HOSTS)
			return refuse(rest, "more than 8 hosts");
		int err = take_host(rest, part, preset, ret);
		rest->at += part.n;
		if (err || *rest->at != ',')
			return err;
		rest->at++;
	}
}

/* Parses the end of the URL: nothing, or `sign` and the number of a database. If `sign` is a slash,
 * the number may be missing. */
static int take_db(struct rest *rest, char sign, struct coord_url *ret)
{
	if (!*rest->at)
		return 0;
	struct part part = {rest->at + 1, strlen(rest->at + 1)};
	bool none = part.n == 0 && sign == '/';
	if (*rest->at != sign || (!none && !take_number(part, 0, DB_MOST, &ret->db)))
		return refuse(rest, "a database is a number from 0 to 9999");
	return 0;
}

static int take_master(struct rest *rest, struct coord_url *ret)
{
	struct part name = {rest->at + 1, 0};
	if (*rest->at == '/')
		name.n = strcspn(name.at, "/");
	if (!is_name(name))
		return refuse(
			rest, "/MASTER follows the hosts: letters, digits and . _ -");
	memcpy(ret->master, name.at, name.n);
	rest->at = name.at + name.n;
	return 0;
}

static int take_path(struct rest *rest, struct coord_url *ret)
{
	struct part part = {rest->at, strcspn(rest->at, "?")};
	char *path = ret->hosts[0].name;
	ret->n = 1;
	if (*part.at != '/' || !decode(part, path) || strlen(path) > PATH_MOST)
		return refuse(
			rest, "a socket's path begins with / and has at most 107 bytes");
	rest->at += part.n;
	return 0;
}

static bool skip(struct rest *rest, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(rest->at, word, n) != 0)
		return false;
	rest->at += n;
	return true;
}

int coord_url_parse(
	const char *url, struct coord_url *ret, char message[COORD_URL_MESSAGE])
{
	struct rest rest = {url, message};
	int err;
	*ret = (struct coord_url){0};
	if (skip(&rest, "redis+unix://")) {
		/* An @ before the first slash ends the user; a later @ belongs to the path. */
		const char *slash = strchr(rest.at, '/');
		bool user = slash && memchr(rest.at, '@', (size_t)(slash - rest.at));
		err = user ? take_user(&rest, "/", ret) : 0;
		if (!err)
			err = take_path(&rest, ret);
		return err ? err : take_db(&rest, '?', ret);
	}
	ret->tls = strncmp(url, "rediss", strlen("rediss")) == 0;
	bool sentinel =
		skip(&rest, ret->tls ? "rediss-sentinel://" : "redis-sentinel://");
	if (!sentinel && !skip(&rest, ret->tls ? "rediss://" : "redis://"))
		return refuse(&rest, "the scheme is unknown");
	err = take_user(&rest, "/?", ret);
	if (!err)
		err = take_hosts(&rest, sentinel ? SENTINEL_PORT : PORT, ret);
	if (!err && sentinel)
		err = take_master(&rest, ret);
	return err ? err : take_db(&rest, '/', ret);
}
