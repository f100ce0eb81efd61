// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

/*
 * Finds credentials for the requests of a place, in the same sources as Amazon's tools: in the
 * environment, a web identity, a profile, the container's service, the machine's service.
 *
 *   credentials.c          keeps credentials, and renews them before they expire
 *   credentials_chain.c    tries the sources in order
 *   credentials_file.c     reads files of keys and profiles
 *   credentials_http.c     asks services by HTTP
 *   credentials_process.c  runs the program that a profile names
 *
 *   Threads: those of transfers. One thread fetches while others use the present credentials.
 *   Locks: one per keyring; not held during a fetch.
 *   Errors: 0 or -errno, with a message that shows no secret.
 */

struct credentials {
	char *key_id;
	char *secret;
	char *token;	 /* token of a session, or NULL */
	char *bearer;	 /* token that replaces the three members above, or NULL */
	int64_t expires; /* seconds since 1970; 0: never, or not known */
	/* The source, a file or a program, may give other credentials at any time. */
	bool read_anew;
};

void credentials_free(struct credentials *credentials);
/* Copies the credentials to *ret. -ENOMEM: *ret is empty. */
must_check int credentials_copy(
	const struct credentials *credentials, struct credentials *ret);

/* A profile, merged from both files of Amazon's tools. NULL: the profile lacks the field. */
struct profile {
	char *key_id, *secret, *token;
	char *process;
	char *role, *session, *identity; /* a web identity */
	/* not NULL: the profile has a setting that is not supported */
	char *other_role, *sso;
	char *region, *endpoint, *addressing;
	bool found;
};

void profile_free(struct profile *profile);
/* Adds the fields of the section to the profile, except those that it already has. Changes `text`.
 * -ENOMEM. */
must_check int profile_read(struct profile *profile, char *text, const char *section);

/* A user's settings for the credentials of a place. */
struct key_settings {
	const char *file; /* path of the profiles' file; NULL: the environment decides */
	const char *profile; /* name of the profile; NULL: the environment decides */
	const char *region;  /* region of STS */
	bool google;	     /* uses HMAC keys, or the token of Google's machine */
};

/* Reads the first line of the file. The caller frees it; NULL: there is no such file. private: the
 * file must exist, and must not give permissions to group and others (otherwise -EINVAL). */
must_check int credentials_line(
	const char *path, bool private, char **ret, struct far_error *ret_error);

/* Reads the profile named by the settings or by the environment. -EINVAL: there is no such
 * profile. */
must_check int chain_profile(const struct key_settings *settings, struct profile *ret,
	struct far_error *ret_error);
/* Fetches credentials. only_look: only checks files and settings, and asks no service and runs no
 * program. */
must_check int chain_fetch(const struct key_settings *settings, bool only_look,
	struct credentials *ret, struct far_error *ret_error);

must_check int container_credentials(
	struct credentials *ret, struct far_error *ret_error);
must_check int machine_credentials(struct credentials *ret, struct far_error *ret_error);
must_check int google_credentials(struct credentials *ret, struct far_error *ret_error);

struct identity {
	const char *role, *session, *file;
};

must_check int identity_credentials(const struct identity *identity, const char *region,
	struct credentials *ret, struct far_error *ret_error);
must_check int process_credentials(
	const char *command, struct credentials *ret, struct far_error *ret_error);

/* Reads AccessKeyId and the related members of a JSON object. from: the source, for messages. */
must_check int credentials_of_json(const char *text, const char *token_name,
	const char *from, struct credentials *ret, struct far_error *ret_error);

/* --- the credentials of one place -------------------------------------------------------- */

struct keyring;

/* Creates a keyring with a copy of the settings. -ENOMEM. */
must_check int keyring_new(const struct key_settings *settings, struct keyring **ret);
/* Returns a copy of the credentials for one request, and the number of their edition. If a fetch is
 * due, fetches them first, which may wait for a service. */
must_check int keyring_take(struct keyring *keyring, struct credentials *ret,
	uint64_t *ret_edition, struct far_error *ret_error);
/* Notes that a server refused this edition. One of the next requests will fetch new credentials. */
void keyring_refused(struct keyring *keyring, uint64_t edition);
/* Returns the number of seconds after which to renew credentials that expire in left_s seconds. */
int64_t renewal_s(int64_t left_s);
