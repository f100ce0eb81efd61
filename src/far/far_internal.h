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
 * A *place* has the settings for all URLs that begin with the same text. A *source* is a set of
 * objects; a server that refuses the credentials may refuse the whole set. The objects of a place
 * are a source. If URLs have no place, the objects of a server are a source.
 */

/* Settings for URLs that begin with `url`. A place is never freed. */
struct place {
	struct place *next;
	char *url;
	unsigned timeout_s;
	char *endpoint; /* no slash at its end; NULL: the cloud's own server */
	char *region;	/* NULL: the place is neither s3 nor Google */
	/* Points to the region of the bucket that a server has reported, or to NULL if none has.
	 * `learned` itself is NULL if the place is not s3. */
	_Atomic(char *) *learned;
	enum far_bucket_names bucket_names;
	bool requester_pays;
	/* finds each request's key or token; NULL: only `query` and `bearer` are used */
	struct keyring *keyring;
	char *query;  /* signature that each URL gets as its query; NULL: none */
	char *bearer; /* token that each request sends; NULL: none */
};

enum cloud { CLOUD_NONE, CLOUD_S3, CLOUD_GOOGLE, CLOUD_AZURE, CLOUD_HUGGING_FACE };

enum cloud cloud_of(const char *url);
/* Returns the length of the bucket's name after the scheme; for Azure, of ACCOUNT/CONTAINER.
 * far_lists(url) must be true. */
size_t bucket_bytes(const char *url);
/* Prints an https URL. Hugging Face: the URL of the object. Other clouds: the URL of the bucket. */
void print_cloud(FILE *out, const struct place *place, const char *url);
/* Fills in the settings of a place that is not Amazon's s3. */
must_check int place_fill_cloud(
	struct place *place, const struct far_place *from, struct far_error *ret_error);
/* Sets place->endpoint to a copy of `endpoint` without the slashes at its end. -EINVAL: `endpoint`
 * is not the URL of a server. */
must_check int place_set_endpoint(
	struct place *place, const char *endpoint, struct far_error *ret_error);
/* Checks whether the settings and files of credentials are valid, then makes place->keyring, which
 * fetches the credentials when they are needed. */
must_check int place_add_keys(struct place *place, const struct key_settings *settings,
	struct far_error *ret_error);

/* Returns the region that a server has reported, otherwise the configured region. */
const char *place_region(const struct place *place);
/* Stores a region that a server reported. Returns true if the region is new. */
bool place_learns(const struct place *place, const char *region);
/* Prints the URL of a bucket, without a slash at the end. */
void print_bucket(FILE *out, const struct place *place, const char *bucket, size_t bytes);

/* Finds the settings for the URL. Returns default settings if none are configured. */
const struct place *place_of(const char *url);

/* Makes the object's escaped http or https URL, which the caller frees. -ENOMEM. */
must_check int place_url(
	const struct place *place, const struct far_object *object, char **ret);
/* Escapes all bytes except letters, digits, - . _ ~ and, if `slash` is set, slashes. */
void print_escaped(FILE *out, const char *text, bool slash);

struct answer {
	long status;
	bool has_range;
	uint64_t first, last, total; /* Content-Range; total = UINT64_MAX: not given */
	char etag[130];		     /* "": none */
	char region[40];	     /* region of the bucket; "": not given */
	int64_t modified;	     /* seconds since 1970; INT64_MIN: missing */
	uint64_t retry_ns;
};

void answer_begin(struct answer *answer);
void answer_line(struct answer *answer, const char *line, size_t bytes);
/* Returns the version of an object, as in far_object.mtime_ns. etag: "": the answer has none;
 * quotes around the text are ignored. modified: seconds since 1970; INT64_MIN: not known. */
int64_t answer_version(const char *etag, int64_t modified);
/* Parses a time of s3 (ISO 8601) or Azure (as in HTTP). Returns the seconds since 1970; INT64_MIN:
 * the text is malformed. */
