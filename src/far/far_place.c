// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "far/far_internal.h"

#include "base/log.h"
#include "base/rng.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Places are added, but never changed or removed, so threads that read them need no lock. */

#define DEFAULT_TIMEOUT_S 20
#define REGION_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

static struct place *_Atomic places;

/* The place of URLs without settings. */
static const struct place plain = {.timeout_s = DEFAULT_TIMEOUT_S};

/* Returns the place whose `url` is the longest beginning of this URL. If several places have this
 * `url`, returns the place that was added last. If no place fits an s3 URL, returns the s3 place
 * that was added last. */
const struct place *place_of(const char *url)
{
	const struct place *found = &plain;
	size_t most = 0;
	for (const struct place *place = places; place; place = place->next) {
		size_t n = strlen(place->url);
		if (found == &plain && cloud_of(url) == CLOUD_S3 &&
			cloud_of(place->url) == CLOUD_S3)
			found = place;
		if (n > most && strncmp(url, place->url, n) == 0) {
			found = place;
			most = n;
		}
	}
	return found;
}

static int set_region(struct place *place, const char *given, const char *of_profile,
	struct far_error *error)
{
	const char *region = given ? given : variable("AWS_REGION");
	if (!region)
		region = variable("AWS_DEFAULT_REGION");
	if (!region)
		region = of_profile ? of_profile : "us-east-1";
	place->region = strdup(region);
	if (!place->region)
		return far_no_memory(error);
	if (place->region[strspn(place->region, REGION_LETTERS)])
		return far_fail(error, -EINVAL,
			"region: found \"%s\", allowed: letters, digits and -",
			place->region);
	return 0;
}

int place_set_endpoint(struct place *place, const char *endpoint, struct far_error *error)
{
	if (!endpoint)
		return 0;
	if (strncmp(endpoint, "http", 4) != 0 || !far_is(endpoint) ||
		strpbrk(endpoint, "@?#"))
		return far_fail(error, -EINVAL,
			"endpoint: found \"%.*s\", allowed: http://HOST[:PORT] or "
			"https://HOST[:PORT]",
			strchr(endpoint, '@') ? 0 : 80, endpoint);
	place->endpoint = strdup(endpoint);
	if (!place->endpoint)
		return far_no_memory(error);
	for (size_t n = strlen(place->endpoint); place->endpoint[n - 1] == '/';)
		place->endpoint[--n] = '\0';
	return 0;
}

static int set_s3_endpoint(struct place *place, const char *given, const char *of_profile,
	struct far_error *error)
{
	const char *endpoint = given ? given : variable("AWS_ENDPOINT_URL_S3");
	if (!endpoint)
		endpoint = variable("AWS_ENDPOINT_URL");
	return place_set_endpoint(place, endpoint ? endpoint : of_profile, error);
}

int place_add_keys(
	struct place *place, const struct key_settings *settings, struct far_error *error)
{
	struct credentials found;
	int err = chain_fetch(settings, true, &found, error);
	credentials_free(&found);
	if (!err && keyring_new(settings, &place->keyring) != 0)
		err = far_no_memory(error);
	return err;
}

static int fill_s3(
	struct place *place, const struct far_place *from, struct far_error *error)
{
	struct key_settings settings = {
		.file = from->credentials, .profile = from->profile};
	struct profile profile = {0};
	int err =
		from->without_credentials ? 0 : chain_profile(&settings, &profile, error);
	if (!err)
		err = set_region(place, from->region, profile.region, error);
	settings.region = place->region;
	if (!err)
		err = set_s3_endpoint(place, from->endpoint, profile.endpoint, error);
	place->requester_pays = from->requester_pays;
	place->bucket_names = from->bucket_names;
	if (place->bucket_names == FAR_NAMES_AUTO && profile.addressing)
		place->bucket_names =
			strcmp(profile.addressing, "virtual") == 0 ? FAR_NAMES_HOST
			: strcmp(profile.addressing, "path") == 0  ? FAR_NAMES_PATH
								   : FAR_NAMES_AUTO;
	if (!err && !(place->learned = calloc(1, sizeof(*place->learned))))
		err = far_no_memory(error);
	if (!err && !from->without_credentials)
		err = place_add_keys(place, &settings, error);
	profile_free(&profile);
	return err;
}

