// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

#include "far/credentials.h"

#include <stdatomic.h>
#include <stdio.h>
#ifdef HAVE_CURL
#include <curl/curl.h>
#endif

/*
 * Inside the far module.
 *
 *   far.c            what the answer to a read means
 *   far_again.c      tries again
 *   far_health.c     sources that refuse their credentials
 *   far_list.c       listings of s3
 *   far_answer.c     what the heads of an answer say
 *   far_place.c      where a URL leads to, and with which credentials
 *   far_clouds.c     URLs of clouds besides Amazon's
 *   far_transfer.c   one request, by libcurl
 *   far_call.c       one request to a service that gives credentials
 */

/* Settings of objects whose URLs begin alike. They stay for ever. */
struct place {
	struct place *next;
	char *url;
	unsigned timeout_s;
	char *endpoint; /* without a slash at the end; NULL: Amazon's for the region */
	char *region;	/* NULL: it is none of s3 */
	struct learned *learned;
	enum far_bucket_names bucket_names;
	bool requester_pays;
	struct keyring *keyring; /* NULL: requests are not signed */
	char *query;		 /* with a signature, or NULL */
	char *bearer;		 /* a token, or NULL */
};

enum cloud { CLOUD_NONE, CLOUD_S3, CLOUD_GOOGLE, CLOUD_AZURE, CLOUD_HUGGING_FACE };

enum cloud cloud_of(const char *url);
/* Of what can be listed: the bytes of the bucket behind the scheme. */
size_t bucket_bytes(const char *url);
/* Prints the URL of the bucket; of what can't be listed, that of the object. */
void print_cloud(FILE *out, const struct place *place, const char *url);
/* Takes the settings of another cloud than Amazon's. */
must_check int place_fill_cloud(
	struct place *place, const struct far_place *from, struct far_error *ret_error);
must_check int place_add_keys(struct place *place, const struct key_settings *settings,
	struct far_error *ret_error);

/* What servers have told. */
struct learned {
	_Atomic(char *) region; /* of the bucket, or NULL */
};

/* The region that the server has told, or else the configured one. */
const char *place_region(const struct place *place);
/* true: the server tells another region, which counts from now on. */
bool place_learns(const struct place *place, const char *region);
/* Prints the URL of a bucket, without a slash at the end. */
void print_bucket(FILE *out, const struct place *place, const char *bucket, size_t bytes);

/* Never NULL. */
const struct place *place_of(const char *url);

/* Where the object is: a URL of http or https, escaped, which the caller frees. */
must_check int place_url(
	const struct place *place, const struct far_object *object, char **ret);
/* Appends the text with all bytes escaped but letters, digits, - . _ ~ and, if asked
 * for, the slash. */
void print_escaped(FILE *out, const char *text, bool slash);

/* What an answer says. */
struct answer {
	long status;
	bool has_range;
	uint64_t first, last, total; /* Content-Range; total: UINT64_MAX if not told */
	char etag[130];		     /* "" without one */
	char region[40];	     /* of the bucket; "": not told */
	int64_t modified;	     /* seconds; INT64_MIN: not told */
	uint64_t retry_ns;
};

void answer_begin(struct answer *answer);
/* line: of the answer's head, with its end. */
void answer_line(struct answer *answer, const char *line, size_t bytes);
/* far_object's mtime_ns. etag: with its quotes, or without. */
int64_t answer_version(const char *etag, int64_t modified);
/* Of ISO 8601, as listings have it; INT64_MIN: it is none. */
int64_t answer_listed_time(const char *text);
bool versions_differ(int64_t expected, int64_t found);

#define MOST_ERROR_BODY 2000
#define MOST_TOKEN 8192

/* One of the services that give credentials. Its answer is short, or is none. */
struct call {
	const char *url;
	const char *method; /* NULL: GET */
	const char *heads[2];
	const char *body; /* of a form, or NULL */
	bool by_proxy;	  /* if the environment names one */
	long connect_ms;  /* 0: 5 s */
	long status;
	char *text; /* which the caller frees; NULL: nothing */
	size_t used;
};

/* 0: there is an answer. -errno, with a message: there is none. */
must_check int call_run(struct call *call, struct far_error *ret_error);

struct transfer {
	const struct place *place;
	const char *url;
	uint64_t edition; /* of the credentials that it was signed with */
	bool ranged;
	uint64_t offset, bytes; /* the range */
	uint8_t *out;		/* room for the range; NULL: `text` grows */
	size_t most;		/* of the text */
	struct answer answer;
	uint64_t got;
	bool wrong; /* the answer is not what was asked for, and was cut short */
	char *text; /* with a NUL; the caller frees it; also that of an error */
	size_t text_room;
};

/* 0: there is an answer. -errno, with a message: there is none. */
must_check int transfer_run(struct transfer *transfer, struct far_error *ret_error);
bool transfer_is_stopped(void);
#ifdef HAVE_CURL
/* CURLE_ABORTED_BY_CALLBACK: far_stop was called. */
CURLcode transfer_perform(CURLM *multi, CURL *easy);
/* What all requests have. */
void transfer_set_common(CURL *easy);
#endif
/* -ENOTSUP, with a message: this build, or its libcurl, can't. */
must_check int transfer_check(bool signs, struct far_error *ret_error);

/* --- sources that refuse ------------------------------------------------------------------- */

struct health;
/* That of the source that has the object. NULL: no memory. */
struct health *health_of(const struct place *place, const char *url);
/* Notes that a request that began then, for this URL, was answered. */
void health_good(struct health *health, const char *url, uint64_t begun_ns);
/* A URL that was answered, which the caller frees; NULL: none is known. */
char *health_known(struct health *health);
/* Logs once what the source says. */
void health_denied(struct health *health, const char *message);

/* Between <name> and </name> of the text; "" if it is not there, or odd. */
void find_element(const char *text, const char *name, char *ret, size_t size);

int far_fail(struct far_error *error, int err, const char *format, ...) printf_like(3, 4);
/* What an answer that is no success means. */
must_check int far_refused(const struct transfer *transfer, struct far_error *ret_error);

/* Waits before the next try, if there is one. */
bool far_tries_again(unsigned tried, const struct far_error *error);

/* Reads a page of a listing. *ret_next: the token for the next one, which the caller
 * frees; NULL: it was the last. -EINVAL: it is none. */
must_check int listing_read(
	char *text, size_t prefix, far_listed *listed, void *context, char **ret_next);