int64_t answer_listed_time(const char *text);
/* Tells whether two mtime_ns mean different versions. Returns false if `expected` is
 * FAR_ANY_VERSION. */
bool versions_differ(int64_t expected, int64_t found);

#define MOST_ERROR_BODY 2000
#define MOST_TOKEN 8192

/* A request to a service that gives credentials. An answer of more than 64 KiB is an error. */
struct call {
	const char *url;
	const char *method; /* NULL: GET */
	const char *head;   /* header line; NULL: none */
	const char *body;   /* content of an HTML form; NULL: none */
	bool by_proxy;	    /* uses the proxy of the environment */
	long connect_ms;    /* limit for the connection; 0: 5 s */
	long status;
	char *text; /* body of the answer, which the caller frees; NULL: empty */
	size_t used;
};

/* Returns 0 if the service has answered, with any status; otherwise -errno, with a message. */
must_check int call_run(struct call *call, struct far_error *ret_error);

struct transfer {
	const struct place *place;
	const char *url;
	uint64_t edition; /* identifies the credentials (keyring_take) */
	bool ranged;
	uint64_t offset, bytes; /* the range, if `ranged` */
	uint8_t *out;		/* room for `bytes` bytes */
	size_t most;		/* largest size of `text` if the status is 200 */
	struct answer answer;
	uint64_t got; /* number of bytes in `out` or `text` */
	bool wrong;   /* the body was longer than expected, and was cut off */
	/* Text of a listing, or body of an error; ends with \0. The caller frees it. */
	char *text;
};

/* Returns 0 if the server has answered, with any status; otherwise -errno, with a message. */
must_check int transfer_run(struct transfer *transfer, struct far_error *ret_error);
bool transfer_is_stopped(void);
#ifdef HAVE_CURL
/* Runs the request to its end. CURLE_ABORTED_BY_CALLBACK: far_stop was called. */
CURLcode transfer_perform(CURLM *multi, CURL *easy);
void transfer_set_common(CURL *easy);
#endif
/* Returns -ENOTSUP if this build has no libcurl, or `signs` is set and libcurl can't sign. */
must_check int transfer_check(bool signs, struct far_error *ret_error);

/* Notes whether a source refuses its credentials at present. */
struct health;
/* Returns the health of the URL's source; NULL: no memory. A health is never freed. */
struct health *health_of(const struct place *place, const char *url);
/* Stores that a read of the URL, begun at begun_ns, has succeeded. `health` may be NULL. */
void health_good(struct health *health, const char *url, uint64_t begun_ns);
/* Returns a URL of the source that could be read; the caller frees it. NULL: none, or no memory. */
char *health_known(struct health *health);
/* Stores that the source refuses all reads. Logs the message when the refusal begins. */
void health_denied(struct health *health, const char *message);

/* Copies from `text` to `ret` what lies between <name> and the next <. "": the element is missing,
 * or not printable ASCII. */
void find_element(const char *text, const char *name, char *ret, size_t size);

/* Sets the message, and returns err. */
int far_fail(struct far_error *error, int err, const char *format, ...) printf_like(3, 4);
int far_no_memory(struct far_error *error);
/* Sets the error for an answer without success, and returns it. Stores the bucket's region if the
 * answer contains the region. Calls keyring_refused if the server refused the credentials. */
must_check int far_refused(const struct transfer *transfer, struct far_error *ret_error);

/* Waits before the next try. Returns false if there must be no next try: the error is not
 * transient, this was the last try, or far_stop was called. tried: number of tries before the
 * failed one. */
bool far_tries_again(unsigned tried, const struct far_error *error);

/* Calls `listed` for each object of a page of a listing. Changes `text`, the page. prefix: number
 * of bytes to remove from the beginning of each name. *ret_next: token of the next page, which the
 * caller frees; NULL: there is no next page. -EINVAL: the page is malformed. */
must_check int listing_read(
	char *text, size_t prefix, far_listed *listed, void *context, char **ret_next);
