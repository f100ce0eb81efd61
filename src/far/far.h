// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Objects far away: what a URL of http, https, s3, gs, az or hf leads to. They are read by ranges.
 *
 *   Flow: far_configure, once for each dataset; far_look tells an object's size and
 *         version, when the dataset is scanned; far_read reads a range of it, in the
 *         reading stage.
 *   Owns: connections, which are kept from one read to the next, and what it was told of
 *         places.
 *   Threads: any that may wait: a call lasts as long as the network does, until a server
 *         is silent for too long. far_stop ends all calls soon.
 *   Locks: one, for idle connections; never held while a server is waited for.
 *   Errors: 0 or -errno, with a message that names the cause, and neither the URL nor any
 *         credentials. -ESTALE: the object is another version now. -ENOENT: gone.
 *         -EACCES: not allowed. -ENOTSUP: this build can't. Whether it may pass, and when,
 *         says far_error. What a server refuses for its credentials (401, 403, an expired
 *         token) is a fact about the source: it passes, and the log says once that it
 *         begins and that it ends.
 *   Fault: far.read.
 */

#define FAR_MESSAGE 160
#define FAR_ANY_VERSION INT64_MIN

/* The URL of an object is `url` up to `plain`; what follows is a name whose bytes are not
 * escaped yet. In clouds, as s3, all of it is a name. */
struct far_object {
	const char *url;
	size_t plain;
	uint64_t bytes; /* of the whole object */
	/* What tells versions of an object apart: the time of Last-Modified in seconds, and
	 * below a second, in nanoseconds, a hash of its ETag. So it serves as an mtime. */
	int64_t mtime_ns;
};

struct far_error {
	bool passing;	   /* says nothing about the object: the next try may succeed */
	bool denied;	   /* the source refuses all requests; it passes, too */
	uint64_t retry_ns; /* not before so long, as the server asks for; or 0 */
	char message[FAR_MESSAGE];
};

/* How the objects whose URLs begin alike are read. NULL: as the environment says. */
struct far_place {
	const char *url;
	unsigned timeout_s; /* a server that is silent for so long has failed */
	/* Of s3: */
	const char *endpoint; /* http://HOST[:PORT]; NULL: Amazon's */
	const char *region;
	const char *credentials; /* a file as Amazon's tools have it */
	const char *profile;
	bool without_credentials; /* requests are not signed */
	bool requester_pays;
	/* FAR_NAMES_AUTO: as host for Amazon's servers, or as the profile says. */
	enum far_bucket_names {
		FAR_NAMES_AUTO,
		FAR_NAMES_PATH,
		FAR_NAMES_HOST
	} bucket_names;
};

/* Whether the objects below a URL can be listed. */
bool far_lists(const char *url);
/* Whether a path is a URL, or begins as one. */
bool far_is(const char *path);
/* The same number for all URLs of one server. */
uint64_t far_server(const char *url);

/* -EINVAL, with a message: the place can't be read as it is told. */
must_check int far_configure(const struct far_place *place, struct far_error *ret_error);

/* Reads exactly so many bytes from offset on, of this version of the object. One try. */
must_check int far_read(const struct far_object *object, uint64_t offset, uint64_t bytes,
	uint8_t *ret, struct far_error *ret_error);

/* --- for scans: these try again what may pass ------------------------------------------ */

/* The same. */
must_check int far_read_again(const struct far_object *object, uint64_t offset,
	uint64_t bytes, uint8_t *ret, struct far_error *ret_error);

/* Fills object->bytes and object->mtime_ns, and reads up to *bytes of the begin. */
must_check int far_look(struct far_object *object, uint8_t *ret, size_t *bytes,
	struct far_error *ret_error);

/* The whole object as a text with a NUL, which the caller frees. */
must_check int far_text(
	struct far_object *object, size_t most, char **ret, struct far_error *ret_error);

/* An object of a listing. name: behind the prefix. */
typedef int far_listed(void *context, const char *name, uint64_t bytes, int64_t mtime_ns);

/* Calls for each object of s3://BUCKET/PREFIX, or another one that far_lists, in byte order. Ends with its first error. */
must_check int far_list(
	const char *url, far_listed *listed, void *context, struct far_error *ret_error);

/* All calls end with -EINTR within half a second, and so do those that come. */
void far_stop(void);
