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
 *   Flow: far_configure for each dataset; far_look finds an object's size and version when the
 *         dataset is scanned; far_read reads a range of the object when a sample is read.
 *   Owns: connections, which stay open between reads, and settings (struct far_place).
 *   Threads: any that may wait. A call fails if the server sends nothing for far_place.timeout_s.
 *         far_stop ends all calls within half a second.
 *   Locks: one for unused connections, one for credentials, one for sources that refuse their
 *         credentials; none is held while a call waits for a server.
 *   Errors: 0 or -errno, with a message that names the cause, and neither the URL nor any
 *         credentials. -ESTALE: the object has another version now. -ENOENT: the object is gone.
 *         -EACCES: access is denied. -ENOTSUP: this build can't read such URLs. far_error tells
 *         whether and when the next try may succeed. A refusal of credentials (401, 403, an expired
 *         token) concerns the whole source: it is transient, and is logged once when it begins and
 *         once when it ends.
 *   Fault: far.read.
 */

#define FAR_MESSAGE 160
#define FAR_ANY_VERSION INT64_MIN

/* An object. `url` has two parts: the first `plain` bytes are escaped as in any URL, and the rest
 * is a name that is not escaped yet. In URLs of clouds, such as s3, nothing is escaped. */
struct far_object {
	const char *url;
	size_t plain;
	uint64_t bytes; /* size of the whole object */
	/* Identifies the version of the object, in the form of an mtime: the seconds come from
	 * Last-Modified, the nanoseconds are a hash of the ETag. */
	int64_t mtime_ns;
};

struct far_error {
	bool passing; /* the error is transient: the next try may succeed */
	/* the source refuses all requests, because of their credentials */
	bool denied;
	/* pause before the next try that the server asks for; 0: none */
	uint64_t retry_ns;
	char message[FAR_MESSAGE];
};

/* Settings for objects whose URLs begin with `url`. Where a member is NULL, the environment decides
 * instead. */
struct far_place {
	const char *url;
	/* time without data from the server after which a call fails; 0: 20 s */
	unsigned timeout_s;
	/* The members from here on are for s3. Some of them also apply to other clouds. */
	/* http://HOST[:PORT]; NULL: Amazon's server for the region */
	const char *endpoint;
	const char *region;
	/* path of a file with keys in the format of Amazon's tools */
	const char *credentials;
	const char *profile;
	bool without_credentials; /* requests must not be signed */
	bool requester_pays;
	/* Which part of a request's URL contains the bucket: the host or the path. FAR_NAMES_AUTO:
	 * the profile decides; without a profile, it is the host for Amazon's servers, and the path
	 * for others. */
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
/* Returns a hash of the server: the endpoint for s3, otherwise the host in the URL. */
uint64_t far_server(const char *url);

/* Adds the settings, which replace earlier settings for the same URL. -EINVAL: a setting is wrong;
 * -ENOTSUP: this build does not support the setting; -ENOMEM. Each error has a message. */
must_check int far_configure(const struct far_place *place, struct far_error *ret_error);

/* Reads exactly `bytes` bytes from `offset` on, of the version object->mtime_ns. Does not try again
 * after an error. */
must_check int far_read(const struct far_object *object, uint64_t offset, uint64_t bytes,
	uint8_t *ret, struct far_error *ret_error);

/* Reads like far_read, but tries again after transient errors, as a scan of a dataset needs. */
must_check int far_read_again(const struct far_object *object, uint64_t offset,
	uint64_t bytes, uint8_t *ret, struct far_error *ret_error);

/* Finds object->bytes and object->mtime_ns, and reads the object's first bytes into `ret`. Tries
 * again like far_read_again. *bytes: size of `ret`; afterwards, the number of bytes read. */
must_check int far_look(struct far_object *object, uint8_t *ret, size_t *bytes,
	struct far_error *ret_error);

/* Reads the whole object as a text that ends with \0. The caller frees *ret. Tries again like
 * far_read_again. -EFBIG: the object has more than `most` bytes. */
must_check int far_text(
	struct far_object *object, size_t most, char **ret, struct far_error *ret_error);

/* A callback for each object of a listing. name: the object's name without the prefix in the URL.
 * An error ends the listing. */
typedef int far_listed(void *context, const char *name, uint64_t bytes, int64_t mtime_ns);

/* Calls `listed` for each object below the URL (s3://BUCKET/PREFIX, or another URL for which
 * far_lists is true), in the order of the bytes of their names. Tries again like far_read_again.
 * Returns the first error. */
must_check int far_list(
	const char *url, far_listed *listed, void *context, struct far_error *ret_error);

/* Makes all running and later calls fail with -EINTR within half a second. */
void far_stop(void);
