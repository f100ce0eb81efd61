// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "far/far_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Where URLs lead to. Places are added and never change or go, so that who has found one
 * needs no lock. Credentials are in memory only, and are given to nothing but the library
 * that signs with them.
 */

#define DEFAULT_TIMEOUT_S 20
#define MOST_CREDENTIALS 65536

static struct place *_Atomic places;

static const struct place plain = {.timeout_s = DEFAULT_TIMEOUT_S};

/* The last one that was told of the longest begin of the URL; of other buckets, any. */
const struct place *place_of(const char *url)
{
	const struct place *found = &plain;
	size_t most = 0;
	for (const struct place *place = places; place; place = place->next) {
		size_t n = strlen(place->url);
		if (found == &plain && place->endpoint && strncmp(url, "s3:", 3) == 0)
			found = place;
		if (n > most && strncmp(url, place->url, n) == 0) {
			found = place;
			most = n;
		}
	}
	return found;
}

/* --- credentials ---------------------------------------------------------------------------- */

static bool copy(const char *text, char **ret)
{
	free(*ret);
	*ret = text && text[0] ? strdup(text) : NULL;
	return !text || !text[0] || *ret;
}

/* "key = value" of the section [default], as Amazon's tools have it. */
static bool take_line(struct place *place, char *line)
{
	char *equals = strchr(line, '=');
	if (!equals)
		return true;
	char *key = line + strspn(line, " \t"), *value = equals + 1;
	*equals = '\0';
	key[strcspn(key, " \t")] = '\0';
	value += strspn(value, " \t");
	value[strcspn(value, " \t\r\n")] = '\0';
	if (strcmp(key, "aws_access_key_id") == 0)
		return copy(value, &place->key_id);
	if (strcmp(key, "aws_secret_access_key") == 0)
		return copy(value, &place->secret);
	if (strcmp(key, "aws_session_token") == 0)
		return copy(value, &place->token);
	return true;
}

static bool take_lines(struct place *place, char *text)
{
	bool ours = true, good = true;
	char *rest = NULL;
	for (char *line = strtok_r(text, "\n", &rest); good && line;
		line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " \t");
		if (line[0] == '[')
			ours = strncmp(line, "[default]", 9) == 0;
		else if (ours && line[0] != '#')
			good = take_line(place, line);
	}
	return good;
}

