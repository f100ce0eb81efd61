// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "coord/coord_url.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* URLs of servers. A valid URL is parsed as it was meant, whatever bytes its password has. An
 * invalid one is refused with a message that has nothing of the password. */

#define ROUNDS 20000

static struct rng rng;
static char message[COORD_URL_MESSAGE];

static uint32_t below(uint32_t n)
{
	return (uint32_t)(rng_next(&rng) % n);
}

/* Makes a text of plain characters, or of any bytes. */
static void random_text(char *ret, size_t most)
{
	static const char plain[] = "aZ09._-@:/?#[]%,;& \t\x7f\xc3\xa9";
	size_t n = below((uint32_t)most);
	for (size_t i = 0; i < n; i++)
		ret[i] = below(4) ? plain[below(sizeof(plain) - 1)]
				  : (char)(1 + below(255));
	ret[n] = '\0';
}

static void encode(const char *text, const char *kept, char **at)
{
	for (; *text; text++) {
		bool plain = (*text >= 'a' && *text <= 'z') || strchr(kept, *text);
		if (plain && below(8))
			*(*at)++ = *text;
		else
			*at += sprintf(*at, below(2) ? "%%%02X" : "%%%02x",
				(unsigned)(unsigned char)*text);
	}
	**at = '\0';
}

static void add(char **at, const char *text)
{
	*at += sprintf(*at, "%s", text);
}

static void write_user(const struct coord_url *url, char **at)
{
	if (!url->user[0] && !url->has_password)
		return;
	encode(url->user, "09._-", at);
	if (url->has_password) {
		add(at, ":");
		encode(url->password, "09._-:", at);
	}
	add(at, "@");
}

static void random_host(struct coord_host *ret)
{
	static const char *const names[] = {
		"h", "redis-0.redis.svc", "10.0.0.1", "::1", "fe80::1:2", "a_b"};
	strcpy(ret->name, names[below(sizeof(names) / sizeof(names[0]))]);
	ret->port = below(2) ? 6379 : 1 + (int)below(65535);
}

static void write_host(const struct coord_host *host, int preset, char **at)
{
	*at += sprintf(*at, strchr(host->name, ':') ? "[%s]" : "%s", host->name);
	if (host->port != preset || below(2))
		*at += sprintf(*at, ":%d", host->port);
}

static void random_url(struct coord_url *ret, char *text)
{
	*ret = (struct coord_url){.db = below(2) ? 0 : (int)below(10000)};
	if (below(2))
		random_text(ret->user, 12);
	if (below(2)) {
		ret->has_password = true;
		random_text(ret->password, 40);
	}
	bool path = below(3) == 0, sentinel = !path && below(2);
	ret->tls = !path && below(2);
	add(&text, path ? "redis+unix://" : ret->tls ? "rediss" : "redis");
	add(&text, path ? "" : sentinel ? "-sentinel://" : "://");
	write_user(ret, &text);
	ret->n = path ? 1 : 1 + below(COORD_URL_HOSTS);
	if (path) {
		strcpy(ret->hosts[0].name, "/");
		random_text(ret->hosts[0].name + 1, 60);
		add(&text, "/");
		encode(ret->hosts[0].name + 1, "/09._-", &text);
	}
	for (size_t i = 0; i < ret->n && !path; i++) {
		random_host(&ret->hosts[i]);
		add(&text, i ? "," : "");
		write_host(&ret->hosts[i], sentinel ? 26379 : 6379, &text);
	}
	if (sentinel) {
		strcpy(ret->master, "my.master-1");
		add(&text, "/my.master-1");
	}
	if (ret->db || below(2))
		sprintf(text, path ? "?%d" : "/%d", ret->db);
}

Test(coord_url, all_that_is_written_is_read_back)
{
	char text[4096];
	rng_seed(&rng, 1);
	for (int i = 0; i < ROUNDS; i++) {
		struct coord_url url, is;
		random_url(&url, text);
		cr_assert_eq(
			coord_url_parse(text, &is, message), 0, "%s: %s", text, message);
		cr_assert_str_eq(is.user, url.user, "%s", text);
		cr_assert_str_eq(is.password, url.password, "%s", text);
		cr_assert_eq(is.has_password, url.has_password, "%s", text);
		cr_assert_str_eq(is.master, url.master, "%s", text);
		cr_assert_eq(is.db, url.db, "%s", text);
		cr_assert_eq(is.tls, url.tls, "%s", text);
		cr_assert_eq(is.n, url.n, "%s", text);
		for (size_t k = 0; k < url.n; k++) {
			cr_assert_str_eq(is.hosts[k].name, url.hosts[k].name, "%s", text);
			cr_assert_eq(is.hosts[k].port, url.hosts[k].port, "%s", text);
		}
	}
}

