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

/* Settings of objects whose URLs begin with `url`. They stay for ever. */
struct place {
	struct place *next;
	char *url;
	unsigned timeout_s;
	char *endpoint; /* URL with no slash at the end; NULL: Amazon's for the region */
	char *region;	/* NULL: neither s3 nor Google's */
	struct learned *learned;
	enum far_bucket_names bucket_names;
	bool requester_pays;
	struct keyring *keyring; /* NULL: requests are not signed */
	char *query;		 /* a query with a signature, or NULL */
	char *bearer;		 /* a token, or NULL */
};

enum cloud { CLOUD_NONE, CLOUD_S3, CLOUD_GOOGLE, CLOUD_AZURE, CLOUD_HUGGING_FACE };

enum cloud cloud_of(const char *url);
/* Returns the length of the bucket behind the scheme, of a URL that far_lists. */
size_t bucket_bytes(const char *url);
/* Prints the https URL of the bucket; for Hugging Face, of the object. */
void print_cloud(FILE *out, const struct place *place, const char *url);
/* Fills in the settings of a place that is not Amazon's s3. */
must_check int place_fill_cloud(
	struct place *place, const struct far_place *from, struct far_error *ret_error);
/* Gives the place a keyring, after it has checked the files and settings of credentials. */
must_check int place_add_keys(struct place *place, const struct key_settings *settings,
	struct far_error *ret_error);

/* Facts learned from the answers of servers. */
struct learned {
	_Atomic(char *) region; /* the bucket's region, or NULL */
};

/* Returns the region learned from the server, or else the configured one. */
const char *place_region(const struct place *place);
/* Sets the region that the server has told, for later requests. true: the former region was another
 * one. */
bool place_learns(const struct place *place, const char *region);
/* Prints the URL of a bucket, without a slash at the end. */
void print_bucket(FILE *out, const struct place *place, const char *bucket, size_t bytes);

/* Returns the settings for the URL, the defaults if nothing was configured; never NULL. */
const struct place *place_of(const char *url);

/* Makes the object's escaped URL of http or https, which the caller frees. -ENOMEM. */
must_check int place_url(
	const struct place *place, const struct far_object *object, char **ret);
/* Appends the text, and escapes all bytes but letters, digits, - . _ ~ and, if `slash` is set,
 * the slash. */
void print_escaped(FILE *out, const char *text, bool slash);

/* The status and the header lines of an answer. */
struct answer {
	long status;
	bool has_range;
	uint64_t first, last, total; /* Content-Range; total: UINT64_MAX: not told */
	char etag[130];		     /* "": none */
	char region[40];	     /* region of the bucket; "": not told */
	int64_t modified; /* Last-Modified, in seconds since 1970; INT64_MIN: not told */
	uint64_t retry_ns;
};

void answer_begin(struct answer *answer);
/* Reads a header line, with its line end, into the answer. */
void answer_line(struct answer *answer, const char *line, size_t bytes);
/* Returns far_object's mtime_ns. etag: with quotes or without; "": none. */
int64_t answer_version(const char *etag, int64_t modified);
/* Parses a listing's time (ISO 8601; Azure's listings have HTTP's form) to seconds since 1970.
 * INT64_MIN: malformed. */
int64_t answer_listed_time(const char *text);
/* Tells whether two mtime_ns are of different versions. expected: may be FAR_ANY_VERSION. */
bool versions_differ(int64_t expected, int64_t found);

#define MOST_ERROR_BODY 2000
#define MOST_TOKEN 8192

/* A request to a service that gives credentials. A long answer counts as an error. */
struct call {
	const char *url;
	const char *method; /* NULL: GET */
	const char *heads[2];
	const char *body; /* a form's body, or NULL */
	bool by_proxy;	  /* use the environment's proxy, if any */
	long connect_ms;  /* 0: 5 s */
	long status;
	char *text; /* the answer; the caller frees it; NULL: empty */
	size_t used;
};

/* Makes the request. 0: there is an answer, of any status; else -errno, with a message. */
must_check int call_run(struct call *call, struct far_error *ret_error);

struct transfer {
	const struct place *place;
	const char *url;
	uint64_t edition; /* edition of the credentials that sign it */
	bool ranged;
	uint64_t offset, bytes; /* the range */
	uint8_t *out;		/* room for the range */
	size_t most;		/* bytes of `text`, at most */
	struct answer answer;
	uint64_t got;
	bool wrong; /* the answer's body does not fit the request, and was cut off */
	char *text; /* body of other answers, also errors, with a NUL; the caller frees it */
	size_t text_room;
};

/* Makes the request. 0: there is an answer, of any status; else -errno, with a message. */
must_check int transfer_run(struct transfer *transfer, struct far_error *ret_error);
bool transfer_is_stopped(void);
#ifdef HAVE_CURL
/* Runs the request to its end. CURLE_ABORTED_BY_CALLBACK: far_stop was called. */
CURLcode transfer_perform(CURLM *multi, CURL *easy);
/* Sets the options that all requests have. */
void transfer_set_common(CURL *easy);
#endif
/* Checks that requests are possible. -ENOTSUP, with a message: built without libcurl, or `signs`
 * is set and libcurl can't sign. */
must_check int transfer_check(bool signs, struct far_error *ret_error);

/* --- sources that refuse ------------------------------------------------------------------- */

struct health;
/* Returns the health of the source that has the object; it stays for ever. NULL: no memory. */
struct health *health_of(const struct place *place, const char *url);
/* Notes that a read of this URL succeeded, which began at begun_ns. health may be NULL. */
void health_good(struct health *health, const char *url, uint64_t begun_ns);
/* Returns a URL of the source that could be read, which the caller frees; NULL: none is known. */
char *health_known(struct health *health);
/* Notes that the source refuses all reads; logs the message once. */
void health_denied(struct health *health, const char *message);

/* Copies the text between <name> and </name>; "" if it is missing, or not printable ASCII. */
void find_element(const char *text, const char *name, char *ret, size_t size);

/* Sets the message, and returns err. */
int far_fail(struct far_error *error, int err, const char *format, ...) printf_like(3, 4);
/* Turns an answer that is no success into an error. Tells the place its bucket's region, and the
 * keyring that its credentials were refused. */
must_check int far_refused(const struct transfer *transfer, struct far_error *ret_error);

/* Waits before the next try. false: there should be no other try. tried: tries before this one. */
bool far_tries_again(unsigned tried, const struct far_error *error);

/* Reads a page of a listing, and changes `text`. prefix: bytes to drop from names. *ret_next: the
 * next page's token, which the caller frees; NULL: this page is the last. -EINVAL: malformed. */
must_check int listing_read(
	char *text, size_t prefix, far_listed *listed, void *context, char **ret_next);