static int read_credentials(
	struct place *place, const char *path, struct far_error *error)
{
	struct stat st;
	auto_fclose FILE *file = fopen(path, "re");
	if (!file || fstat(fileno(file), &st) != 0)
		return far_fail(
			error, -EINVAL, "credentials: %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077) != 0)
		return far_fail(error, -EINVAL,
			"credentials: %s: found the mode %04o, allowed: a file of mode "
			"0600",
			path, (unsigned)(st.st_mode & 07777));
	auto_free char *text = calloc(1, MOST_CREDENTIALS + 1);
	if (!text)
		return far_fail(error, -ENOMEM, "no memory");
	text[fread(text, 1, MOST_CREDENTIALS, file)] = '\0';
	if (!take_lines(place, text))
		return far_fail(error, -ENOMEM, "no memory");
	if (!place->key_id || !place->secret)
		return far_fail(error, -EINVAL,
			"credentials: %s: found no aws_access_key_id and "
			"aws_secret_access_key in its section [default]",
			path);
	return 0;
}

static int environment_credentials(struct place *place, struct far_error *error)
{
	if (!copy(getenv("AWS_ACCESS_KEY_ID"), &place->key_id) ||
		!copy(getenv("AWS_SECRET_ACCESS_KEY"), &place->secret) ||
		!copy(getenv("AWS_SESSION_TOKEN"), &place->token))
		return far_fail(error, -ENOMEM, "no memory");
	if (!place->key_id != !place->secret)
		return far_fail(error, -EINVAL,
			"only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set");
	return 0;
}

/* --- configuration ---------------------------------------------------------------------------- */

static const char *either(const char *given, const char *variable)
{
	return given ? given : getenv(variable);
}

static int fill_s3(
	struct place *place, const struct far_place *from, struct far_error *error)
{
	const char *region = either(from->region, "AWS_REGION");
	if (!region || !region[0])
		region = getenv("AWS_DEFAULT_REGION");
	if (!copy(region && region[0] ? region : "us-east-1", &place->region) ||
		!copy(either(from->endpoint, "AWS_ENDPOINT_URL"), &place->endpoint))
		return far_fail(error, -ENOMEM, "no memory");
	if (place->region[strspn(place->region,
		    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")])
		return far_fail(error, -EINVAL,
			"region: found \"%s\", allowed: letters, digits and -",
			place->region);
	if (!place->endpoint && asprintf(&place->endpoint, "https://s3.%s.amazonaws.com",
					place->region) < 0)
		place->endpoint = NULL;
	if (!place->endpoint)
		return far_fail(error, -ENOMEM, "no memory");
	if (strncmp(place->endpoint, "s3:", 3) == 0 || !far_is(place->endpoint) ||
		strpbrk(place->endpoint, "@?#"))
		return far_fail(error, -EINVAL,
			"endpoint: found \"%.*s\", allowed: http://HOST[:PORT] or "
			"https://HOST[:PORT]",
			strchr(place->endpoint, '@') ? 0 : 80, place->endpoint);
	for (size_t n = strlen(place->endpoint); place->endpoint[n - 1] == '/';)
		place->endpoint[--n] = '\0';
	return from->credentials ? read_credentials(place, from->credentials, error)
				 : environment_credentials(place, error);
}

static void place_free(struct place *place)
{
	free(place->url);
	free(place->endpoint);
	free(place->region);
	free(place->key_id);
	free(place->secret);
	free(place->token);
	free(place);
}

int far_configure(const struct far_place *from, struct far_error *error)
{
	struct place *place = calloc(1, sizeof(*place));
	*error = (struct far_error){0};
	int err = place ? 0 : far_fail(error, -ENOMEM, "no memory");
	if (!err && !copy(from->url, &place->url))
		err = far_fail(error, -ENOMEM, "no memory");
	if (!err && strncmp(from->url, "s3:", 3) == 0)
		err = fill_s3(place, from, error);
	if (!err)
		err = transfer_check(place->key_id != NULL, error);
	if (err) {
		if (place)
			place_free(place);
		return err;
	}
	place->timeout_s = from->timeout_s ? from->timeout_s : DEFAULT_TIMEOUT_S;
	place->next = places;
	while (!atomic_compare_exchange_weak(&places, &place->next, place))
		;
	return 0;
}

/* --- URLs -------------------------------------------------------------------------------------- */

void print_escaped(FILE *out, const char *text, bool slash)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x80 && (isalnum(c) || strchr("-._~", c) || (slash && c == '/')))
			fputc(c, out);
		else
			fprintf(out, "%%%02X", c);
	}
}

int place_url(const struct place *place, const struct far_object *object, char **ret)
{
	size_t size, length = strlen(object->url);
	bool s3 = strncmp(object->url, "s3://", 5) == 0;
	size_t escaped = object->plain && object->plain < length ? object->plain : length;
	*ret = NULL;
	FILE *out = open_memstream(ret, &size);
	if (!out)
		return -ENOMEM;
	if (s3) {
		fprintf(out, "%s/", place->endpoint ? place->endpoint : "");
		print_escaped(out, object->url + 5, true);
	} else {
		fwrite(object->url, 1, escaped, out);
		print_escaped(out, object->url + escaped, true);
	}
	if (fclose(out) == 0)
		return 0;
	free(*ret);
	*ret = NULL;
	return -ENOMEM;
}

uint64_t far_server(const char *url)
{
	const struct place *place = place_of(url);
	const char *base =
		strncmp(url, "s3://", 5) == 0 && place->endpoint ? place->endpoint : url;
	const char *begin = strstr(base, "://");
	size_t n = begin ? (size_t)(begin - base) + 3 : 0;
	n += strcspn(base + n, "/");
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)base[i]) * UINT64_C(0x100000001b3);
	return hash;
}
