// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "far/far_internal.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Answers of servers, and requests to them. */

static struct answer answer_of(const char *const *lines)
{
	struct answer answer;
	answer_begin(&answer);
	for (; *lines; lines++)
		answer_line(&answer, *lines, strlen(*lines));
	return answer;
}

#define ANSWER(...) answer_of((const char *const[]){__VA_ARGS__, NULL})

Test(far, heads)
{
	struct answer answer = ANSWER("HTTP/1.1 206 Partial Content\r\n",
		"content-RANGE: bytes 100-299/5000\r\n", "ETag: \"abc\"\r\n",
		"Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n");
	cr_assert_eq(answer.status, 206);
	cr_assert(answer.has_range);
	cr_assert_eq(answer.first, 100);
	cr_assert_eq(answer.last, 299);
	cr_assert_eq(answer.total, 5000);
	cr_assert_eq(answer.modified, 1767323045);
	cr_assert_str_eq(answer.etag, "\"abc\"");
}

Test(far, only_the_last_answer_counts)
{
	struct answer answer = ANSWER("HTTP/1.1 302 Found\r\n", "ETag: \"a\"\r\n",
		"Retry-After: 7\r\n", "HTTP/2 200\r\n", "X: y\r\n");
	cr_assert_eq(answer.status, 200);
	cr_assert_str_eq(answer.etag, "");
	cr_assert_eq(answer.retry_ns, 0);
}

Test(far, odd_ranges)
{
	static const char *const odd[] = {"bytes */5000", "bytes 5-4/10", "bytes -5/10",
		"bytes 1-2", "bytes 1-2/x", "items 1-2/3",
		"bytes 1-99999999999999999999/3", ""};
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		char line[100];
		snprintf(line, sizeof(line), "Content-Range: %s\r\n", odd[i]);
		cr_assert(!ANSWER("HTTP/1.1 206 x\r\n", line).has_range, "%s", odd[i]);
	}
	cr_assert_eq(ANSWER("Content-Range: bytes */5000").total, 5000);
	cr_assert_eq(ANSWER("Content-Range: bytes 1-2/*").total, UINT64_MAX);
}

Test(far, retry_after)
{
	cr_assert_eq(ANSWER("Retry-After: 3").retry_ns, UINT64_C(3000000000));
	cr_assert_eq(ANSWER("Retry-After: 86400").retry_ns, UINT64_C(60000000000));
	cr_assert_eq(ANSWER("Retry-After: -3").retry_ns, 0);
	cr_assert_eq(ANSWER("Retry-After: Fri, 02 Jan 2015 03:04:05 GMT").retry_ns, 0);
}

Test(far, versions)
{
	int64_t a = answer_version("\"a\"", 1000), b = answer_version("\"b\"", 1000);
	cr_assert_eq(a / 1000000000, 1000);
	cr_assert(versions_differ(a, b));
	cr_assert(!versions_differ(a, answer_version("W/\"a\"", 1000)));
	cr_assert(!versions_differ(a, answer_version("a", 1001)), "the tag decides");
	cr_assert(versions_differ(a, answer_version("", 1000) + 1000000000));
	cr_assert(versions_differ(answer_version("", 1000), answer_version("", 1001)));
	cr_assert(!versions_differ(FAR_ANY_VERSION, b));
}

static char *url_of(const char *text, size_t plain)
{
	const struct place place = {.endpoint = (char[]){"http://h:1"}};
	const struct far_object object = {.url = text, .plain = plain};
	char *url;
	cr_assert_eq(place_url(&place, &object, &url), 0);
	return url;
}

static void check_url(const char *text, size_t plain, const char *expected)
{
	auto_free char *url = url_of(text, plain);
	cr_assert_str_eq(url, expected);
}

Test(far, urls)
{
	check_url("http://x/a%20b.tar?v=1", 0, "http://x/a%20b.tar?v=1");
	check_url("http://x/a%20b/c d%2?.jpg", 15, "http://x/a%20b/c%20d%252%3F.jpg");
	check_url("s3://bucket/a b/c+\xc3\xa9.jpg", 0,
		"http://h:1/bucket/a%20b/c%2B%C3%A9.jpg");
}

struct seen {
	char names[200];
	uint64_t bytes;
	int64_t version;
};

static int see(void *context, const char *name, uint64_t bytes, int64_t mtime_ns)
{
	struct seen *seen = context;
	size_t used = strlen(seen->names);
	snprintf(seen->names + used, sizeof(seen->names) - used, "[%s]", name);
	seen->bytes += bytes;
	seen->version = mtime_ns;
	return 0;
}

