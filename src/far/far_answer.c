// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "far/far_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define MOST_WAIT_S 60 /* longest pause, even if the server asks for more */

void answer_begin(struct answer *answer)
{
	*answer = (struct answer){.modified = INT64_MIN};
}

static int64_t read_time(const char *text, const char *format)
{
	struct tm tm = {0};
	const char *end = strptime(text, format, &tm);
	return end ? (int64_t)timegm(&tm) : INT64_MIN;
}

#define HTTP_TIME "%a, %d %b %Y %H:%M:%S GMT"

int64_t answer_listed_time(const char *text)
{
	int64_t time = read_time(text, "%Y-%m-%dT%H:%M:%S");
	return time == INT64_MIN ? read_time(text, HTTP_TIME) : time;
}

static bool read_number(const char **at, uint64_t *ret)
{
	char *end;
	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	unsigned long long number = strtoull(*at, &end, 10);
	*at = end;
	*ret = number;
	return errno == 0 && number <= INT64_MAX;
}

/* Content-Range is "bytes FIRST-LAST/TOTAL", where FIRST-LAST or TOTAL may be a star. */
static void read_range(struct answer *answer, const char *text)
{
	answer->has_range = false;
	answer->total = UINT64_MAX;
	if (strncasecmp(text, "bytes", 5) != 0)
		return;
	text += 5 + strspn(text + 5, " =");
	bool none = *text == '*';
	if (none)
		text++;
	else if (!read_number(&text, &answer->first) || *text++ != '-' ||
		 !read_number(&text, &answer->last) || answer->last < answer->first)
		return;
	if (*text++ != '/')
		return;
	if (*text != '*' && !read_number(&text, &answer->total))
		return;
	answer->has_range = !none;
}

static void read_wait(struct answer *answer, const char *text)
{
	uint64_t seconds = 0;
	if (isdigit((unsigned char)*text)) {
		if (!read_number(&text, &seconds))
			return;
	} else {
		int64_t until = read_time(text, HTTP_TIME), now = time(NULL);
		seconds = until > now ? (uint64_t)(until - now) : 0;
	}
	answer->retry_ns = (seconds < MOST_WAIT_S ? seconds : MOST_WAIT_S) * 1000000000;
}

static void read_head(struct answer *answer, const char *name, const char *value)
{
	if (strcasecmp(name, "content-range") == 0)
		read_range(answer, value);
	else if (strcasecmp(name, "last-modified") == 0)
		answer->modified = read_time(value, HTTP_TIME);
	else if (strcasecmp(name, "retry-after") == 0)
		read_wait(answer, value);
	else if (strcasecmp(name, "x-amz-bucket-region") == 0)
		snprintf(answer->region, sizeof(answer->region), "%s", value);
	else if (strcasecmp(name, "etag") == 0)
		snprintf(answer->etag, sizeof(answer->etag), "%s", value);
}

/* A status line begins a new answer: after redirections only the last answer counts. */
void answer_line(struct answer *answer, const char *line, size_t bytes)
{
	char text[1024];
	if (bytes >= sizeof(text))
		return;
	memcpy(text, line, bytes);
	text[bytes] = '\0';
	while (bytes > 0 && isspace((unsigned char)text[bytes - 1]))
		text[--bytes] = '\0';
	if (strncmp(text, "HTTP/", 5) == 0) {
		const char *space = strchr(text, ' ');
		answer_begin(answer);
		answer->status = space ? strtol(space, NULL, 10) : 0;
		return;
	}
	char *colon = strchr(text, ':');
	if (!colon)
		return;
	*colon++ = '\0';
	read_head(answer, text, colon + strspn(colon, " \t"));
}

#define SECOND_NS 1000000000

/* Returns 1 to SECOND_NS - 1. A weak ETag has the same hash as a strong one with the same text. */
static int64_t hash_etag(const char *etag)
{
	uint64_t hash = 0;
	if (strncmp(etag, "W/", 2) == 0)
		etag += 2;
	for (; *etag; etag++)
		if (*etag != '"')
			hash = rng_mix(hash, (unsigned char)*etag);
	return 1 + (int64_t)(hash % (SECOND_NS - 1));
}

int64_t answer_version(const char *etag, int64_t modified)
{
	int64_t seconds =
		modified > 0 && modified < INT32_MAX * INT64_C(4) ? modified : 0;
	return seconds * SECOND_NS + (etag[0] ? hash_etag(etag) : 0);
}

/* Compares ETags if both versions have one, and times if no version has one. A version with an ETag
 * differs from a version without one. Times are less reliable: servers round them, and several
 * servers may report different times for one object. */
bool versions_differ(int64_t expected, int64_t found)
{
	if (expected == FAR_ANY_VERSION)
		return false;
	int64_t tag = expected % SECOND_NS, found_tag = found % SECOND_NS;
	return tag && found_tag ? tag != found_tag : expected != found;
}
