// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads ranges of remote objects. Their URLs begin with http, https, s3, gs, az or hf.
 *
 *   Flow: far_configure for each dataset; far_look in a scan; far_read when a sample is read.
 *   Owns: connections, which stay open between reads, and settings (struct far_place).
 *   Threads: any thread that may wait for a server.
 *   Locks: none is held while a call waits for a server.
 *   Errors: 0 or -errno, with a message that names the cause, but neither the URL nor credentials.
 *           -ESTALE: the object has another version now. -ENOENT: it is gone. -EACCES: access is
 *           denied. -ENOTSUP: this build can't read such URLs. far_error tells whether and when the
 *           next try may succeed. A source is a set of objects (far_internal.h). A refusal of
 *           credentials (401, 403, an expired token) counts for the whole source if no other
 *           object of the source can be read any more. Such a refusal is transient, and is logged
 *           when it begins and when it ends. A refusal of a single object is not transient.
 *   Fault: far.read.
 */

#define FAR_MESSAGE 160
#define FAR_ANY_VERSION INT64_MIN

/* The first `plain` bytes of `url` are escaped as in any URL; the rest is a name that is not
 * escaped yet. plain 0: the whole URL is escaped. URLs of clouds, such as s3, are not escaped, so
 * their `plain` is ignored. */
struct far_object {
	const char *url;
	size_t plain;
	uint64_t bytes; /* size of the whole object */
	/* The object's version in the form of an mtime. Its seconds are those of Last-Modified, its
	 * nanoseconds are a hash of the ETag. FAR_ANY_VERSION: any version may be read. */
	int64_t mtime_ns;
};

struct far_error {
	bool passing;	   /* transient: the next try may succeed */
	bool denied;	   /* the source refuses the credentials, so all requests fail */
	uint64_t retry_ns; /* pause that the server asks for; 0: none */
	char message[FAR_MESSAGE];
};

/* Settings for URLs that begin with `url`. If a text is NULL, the environment decides. */
struct far_place {
	const char *url;
	unsigned timeout_s; /* a call fails if no data comes for this time; 0: 20 s */
	/* The fields from here on are for s3. endpoint, credentials and without_credentials also
	 * apply to other clouds, profile also to Google. */
	/* http[s]://HOST[:PORT]; NULL: the environment or the profile decides; if they name none,
	 * the cloud's own server */
	const char *endpoint;
	const char *region;
	/* file of keys, in the format of Amazon's tools; for Azure and Hugging Face: of a token */
	const char *credentials;
	const char *profile;
	bool without_credentials; /* requests must not be signed */
	bool requester_pays;
	/* Decides whether a URL has the bucket in its host or in its path. FAR_NAMES_AUTO: as the
	 * profile says; if the profile does not say it, in the host for Amazon's servers, and in
	 * the path for other servers. */
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
/* Returns a hash of the server's address: for s3 the endpoint, otherwise the host in the URL. */
uint64_t far_server(const char *url);

/* Adds settings, or replaces those for the same URL. -EINVAL: a setting is wrong; -ENOTSUP: this
 * build does not support it; -ENOMEM. */
must_check int far_configure(const struct far_place *place, struct far_error *ret_error);

/* Reads exactly `bytes` bytes of the version object->mtime_ns. Tries once. */
must_check int far_read(const struct far_object *object, uint64_t offset, uint64_t bytes,
	uint8_t *ret, struct far_error *ret_error);

/* Reads like far_read, but tries again after transient errors. */
must_check int far_read_again(const struct far_object *object, uint64_t offset,
	uint64_t bytes, uint8_t *ret, struct far_error *ret_error);

/* Finds object->bytes and object->mtime_ns, and reads the first bytes. Tries again like
 * far_read_again. *bytes: the size of `ret`, then the number of bytes read. */
must_check int far_look(struct far_object *object, uint8_t *ret, size_t *bytes,
	struct far_error *ret_error);

/* Reads the object as a text, which the caller frees. Tries again like far_read_again. -EFBIG: the
 * object has more than `most` bytes. */
must_check int far_text(
	struct far_object *object, size_t most, char **ret, struct far_error *ret_error);

/* Is called for each object of a listing. If it returns an error, the listing ends. name: the
 * object's name without the prefix that the listing's URL has. */
typedef int far_listed(void *context, const char *name, uint64_t bytes, int64_t mtime_ns);

/* Lists the objects below the URL in the byte order of their names. far_lists(url) must be true.
 * Tries again like far_read_again. Returns the first error. */
must_check int far_list(
	const char *url, far_listed *listed, void *context, struct far_error *ret_error);

/* Makes running and later calls fail with -EINTR within half a second. */
void far_stop(void);
