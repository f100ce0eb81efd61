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
 * Internals of the far module.
 *
 *   far.c            reads a range, and judges the answer
 *   far_again.c      tries again
 *   far_health.c     notes sources that refuse their credentials
 *   far_list.c       reads listings of s3 and Azure
 *   far_answer.c     reads the header lines of an answer
 *   far_place.c      finds the place of a URL: server, credentials, settings
 *   far_clouds.c     makes URLs of clouds besides Amazon's
 *   far_transfer.c   makes one request with libcurl
 *   far_call.c       makes one request to a service that gives credentials
 */

/* Settings for objects whose URLs begin with `url`. They are never freed. */
struct place {
	struct place *next;
	char *url;
	unsigned timeout_s;
	/* URL without a slash at the end; NULL: Amazon's endpoint for the region */
	char *endpoint;
	char *region; /* NULL: the place is neither s3 nor Google */
	struct learned *learned;
	enum far_bucket_names bucket_names;
	bool requester_pays;
	struct keyring *keyring; /* NULL: requests are not signed */
	char *query;		 /* a query with a signature, or NULL */
	char *bearer;		 /* a token, or NULL */
};

enum cloud { CLOUD_NONE, CLOUD_S3, CLOUD_GOOGLE, CLOUD_AZURE, CLOUD_HUGGING_FACE };

enum cloud cloud_of(const char *url);
/* Returns the length of the bucket's name, which follows the scheme. far_lists is true for the
 * URL. */
size_t bucket_bytes(const char *url);
/* Prints the https URL of the bucket, or for Hugging Face of the object. */
void print_cloud(FILE *out, const struct place *place, const char *url);
/* Fills in the settings of a place that is not Amazon's s3. */
must_check int place_fill_cloud(
	struct place *place, const struct far_place *from, struct far_error *ret_error);
/* Checks the files and settings of credentials, and gives the place a keyring. */
must_check int place_add_keys(struct place *place, const struct key_settings *settings,
	struct far_error *ret_error);

/* Facts learned from the answers of servers. */
struct learned {
	_Atomic(char *) region; /* the bucket's region, or NULL */
};

/* Returns the region learned from the server, or the configured one if none was learned. */
const char *place_region(const struct place *place);
/* Stores the region that the server reported, for later requests. true: it differs from the old
 * region. */
bool place_learns(const struct place *place, const char *region);
/* Prints the URL of a bucket, without a slash at the end. */
void print_bucket(FILE *out, const struct place *place, const char *bucket, size_t bytes);

/* Returns the settings for the URL; if nothing was configured, the defaults. Never returns NULL. */
const struct place *place_of(const char *url);

/* Makes the escaped http or https URL of the object. The caller frees it. -ENOMEM. */
must_check int place_url(
	const struct place *place, const struct far_object *object, char **ret);
/* Appends the text. Escapes all bytes except letters, digits, - . _ ~ and, if `slash` is set, the
 * slash. */
void print_escaped(FILE *out, const char *text, bool slash);

/* The status and the header lines of an answer. */
struct answer {
	long status;
	bool has_range;
	uint64_t first, last, total; /* Content-Range; total UINT64_MAX: not given */
	char etag[130];		     /* "": none */
	char region[40];	     /* region of the bucket; "": not given */
	int64_t modified; /* Last-Modified in seconds since 1970; INT64_MIN: not given */
	uint64_t retry_ns;
};

void answer_begin(struct answer *answer);
/* Parses a header line, including its line end, into the answer. */
void answer_line(struct answer *answer, const char *line, size_t bytes);
/* Returns the value for far_object.mtime_ns. etag: with or without quotes; "": none. */
int64_t answer_version(const char *etag, int64_t modified);
/* Parses a time in a listing (ISO 8601; Azure uses the form of HTTP) to seconds since 1970.
 * INT64_MIN: malformed. */
int64_t answer_listed_time(const char *text);
/* Tells whether two values of mtime_ns belong to different versions. expected: may be
 * FAR_ANY_VERSION. */
bool versions_differ(int64_t expected, int64_t found);

#define MOST_ERROR_BODY 2000
#define MOST_TOKEN 8192

/* A request to a service that gives credentials. A long answer counts as an error. */
struct call {
	const char *url;
	const char *method; /* NULL: GET */
	const char *heads[2];
	const char *body; /* body of a form, or NULL */
	bool by_proxy;	  /* uses the environment's proxy, if there is one */
	long connect_ms;  /* 0: 5 s */
	long status;
	char *text; /* the answer; the caller frees it; NULL: it was empty */
	size_t used;
};

/* Makes the request. 0: there is an answer, with any status; otherwise -errno, with a message. */
must_check int call_run(struct call *call, struct far_error *ret_error);

struct transfer {
	const struct place *place;
	const char *url;
	uint64_t edition; /* edition of the credentials that signed the request */
	bool ranged;
	uint64_t offset, bytes; /* the range */
	uint8_t *out;		/* room for the range */
	size_t most;		/* most bytes of `text` */
	struct answer answer;
	uint64_t got;
	bool wrong; /* the body did not match the request, and was cut off */
	/* body of other answers, such as errors, ended by \0; the caller frees it */
	char *text;
	size_t text_room;
};

/* Makes the request. 0: there is an answer, with any status; otherwise -errno, with a message. */
must_check int transfer_run(struct transfer *transfer, struct far_error *ret_error);
bool transfer_is_stopped(void);
#ifdef HAVE_CURL
/* Runs the request until it ends. CURLE_ABORTED_BY_CALLBACK: far_stop was called. */
CURLcode transfer_perform(CURLM *multi, CURL *easy);
/* Sets the options that all requests have. */
void transfer_set_common(CURL *easy);
#endif
/* Checks that requests are possible. -ENOTSUP, with a message: built without libcurl, or with
 * `signs` set, libcurl can't sign. */
must_check int transfer_check(bool signs, struct far_error *ret_error);

/* --- sources that refuse ------------------------------------------------------------------- */

struct health;
/* Returns the health of the source that has the object. It is never freed. NULL: no memory. */
struct health *health_of(const struct place *place, const char *url);
/* Notes the success of a read of this URL that began at begun_ns. health may be NULL. */
void health_good(struct health *health, const char *url, uint64_t begun_ns);
/* Returns a URL of the source that was readable. The caller frees it; NULL: none is known. */
char *health_known(struct health *health);
/* Notes that the source refuses all reads; logs the message once. */
void health_denied(struct health *health, const char *message);

/* Copies the text between <name> and </name>; "" if it is missing, or not printable ASCII. */
void find_element(const char *text, const char *name, char *ret, size_t size);

/* Sets the message, and returns err. */
int far_fail(struct far_error *error, int err, const char *format, ...) printf_like(3, 4);
/* Converts an unsuccessful answer to an error. Stores the bucket's region in the place, and reports
 * refused credentials to the keyring. */
must_check int far_refused(const struct transfer *transfer, struct far_error *ret_error);

/* Waits before the next try. tried: number of tries so far. false: no further try should be
 * made. */
bool far_tries_again(unsigned tried, const struct far_error *error);

/* Parses a page of a listing, and changes `text`. prefix: number of bytes to remove from names.
 * *ret_next: the token of the next page, which the caller frees; NULL: this page is the last one.
 * -EINVAL: malformed. */
must_check int listing_read(
	char *text, size_t prefix, far_listed *listed, void *context, char **ret_next);
