// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "far/far_internal.h"

#include <stdlib.h>
#include <string.h>

/* Clouds other than Amazon's. Google's servers accept s3 requests. Azure's objects and datasets of
 * Hugging Face are read by https, with a signature in the query or a token in a header line. */

#define GOOGLE "https://storage.googleapis.com"
#define HUGGING_FACE "https://huggingface.co"

enum cloud cloud_of(const char *url)
{
	static const struct {
		const char *scheme;
		enum cloud cloud;
	} clouds[] = {{"s3://", CLOUD_S3}, {"gs://", CLOUD_GOOGLE},
		{"az://", CLOUD_AZURE}, {"hf://", CLOUD_HUGGING_FACE}};
	for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++)
		if (strncmp(url, clouds[i].scheme, 5) == 0)
			return clouds[i].cloud;
	return CLOUD_NONE;
}

bool far_lists(const char *url)
{
	enum cloud cloud = cloud_of(url);
	return cloud == CLOUD_S3 || cloud == CLOUD_GOOGLE || cloud == CLOUD_AZURE;
}

size_t bucket_bytes(const char *url)
{
	const char *bucket = url + 5;
	size_t n = strcspn(bucket, "/");
	if (cloud_of(url) == CLOUD_AZURE && bucket[n])
		n += 1 + strcspn(bucket + n + 1, "/");
	return n;
}

/* Prints the https URL of az://ACCOUNT/CONTAINER. */
static void print_container(FILE *out, const struct place *place, const char *url)
{
	const char *account = url + 5;
	size_t n = strcspn(account, "/"), all = bucket_bytes(url);
	if (place->endpoint)
		fputs(place->endpoint, out);
	else
		fprintf(out, "https://%.*s.blob.core.windows.net", (int)n, account);
	fwrite(account + n, 1, all - n, out);
}

/* Prints the https URL of hf://datasets/ORGANISATION/NAME[@REVISION]/PATH. */
static void print_repository(FILE *out, const struct place *place, const char *url)
{
	const char *path = url + 5;
	size_t n = 0;
	for (unsigned i = 0; i < 3 && path[n]; i++)
		n += strcspn(path + n + (i > 0), "/") + (i > 0);
	size_t name = strcspn(path, "@");
	bool has_revision = name < n;
	fprintf(out, "%s/%.*s/resolve/%.*s",
		place->endpoint ? place->endpoint : HUGGING_FACE,
		(int)(has_revision ? name : n), path,
		has_revision ? (int)(n - name - 1) : 4,
		has_revision ? path + name + 1 : "main");
	print_escaped(out, path + n, true);
}

void print_cloud(FILE *out, const struct place *place, const char *url)
{
	if (cloud_of(url) == CLOUD_HUGGING_FACE) {
		print_repository(out, place, url);
		return;
	}
	if (cloud_of(url) == CLOUD_AZURE)
		print_container(out, place, url);
	else
		print_bucket(out, place, url + 5, bucket_bytes(url));
}

/* Reads a token from the first line of `file`, which must be private. If `file` is NULL, reads the
 * environment variable. */
static int read_token(
	const char *file, const char *from_variable, char **ret, struct far_error *error)
{
	*ret = NULL;
	if (file)
		return credentials_line(file, true, ret, error);
	if (variable(from_variable) && !(*ret = strdup(variable(from_variable))))
		return far_no_memory(error);
	return 0;
}

static int fill_azure(
	struct place *place, const struct far_place *from, struct far_error *error)
{
	int err = place_set_endpoint(place, from->endpoint, error);
	if (!err && !from->without_credentials)
		err = read_token(from->credentials, "AZURE_STORAGE_SAS_TOKEN",
			&place->query, error);
	if (!err && place->query && place->query[0] == '?')
		memmove(place->query, place->query + 1, strlen(place->query));
	return err;
}

/* Takes the token from the file in the settings, otherwise from $HF_TOKEN, otherwise from
 * $HF_HOME/token. The default of HF_HOME is ~/.cache/huggingface. */
static int hugging_face_token(
	struct place *place, const struct far_place *from, struct far_error *error)
{
	const char *home = variable("HF_HOME"), *user = variable("HOME");
	int err = read_token(from->credentials, "HF_TOKEN", &place->bearer, error);
	if (err || place->bearer || (!home && !user))
		return err;
	auto_free char *path = aprintf(
		"%s%s/token", home ? home : user, home ? "" : "/.cache/huggingface");
	if (!path)
		return far_no_memory(error);
	return credentials_line(path, false, &place->bearer, error);
}

static int fill_hugging_face(
	struct place *place, const struct far_place *from, struct far_error *error)
{
	int err = place_set_endpoint(
		place, from->endpoint ? from->endpoint : variable("HF_ENDPOINT"), error);
	return err || from->without_credentials ? err
						: hugging_face_token(place, from, error);
}

/* Uses HMAC keys, or a token of the service account; never Amazon's keys of the environment. */
static int fill_google(
	struct place *place, const struct far_place *from, struct far_error *error)
{
	const struct key_settings settings = {.file = from->credentials,
		.profile = from->profile,
		.region = "auto",
		.google = true};
	place->region = strdup("auto");
	place->bucket_names = FAR_NAMES_PATH;
	if (!place->region)
		return far_no_memory(error);
	int err = place_set_endpoint(
		place, from->endpoint ? from->endpoint : GOOGLE, error);
	return err || from->without_credentials ? err
						: place_add_keys(place, &settings, error);
}

int place_fill_cloud(
	struct place *place, const struct far_place *from, struct far_error *error)
{
	switch (cloud_of(from->url)) {
	case CLOUD_GOOGLE:
		return fill_google(place, from, error);
	case CLOUD_AZURE:
		return fill_azure(place, from, error);
	case CLOUD_HUGGING_FACE:
		return fill_hugging_face(place, from, error);
	default:
		return 0;
	}
}