static void place_free(struct place *place)
{
	free(place->url);
	free(place->endpoint);
	free(place->region);
	free(place->learned);
	free(place->query);
	free(place->bearer);
	free(place);
}

int far_configure(const struct far_place *from, struct far_error *error)
{
	struct place *place = calloc(1, sizeof(*place));
	*error = (struct far_error){0};
	int err = place && (place->url = strdup(from->url)) ? 0 : far_no_memory(error);
	if (!err)
		err = cloud_of(from->url) == CLOUD_S3
			      ? fill_s3(place, from, error)
			      : place_fill_cloud(place, from, error);
	if (!err)
		err = transfer_check(place->keyring != NULL, error);
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

const char *place_region(const struct place *place)
{
	const char *learned = place->learned ? atomic_load(place->learned) : NULL;
	return learned ? learned : place->region;
}

bool place_learns(const struct place *place, const char *region)
{
	if (!place->learned || !region[0] || region[strspn(region, REGION_LETTERS)] ||
		strcmp(region, place_region(place)) == 0)
		return false;
	char *copied = strdup(region);
	if (!copied)
		return false;
	log_info("%s: the server says that the bucket is in the region %s", place->url,
		region);
	/* The previous text is not freed: other threads may be reading it. */
	atomic_store(place->learned, copied);
	return true;
}

/* Tells whether the host of a URL contains the bucket's name. With FAR_NAMES_AUTO, this is never so
 * for a name that contains dots: a certificate for *.HOST is not valid for NAME.WITH.DOTS.HOST. */
static bool has_host(const struct place *place, const char *bucket, size_t bytes)
{
	if (place->bucket_names != FAR_NAMES_AUTO)
		return place->bucket_names == FAR_NAMES_HOST;
	return !place->endpoint && bytes <= 63 &&
	       strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-") == bytes;
}

void print_bucket(FILE *out, const struct place *place, const char *bucket, size_t bytes)
{
	auto_free char *name = strndup(bucket, bytes);
	const char *region = place_region(place), *base = place->endpoint;
	auto_free char *amazon =
		aprintf("https://s3.%s.amazonaws.com%s", region ? region : "",
			region && strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
	base = base ? base : amazon;
	if (!name || !base)
		return;
	size_t scheme = (size_t)(strstr(base, "://") - base) + 3;
	if (has_host(place, bucket, bytes)) {
		fwrite(base, 1, scheme, out);
		print_escaped(out, name, false);
		fprintf(out, ".%s", base + scheme);
	} else {
		fprintf(out, "%s/", base);
		print_escaped(out, name, false);
	}
}

int place_url(const struct place *place, const struct far_object *object, char **ret)
{
	size_t size, length = strlen(object->url);
	enum cloud cloud = cloud_of(object->url);
	size_t escaped = object->plain && object->plain < length ? object->plain : length;
	*ret = NULL;
	FILE *out = open_memstream(ret, &size);
	if (!out)
		return -ENOMEM;
	if (cloud != CLOUD_NONE) {
		print_cloud(out, place, object->url);
		if (far_lists(object->url))
			print_escaped(
				out, object->url + 5 + bucket_bytes(object->url), true);
		if (place->query)
			fprintf(out, "?%s", place->query);
	} else {
		fwrite(object->url, 1, escaped, out);
		print_escaped(out, object->url + escaped, true);
	}
	return close_text(out, ret) ? 0 : -ENOMEM;
}

uint64_t far_server(const char *url)
{
	const struct place *place = place_of(url);
	const char *base = strncmp(url, "s3://", 5) != 0 ? url
			   : place->endpoint		 ? place->endpoint
							 : "https://s3.amazonaws.com";
	const char *begin = strstr(base, "://");
	size_t n = begin ? (size_t)(begin - base) + 3 : 0;
	n += strcspn(base + n, "/");
	return fnv_add(FNV_BASIS, base, n);
}
