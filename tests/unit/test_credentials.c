// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "far/credentials.h"
#include "far/far_internal.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Credentials from files and services. */

static void read_into(struct profile *profile, const char *text, const char *section)
{
	auto_free char *copy = strdup(text);
	cr_assert_eq(profile_read(profile, copy, section), 0);
}

Test(credentials, profiles)
{
	static const char keys[] = "# comment\r\n[ a ]\r\naws_access_key_id = ID \r\n"
				   "aws_secret_access_key=x=/+ y\r\n\r\n[b]\n"
				   "aws_access_key_id=no\n";
	static const char config[] =
		"[profile a]\nregion = eu-x\ns3 =\n  addressing_style = virtual\n"
		"aws_access_key_id = of another pair\naws_session_token = likewise\n"
		";role_arn = r\n[profile ab]\nregion = none\n";
	struct profile profile = {0};
	read_into(&profile, keys, "a");
	cr_assert(profile.found);
	cr_assert_str_eq(profile.key_id, "ID");
	cr_assert_str_eq(profile.secret, "x=/+ y");
	read_into(&profile, config, "profile a");
	cr_assert_str_eq(profile.key_id, "ID");
	cr_assert_null(profile.token, "a token of other keys");
	cr_assert_null(profile.role);
	cr_assert_str_eq(profile.region, "eu-x");
	cr_assert_str_eq(profile.addressing, "virtual");
	profile_free(&profile);
	read_into(&profile, keys, "c");
	cr_assert(!profile.found);
	cr_assert_null(profile.key_id);
}

Test(credentials, files_of_random_bytes)
{
	static const char letters[] = "[]=#; \nab_\rregion";
	unsigned seed = 1;
	for (unsigned n = 0; n < 20000; n++) {
		char text[41] = "";
		struct profile profile = {0};
		for (size_t i = 0; i < 40; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = letters[(seed >> 16) % (sizeof(letters) - 1)];
		}
		cr_assert_eq(profile_read(&profile, text, "a"), 0);
		profile_free(&profile);
	}
}

#define GOOD                                                                             \
	"\"AccessKeyId\": \"A\\u0042\", \"SecretAccessKey\": \"s\\/\", \"Token\": \"t\""

Test(credentials, json)
{
	struct credentials credentials;
	struct far_error error = {0};
	cr_assert_eq(credentials_of_json("{" GOOD
					 ", \"Expiration\": \"2026-01-02T03:04:05Z\"}",
			     "Token", "x", &credentials, &error),
		0);
	cr_assert_str_eq(credentials.key_id, "AB");
	cr_assert_str_eq(credentials.secret, "s/");
	cr_assert_str_eq(credentials.token, "t");
	cr_assert_eq(credentials.expires, 1767323045);
	credentials_free(&credentials);
	static const char *const bad[] = {"", "{", "[]", "null", "{" GOOD, "\"x\"",
		"{\"AccessKeyId\": \"a\"}",
		"{\"AccessKeyId\": {}, \"SecretAccessKey\": \"s\"}",
		"{" GOOD ", \"Expiration\": \"soon\"}"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(credentials_of_json(
				     bad[i], "Token", "a service", &credentials, &error),
			-EIO, "%s", bad[i]);
		cr_assert_str_eq(error.message,
			"credentials: found none in the answer of a service");
		cr_assert_null(credentials.secret);
	}
}

Test(credentials, renewal)
{
	cr_assert_eq(renewal_s(3600), 3300);
	cr_assert_eq(renewal_s(100), 75);
	cr_assert_eq(renewal_s(0), 0);
	cr_assert_eq(renewal_s(-7), 0);
}

static void check_bucket(const struct place *place, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	print_bucket(out, place, "bucket.a/x", 8);
	fputc(' ', out);
	print_bucket(out, place, "bucket-a/x", 8);
	fclose(out);
	cr_assert_str_eq(text, expected);
	free(text);
}

Test(credentials, buckets)
{
	_Atomic(char *) learned = NULL;
	struct place place = {.url = (char[]){"s3://bucket"},
		.region = (char[]){"us-east-1"},
		.learned = &learned};
	check_bucket(&place, "https://s3.us-east-1.amazonaws.com/bucket.a "
			     "https://bucket-a.s3.us-east-1.amazonaws.com");
	cr_assert(!place_learns(&place, ""));
	cr_assert(!place_learns(&place, "us-east-1"));
	cr_assert(!place_learns(&place, "x.example.org/"));
	cr_assert(place_learns(&place, "cn-north-1"));
	cr_assert(!place_learns(&place, "cn-north-1"));
	place.bucket_names = FAR_NAMES_PATH;
	check_bucket(&place, "https://s3.cn-north-1.amazonaws.com.cn/bucket.a "
			     "https://s3.cn-north-1.amazonaws.com.cn/bucket-a");
	place.endpoint = (char[]){"http://h:1"};
	place.bucket_names = FAR_NAMES_AUTO;
	check_bucket(&place, "http://h:1/bucket.a http://h:1/bucket-a");
	place.bucket_names = FAR_NAMES_HOST;
	check_bucket(&place, "http://bucket.a.h:1 http://bucket-a.h:1");
	free(atomic_load(&learned));
}