/* One changed byte makes another valid URL, or one that is refused. */
Test(coord_url, a_changed_one_is_another_one_or_refused)
{
	static const char signs[] = "@:/?#[]%,.-\x01\xff"
				    "0";
	char text[4096];
	unsigned refused = 0;
	rng_seed(&rng, 2);
	for (int i = 0; i < ROUNDS; i++) {
		struct coord_url url;
		random_url(&url, text);
		size_t n = strlen(text);
		for (uint32_t k = 1 + below(3); k > 0; k--)
			text[below((uint32_t)n)] = signs[below(sizeof(signs) - 1)];
		int err = coord_url_parse(text, &url, message);
		cr_assert(err == 0 || err == -EINVAL);
		refused += err != 0;
		cr_assert(err || (url.n >= 1 && url.n <= COORD_URL_HOSTS));
		for (size_t k = 0; k < url.n && !err; k++)
			cr_assert(url.hosts[k].name[0] && url.hosts[k].port >= 0 &&
				  url.hosts[k].port <= 65535);
		cr_assert(err == 0 || message[0]);
	}
	cr_assert_gt(refused, ROUNDS / 4);
	cr_assert_lt(refused, ROUNDS);
}

/* No message has the password, nor a part of it that stands in the place of a host or a port. */
Test(coord_url, what_is_refused_and_why)
{
	static const struct {
		const char *url, *why;
	} bad[] = {{"", "scheme is unknown"}, {"localhost", "scheme is unknown"},
		{"http://hunter2@x", "scheme is unknown"}, {"redis://", "a host is"},
		{"redis://:hunter2", "a host is"}, {"redis://user:hunter2", "a port, a"},
		{"redis://:hunter2@", "a host is"}, {"redis://:hun@ter2@host", "%40"},
		{"redis://:hun/ter2@host", "%2F"}, {"redis://:hun?ter2@host", "%2F"},
		{"redis://:hunter2%@host", "the password has"},
		{"redis://:hunter2%4@host", "the password has"},
		{"redis://:hunter2%00@host", "the password has"},
		{"redis://%zz:hunter2@host", "the user has"},
		{"redis://:hunter2@::1", "a host is"},
		{"redis://:hunter2@[::1", "a host is"},
		{"redis://:hunter2@[host]", "a host is"},
		{"redis://:hunter2@[::1]6379", "a port, a"},
		{"redis://:hunter2@host:0", "a port, a"},
		{"redis://:hunter2@host:65536", "a port, a"},
		{"redis://:hunter2@host:", "a port, a"},
		{"redis://:hunter2@host:+1", "a port, a"},
		{"redis://:hunter2@a,,b", "a host is"},
		{"redis://:hunter2@a,b,", "a host is"},
		{"redis://:hunter2@a,b,c,d,e,f,g,h,i", "more than 8"},
		{"redis://:hunter2@host/x", "a database"},
		{"redis://:hunter2@host/-1", "a database"},
		{"redis://:hunter2@host/10000", "a database"},
		{"redis-sentinel://:hunter2@a,b", "/MASTER"},
		{"redis-sentinel://:hunter2@a,b/", "/MASTER"},
		{"redis-sentinel://:hunter2@a,b/m:/0", "/MASTER"},
		{"redis-sentinel://:hunter2@a,b/m/x", "a database"},
		{"redis+unix://:hunter2@path", "path begins"},
		{"redis+unix://run/x", "path begins"},
		{"redis+unix:///run/x?", "a database"},
		{"redis+unix:///run/x?y", "a database"}};
	struct coord_url url;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(coord_url_parse(bad[i].url, &url, message), -EINVAL, "%s",
			bad[i].url);
		cr_assert_not_null(
			strstr(message, bad[i].why), "%s: %s", bad[i].url, message);
		cr_assert_null(strstr(message, "hunter2"));
		cr_assert_null(strstr(message, "ter2"));
	}
}
