// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads remote objects by ranges. Their URLs are of http, https, s3, gs, az or hf.
 *
 *   Flow: far_configure, once for each dataset; far_look tells an object's size and
 *         version, when the dataset is scanned; far_read reads a range of it, in the
 *         reading stage.
 *   Owns: connections, which it keeps between reads, and the settings of places.
 *   Threads: any that may wait. A call waits for the server, until the server has been silent
 *         for the place's timeout. far_stop ends all calls soon.
 *   Locks: one for idle connections, one for credentials, one for sources that refuse; none is
 *         held while a call waits for a server.
 *   Errors: 0 or -errno, with a message that names the cause, and neither the URL nor any
 *         credentials. -ESTALE: the object has another version now. -ENOENT: the object is gone.
 *         -EACCES: access is denied. -ENOTSUP: this build can't. far_error tells whether and when
 *         the next try may succeed. A refusal for credentials (401, 403, an expired token) is a
 *         fact about the source: it passes, and the log has one line when it begins and one when
 *         it ends.
 *   Fault: far.read.
 */

#define FAR_MESSAGE 160
#define FAR_ANY_VERSION INT64_MIN

/* An object. Bytes of `url` before `plain` are a URL; the bytes behind are a name that is not
 * escaped yet. URLs of clouds, such as s3, are never escaped. */
struct far_object {
	const char *url;
	size_t plain;
	uint64_t bytes; /* size of the whole object */
	/* Identifies the object's version, and serves as its mtime: Last-Modified gives the
	 * seconds, a hash of the ETag the nanoseconds below a second. */
	int64_t mtime_ns;
};

struct far_error {
	bool passing;	   /* not the object's fault: the next try may succeed */
	bool denied;	   /* the source refuses all requests; this may pass, too */
	uint64_t retry_ns; /* the pause that the server asks for, or 0 */
	char message[FAR_MESSAGE];
};

/* Settings of objects whose URLs begin with `url`. NULL: as the environment says. */
struct far_place {
	const char *url;
	unsigned timeout_s; /* silence of a server that counts as failure; 0: 20 s */
	/* The rest is for s3; other clouds use the settings that they have, too. */
	const char *endpoint; /* http://HOST[:PORT]; NULL: Amazon's */
	const char *region;
	const char *credentials; /* a file in the format of Amazon's tools */
	const char *profile;
	bool without_credentials; /* requests are not signed */
	bool requester_pays;
	/* Decides whether host or path of a URL has the bucket. FAR_NAMES_AUTO: as the profile
	 * says, or else the host for Amazon's servers, the path for others. */
	enum far_bucket_names {
		FAR_NAMES_AUTO,
		FAR_NAMES_PATH,
		FAR_NAMES_HOST
	} bucket_names;
};

/* Tells whether far_list can list the objects below the URL. */
bool far_lists(const char *url);
/* Tells whether the path begins with the scheme of a URL. */
bool far_is(const char *path);
/* Returns a hash of the server: of the endpoint for s3, else of the host in the URL. */
uint64_t far_server(const char *url);

/* Adds the settings of a place; the latest ones count. -EINVAL: a setting is wrong; -ENOTSUP:
 * this build can't; -ENOMEM; each with a message. */
must_check int far_configure(const struct far_place *place, struct far_error *ret_error);

/* Reads exactly `bytes` bytes from `offset` on, of this version of the object. Tries once. */
must_check int far_read(const struct far_object *object, uint64_t offset, uint64_t bytes,
	uint8_t *ret, struct far_error *ret_error);

/* Reads like far_read, but tries again after errors that may pass; for scans. */
must_check int far_read_again(const struct far_object *object, uint64_t offset,
	uint64_t bytes, uint8_t *ret, struct far_error *ret_error);

/* Finds out object->bytes and object->mtime_ns, and reads the object's first bytes. Tries again
 * like far_read_again. *bytes: the room in `ret`, then the number of bytes that were read. */
must_check int far_look(struct far_object *object, uint8_t *ret, size_t *bytes,
	struct far_error *ret_error);

/* Reads the whole object as a text with a NUL, which the caller frees. Tries again like
 * far_read_again. -EFBIG: it has more than `most` bytes. */
must_check int far_text(
	struct far_object *object, size_t most, char **ret, struct far_error *ret_error);

/* Receives an object of a listing. name: the object's name without the prefix. Any error ends the
 * listing. */
typedef int far_listed(void *context, const char *name, uint64_t bytes, int64_t mtime_ns);

/* Calls listed() for each object below the URL (s3://BUCKET/PREFIX, or another that far_lists), in
 * byte order of names. Tries again like far_read_again. Returns the first error. */
must_check int far_list(
	const char *url, far_listed *listed, void *context, struct far_error *ret_error);

/* Ends all calls, and all later ones, with -EINTR within half a second. */
void far_stop(void);
