// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/escape.h"
#include "far/far_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Listings of s3 (ListObjectsV2) and Azure come page by page. Requests ask s3 to escape
 * names as in URLs, because XML can't represent all names. */

#define MOST_PAGE (16 << 20)

/* Returns the text between <name> and </name> in [at, end), and ends it by \0. NULL: none. */
static char *take_element(char *at, char *end, const char *name)
{
	char open[40], closing[40];
	int n = snprintf(open, sizeof(open), "<%s>", name);
	snprintf(closing, sizeof(closing), "</%s>", name);
	char *begin = memmem(at, (size_t)(end - at), open, (size_t)n);
	if (!begin)
		return NULL;
	begin += n;
	char *close = memmem(begin, (size_t)(end - begin), closing, strlen(closing));
	if (!close)
		return NULL;
	*close = '\0';
	return begin;
}

/* Replaces each %XX and + by the character that it stands for. Returns false at %00. */
static bool unescape(char *text)
{
	char *out = text;
	for (; *text; text++) {
		if (*text == '%' && isxdigit((unsigned char)text[1]) &&
			isxdigit((unsigned char)text[2])) {
			*out = (char)(hexadecimal(text[1]) << 4 | hexadecimal(text[2]));
			if (*out++ == '\0')
				return false;
			text += 2;
		} else {
			*out++ = *text == '+' ? ' ' : *text;
		}
	}
	*out = '\0';
	return true;
}

