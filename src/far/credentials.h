// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

/*
 * Finds credentials for a place (struct far_place). They can have the origins that
 * Amazon's tools use: the environment, a web identity, a profile, the service of the
 * container, the service of the machine. A *keyring* has the present credentials of one
 * place.
 *
 *   credentials.c          the keyring: renews credentials before they expire
 *   credentials_chain.c    tries the origins in order
 *   credentials_file.c     reads files of keys and profiles
 *   credentials_http.c     asks services by HTTP
 *   credentials_process.c  runs the program that a profile names
 *
 *   Threads: those that make transfers. One thread fetches new credentials while others
 *            use the present ones.
 *   Locks: one per keyring; not held during a fetch.
 *   Errors: 0 or -errno, with a message that shows no secret.
 */

struct credentials {
	char *key_id;
	char *secret;
	char *token;	 /* token of a temporary session; NULL: the key needs none */
	char *bearer;	 /* token that is used instead of the fields above; NULL: none */
	int64_t expires; /* seconds since 1970; 0: never, or not known */
	/* the credentials come from a file or a program, and are fetched again every
	 * minute */
	bool read_anew;
};

void credentials_free(struct credentials *credentials);
/* Copies the credentials. After -ENOMEM *ret is empty. */
must_check int credentials_copy(
	const struct credentials *credentials, struct credentials *ret);

/* A profile, merged from the two files of Amazon's tools (credentials and config). A
 * field is NULL if both files lack it. */
struct profile {
	char *key_id, *secret, *token;
	char *process;
	/* web identity: ARN of the role, name of the session, path of the token's
	 * file */
	char *role, *session, *identity;
	char *other_role, *sso; /* not supported: these cause an error */
	char *region, *endpoint, *addressing;
	bool found;
};

void profile_free(struct profile *profile);
/* Reads a section of an ini `text`. Adds only fields that the profile does not have yet.
 * Changes `text`. Returns 0 or -ENOMEM. */
must_check int profile_read(struct profile *profile, char *text, const char *section);

/* A user's settings. If a field is NULL, the environment decides. */
struct key_settings {
	const char *file; /* path of the file with profiles */
	const char *profile;
	const char *region; /* region of the service STS, for a web identity */
	/* Google's credentials: HMAC keys, or a token of the service account */
	bool google;
};

/* Reads the first line of a file. The caller frees *ret, which is NULL if the file does
 * not exist. If `private` is true, a missing file is the error -EINVAL, and so is a file
 * that anyone but its owner may access. */
must_check int credentials_line(
	const char *path, bool private, char **ret, struct far_error *ret_error);

/* Reads the profile that the settings name, otherwise the profile that the environment
 * names. -EINVAL: this profile does not exist. */
must_check int chain_profile(const struct key_settings *settings, struct profile *ret,
	struct far_error *ret_error);
/* Fetches credentials from the first origin that is configured. If only_look is true,
 * only checks files and settings: asks no service and runs no program. */
must_check int chain_fetch(const struct key_settings *settings, bool only_look,
	struct credentials *ret, struct far_error *ret_error);

must_check int container_credentials(
	struct credentials *ret, struct far_error *ret_error);
must_check int machine_credentials(struct credentials *ret, struct far_error *ret_error);
must_check int google_credentials(struct credentials *ret, struct far_error *ret_error);

/* A web identity: Amazon's service STS gives credentials for the token in a file. */
struct identity {
	const char *role, *session, *file;
};

must_check int identity_credentials(const struct identity *identity, const char *region,
	struct credentials *ret, struct far_error *ret_error);
must_check int process_credentials(
	const char *command, struct credentials *ret, struct far_error *ret_error);

/* Returns the value of the environment variable; NULL: it is not set, or empty. */
char *variable(const char *name);
/* Reads credentials from a JSON object that has the field AccessKeyId and related ones.
 * token_name: name of the field with the token. from: origin of the credentials, for
 * messages. */
must_check int credentials_of_json(const char *text, const char *token_name,
	const char *from, struct credentials *ret, struct far_error *ret_error);

/* --- the credentials of one place -------------------------------------------------- */

struct keyring;

/* Copies the settings. Returns 0 or -ENOMEM. */
must_check int keyring_new(const struct key_settings *settings, struct keyring **ret);
/* Copies the present credentials for one request. If they are about to expire, or a
 * server has refused them, first fetches others, which may take long. *ret_edition: a
 * number that identifies the copied credentials. */
must_check int keyring_take(struct keyring *keyring, struct credentials *ret,
	uint64_t *ret_edition, struct far_error *ret_error);
/* Notes that a server refused the credentials with this number. One of the next calls of
 * keyring_take fetches others. */
void keyring_refused(struct keyring *keyring, uint64_t edition);
/* Returns the seconds until the renewal of credentials that expire in left_s. */
int64_t renewal_s(int64_t left_s);