Test(far, listing)
{
	char text[] = "<?xml?><ListBucketResult><EncodingType>url</"
		      "EncodingType><NextContinuationToken>1/=&#43;x"
		      "</NextContinuationToken><Contents><Key>p/a+b%2B.jpg</Key>"
		      "<LastModified>1970-01-01T00:16:40.123Z</LastModified>"
		      "<ETag>&quot;abc&quot;</ETag><Size>12</Size></Contents><Contents>"
		      "<Size>30</Size><Key>p/c/%C3%A9.jpg</Key></Contents>"
		      "</ListBucketResult>";
	struct seen seen = {.names = ""};
	char *next;
	cr_assert_eq(listing_read(text, 2, see, &seen, &next), 0);
	cr_assert_str_eq(seen.names, "[a b+.jpg][c/\xc3\xa9.jpg]");
	cr_assert_eq(seen.bytes, 42);
	cr_assert_eq(seen.version, 0, "neither a tag nor a time");
	cr_assert_str_eq(next, "1/=+x");
	free(next);
}

Test(far, listing_that_is_not_escaped)
{
	char text[] =
		"<ListBucketResult><Contents><Key>a+b%41&amp;c.jpg</Key><Size>1</Size>"
		"</Contents></ListBucketResult>";
	struct seen seen = {.names = ""};
	char *next;
	cr_assert_eq(listing_read(text, 0, see, &seen, &next), 0);
	cr_assert_str_eq(seen.names, "[a+b%41&c.jpg]");
	cr_assert_null(next);
}

Test(far, listing_of_azure)
{
	char text[] = "<EnumerationResults><Blobs><Blob><Name>p/a+b%41&amp;c.jpg</"
		      "Name><Properties>"
		      "<Last-Modified>Fri, 02 Jan 2026 03:04:05 "
		      "GMT</Last-Modified><Etag>0x8D</Etag>"
		      "<Content-Length>7</Content-Length></Properties></Blob></Blobs>"
		      "<NextMarker>2!x</NextMarker></EnumerationResults>";
	char last[] = "<EnumerationResults><Blobs /><NextMarker /></EnumerationResults>";
	struct seen seen = {.names = ""};
	char *next;
	cr_assert_eq(listing_read(text, 2, see, &seen, &next), 0);
	cr_assert_str_eq(seen.names, "[a+b%41&c.jpg]");
	cr_assert_eq(seen.bytes, 7);
	cr_assert_eq(seen.version, answer_version("\"0x8D\"", 1767323045));
	cr_assert_str_eq(next, "2!x");
	free(next);
	cr_assert_eq(listing_read(last, 0, see, &seen, &next), 0);
	cr_assert_null(next);
}

Test(far, urls_of_clouds)
{
	static const struct {
		const char *url, *expected;
	} known[] = {{"gs://b.c/a b.jpg", "http://h:1/b.c/a%20b.jpg"},
		{"az://account/box/a#.jpg", "http://h:1/box/a%23.jpg"},
		{"az://account/box", "http://h:1/box"},
		{"hf://datasets/o/n/a b.tar",
			"http://h:1/datasets/o/n/resolve/main/a%20b.tar"},
		{"hf://datasets/o/n@v1/x/@.tar",
			"http://h:1/datasets/o/n/resolve/v1/x/%40.tar"},
		{"hf://datasets/o/n/x/@.tar",
			"http://h:1/datasets/o/n/resolve/main/x/%40.tar"},
		{"hf://datasets", "http://h:1/datasets/resolve/main"}};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		check_url(known[i].url, 0, known[i].expected);
	cr_assert(far_lists("az://a/b") && far_lists("gs://a") && !far_lists("hf://a"));
}

Test(far, objects_of_s3_take_no_place_of_another_cloud)
{
	static const char s3[] = "s3://other/a.jpg";
	const struct far_place google = {
		.url = "gs://bucket", .without_credentials = true};
	struct far_error error;
	uint64_t before = far_server(s3);
	cr_assert_eq(far_configure(&google, &error), 0, "%s", error.message);
	cr_assert_eq(far_server(s3), before);
}

Test(far, no_listings)
{
	static const char with_nul[] =
		"<ListBucketResult><EncodingType>url</EncodingType>"
		"<Contents><Key>a%00</Key><Size>1</Size></Contents>";
	static const char *const texts[] = {"", "<html>", "<ListBucketResult><Contents>",
		"<ListBucketResult><Contents><Key>a</Key></Contents>", with_nul,
		"<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents>"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct seen seen = {.names = ""};
		auto_free char *text = strdup(texts[i]);
		char *next;
		cr_assert_lt(listing_read(text, 0, see, &seen, &next), 0, "%s", texts[i]);
	}
}
