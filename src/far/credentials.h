// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

/*
 * Finds credentials for a place (struct far_place) in the sources that Amazon's tools
 * use: the environment, a web identity, a profile, the service of the container, the
 * service of the machine. A *keyring* has the present credentials of one place.
 *
 *   credentials.c          the keyring: renews credentials before they expire
 *   credentials_chain.c    tries the sources in order
 *   credentials_file.c     reads files of keys and profiles
 *   credentials_http.c     asks services by HTTP
 *   credentials_process.c  runs the program that a profile names
 *
 *   Threads: those of transfers. One fetches while others use the present credentials.
 *   Locks: one per keyring; not held during a fetch.
 *   Errors: 0 or -errno, with a message that shows no secret.
 */

struct credentials {
	char *key_id;
	char *secret;
	char *token;	 /* of a temporary session; NULL: the key needs none */
	char *bearer;	 /* used instead of the members above; or NULL */
	int64_t expires; /* seconds since 1970; 0: never, or not known */
	bool read_anew;	 /* from a file or program, and read again at times */
};

void credentials_free(struct credentials *credentials);
/* -ENOMEM: *ret is empty. */
must_check int credentials_copy(
	const struct credentials *credentials, struct credentials *ret);

/* Merged from both files of Amazon's tools. NULL: the profile lacks the text. */
struct profile {
	char *key_id, *secret, *token;
	char *process;
	/* web identity: the role's ARN, a name, the token's file */
	char *role, *session, *identity;
	char *other_role, *sso; /* not supported: these cause an error */
	char *region, *endpoint, *addressing;
	bool found;
};

void profile_free(struct profile *profile);
/* Adds fields of the section that the profile does not have yet. Changes `text`.
 * -ENOMEM. */
must_check int profile_read(struct profile *profile, char *text, const char *section);

/* A user's settings. NULL: the environment decides. */
struct key_settings {
	const char *file; /* path of the file with profiles */
	const char *profile;
	const char *region; /* of the service STS, for a web identity */
	bool google;	    /* HMAC keys, or the machine's service account */
};

int no_memory(struct far_error *error); /* -ENOMEM */
/* Reads the first line. The caller frees *ret, which is NULL if the file does not exist.
 * private: -EINVAL if the file is missing, or if group or others may access it. */
must_check int credentials_line(
	const char *path, bool private, char **ret, struct far_error *ret_error);

/* Reads the profile of the settings or the environment. -EINVAL: it does not exist. */
must_check int chain_profile(const struct key_settings *settings, struct profile *ret,
	struct far_error *ret_error);
/* Fetches from the first source that is configured. only_look: checks files and
 * settings, but asks no service and runs no program. */
must_check int chain_fetch(const struct key_settings *settings, bool only_look,
	struct credentials *ret, struct far_error *ret_error);

must_check int container_credentials(
	struct credentials *ret, struct far_error *ret_error);
must_check int machine_credentials(struct credentials *ret, struct far_error *ret_error);
must_check int google_credentials(struct credentials *ret, struct far_error *ret_error);

/* Amazon's service STS gives credentials for the token in a file. */
struct identity {
	const char *role, *session, *file;
};

must_check int identity_credentials(const struct identity *identity, const char *region,
	struct credentials *ret, struct far_error *ret_error);
must_check int process_credentials(
	const char *command, struct credentials *ret, struct far_error *ret_error);

/* NULL: the environment variable is not set, or empty. */
char *variable(const char *name);
/* The JSON object has AccessKeyId and related members, and the token in token_name.
 * from: name of the source, for messages. */
must_check int credentials_of_json(const char *text, const char *token_name,
	const char *from, struct credentials *ret, struct far_error *ret_error);

/* --- the credentials of one place -------------------------------------------------------- */

struct keyring;

must_check int keyring_new(const struct key_settings *settings, struct keyring **ret);
/* Copies the present credentials for one request. If they are about to expire, or a
 * server refused them, first fetches others, which may take long. *ret_edition: their
 * number. */
must_check int keyring_take(struct keyring *keyring, struct credentials *ret,
	uint64_t *ret_edition, struct far_error *ret_error);
/* A server refused the credentials with this number, so one of the next calls of
 * keyring_take fetches others. */
void keyring_refused(struct keyring *keyring, uint64_t edition);
/* Returns the seconds until the renewal of credentials that expire in left_s. */
int64_t renewal_s(int64_t left_s);