/* Returns the character of an entity, whose name stands between & and ;. 0: unknown. */
static char entity(const char *name, size_t bytes)
{
	static const struct {
		const char *name;
		char means;
	} known[] = {
		{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == bytes &&
			memcmp(name, known[i].name, bytes) == 0)
			return known[i].means;
	if (bytes < 2 || name[0] != '#')
		return 0;
	bool hex = name[1] == 'x';
	long code = strtol(name + 1 + hex, NULL, hex ? 16 : 10);
	return code > ' ' && code < 0x7f ? (char)code : 0;
}

static void resolve_entities(char *text)
{
	char *out = text;
	for (; *text; text++) {
		const char *end = *text == '&' ? strchr(text, ';') : NULL;
		char means = end && end - text < 9
				     ? entity(text + 1, (size_t)(end - text) - 1)
				     : 0;
		*out++ = means ? means : *text;
		if (means)
			text += end - text;
	}
	*out = '\0';
}

/* The element names of s3's and Azure's listings. */
struct format {
	const char *root, *begin, *end, *next;
	const char *modified, *etag, *size, *key;
};

static const struct format formats[] = {
	{"<ListBucketResult", "<Contents>", "</Contents>", "NextContinuationToken",
		"LastModified", "ETag", "Size", "Key"},
	{"<EnumerationResults", "<Blob>", "</Blob>", "NextMarker", "Last-Modified",
		"Etag", "Content-Length", "Name"}};

/* Searches stop at `end` instead of at a \0, because take_element writes \0 into the text. */
static int read_object(const struct format *format, char *at, char *end, bool escaped,
	size_t prefix, far_listed *listed, void *context)
{
	char none[1] = "", *stop;
	char *modified = take_element(at, end, format->modified);
	char *etag = take_element(at, end, format->etag);
	char *size = take_element(at, end, format->size);
	char *key = take_element(at, end, format->key);
	if (!key || !size || !isdigit((unsigned char)size[0]))
		return -EINVAL;
	errno = 0;
	unsigned long long bytes = strtoull(size, &stop, 10);
	if (!escaped)
		resolve_entities(key);
	if (errno || *stop || bytes > INT64_MAX || (escaped && !unescape(key)) ||
		strlen(key) < prefix)
		return -EINVAL;
	resolve_entities(etag ? etag : none);
	return listed(context, key + prefix, bytes,
		answer_version(etag ? etag : none,
			modified ? answer_listed_time(modified) : INT64_MIN));
}

int listing_read(
	char *text, size_t prefix, far_listed *listed, void *context, char **ret_next)
{
	const struct format *format = &formats[strstr(text, formats[1].root) ? 1 : 0];
	int err = 0;
	*ret_next = NULL;
	char *contents = strstr(text, format->begin), *all = text + strlen(text);
	if (!strstr(text, format->root))
		return -EINVAL;
	/* Some servers do not escape names, although the request asks for it. */
	bool escaped = strstr(text, "<EncodingType>url</EncodingType>");
	for (char *at = contents; !err && at;) {
		char *close = strstr(at, format->end);
		if (!close)
			return -EINVAL;
		err = read_object(format, at, close, escaped, prefix, listed, context);
		at = close + strlen(format->end);
		contents = at;
		at = strstr(at, format->begin);
	}
	if (err)
		return err;
	/* Some servers write the next page's token after the objects, others before the objects. */
	char *next = contents ? take_element(contents, all, format->next) : NULL;
	if (!next)
		next = take_element(text, text + strlen(text), format->next);
	if (!next || !next[0])
		return 0;
	resolve_entities(next);
	*ret_next = strdup(next);
	return *ret_next ? 0 : -ENOMEM;
}

struct page {
	const char *dataset; /* URL of the dataset */
	const char *prefix, *token;
};

static void print_parameter(FILE *out, const char *name, const char *value)
{
	if (!value)
		return;
	fputs(name, out);
	print_escaped(out, value, false);
}

/* The parameters are sorted by name, as the signature of a request demands. */
static char *page_url(const struct place *place, const struct page *page)
{
	char *url = NULL;
	size_t size;
	FILE *out = open_memstream(&url, &size);
	if (!out)
		return NULL;
	print_cloud(out, place, page->dataset);
	if (cloud_of(page->dataset) == CLOUD_AZURE) {
		fputs("?restype=container&comp=list", out);
		print_parameter(out, "&marker=", page->token);
	} else {
		print_parameter(
			out, page->token ? "?continuation-token=" : "", page->token);
		fprintf(out, "%cencoding-type=url&list-type=2", page->token ? '&' : '?');
	}
	print_parameter(out, "&prefix=", page->prefix);
	if (place->query)
		fprintf(out, "&%s", place->query);
	return close_text(out, &url);
}

static int get_page(const struct place *place, const struct page *page, char **ret,
	struct far_error *error)
{
	for (unsigned tried = 0;; tried++) {
		auto_free char *url = page_url(place, page);
		if (!url)
			return far_no_memory(error);
		struct transfer transfer = {
			.place = place, .url = url, .most = MOST_PAGE};
		*error = (struct far_error){0};
		int err = transfer_run(&transfer, error);
		if (!err && transfer.wrong && transfer.answer.status == 200)
			err = far_fail(error, -EIO, "the listing is too long");
		else if (!err && transfer.answer.status != 200)
			err = far_refused(&transfer, error);
		if (!err && transfer.text) {
			*ret = transfer.text;
			return 0;
		}
		free(transfer.text);
		if (!err)
			return far_fail(error, -EIO, "the listing is empty");
		if (!far_tries_again(tried, error))
			return err;
	}
}

int far_list(const char *url, far_listed *listed, void *context, struct far_error *error)
{
	const struct place *place = place_of(url);
	const char *bucket = url + strlen("s3://");
	size_t n = bucket_bytes(url);
	const char *behind = bucket[n] ? bucket + n + 1 : "";
	*error = (struct far_error){0};
	auto_free char *prefix = aprintf("%s%s", behind,
		behind[0] && behind[strlen(behind) - 1] != '/' ? "/" : "");
	if (!prefix)
		return far_no_memory(error);
	char *token = NULL;
	int err;
	do {
		const struct page page = {url, prefix, token};
		auto_free char *text = NULL;
		auto_free char *before = token;
		err = get_page(place, &page, &text, error);
		token = NULL;
		if (err)
			break;
		err = listing_read(text, strlen(prefix), listed, context, &token);
		if (err == -EINVAL)
			(void)far_fail(error, err, "the server's answer is no listing");
		else if (!err && token && before && strcmp(token, before) == 0)
			err = far_fail(error, -EINVAL, "the listing repeats itself");
	} while (!err && token);
	free(token);
	return err;
}
