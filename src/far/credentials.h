// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

/*
 * Finds credentials for requests to a place (struct far_place), in the sources that Amazon's tools
 * use: the environment, a web identity, a profile, the service of the container, the service of the
 * machine. A *keyring* has the present credentials of one place.
 *
 *   credentials.c          the keyring: stores credentials, and renews them before they expire
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
	char *token; /* token of a temporary session; NULL: the key needs none */
	/* bearer token, used instead of key_id, secret and token; or NULL */
	char *bearer;
	/* seconds since 1970; 0: they do not expire, or it is not known when */
	int64_t expires;
	/* the credentials come from a file or a program, and must be read again at times */
	bool read_anew;
};

void credentials_free(struct credentials *credentials);
/* Copies the credentials to *ret. -ENOMEM: *ret is empty. */
must_check int credentials_copy(
	const struct credentials *credentials, struct credentials *ret);

/* A profile, merged from both files of Amazon's tools. A text is NULL if the profile lacks it. */
struct profile {
	char *key_id, *secret, *token;
	char *process;
	/* for a web identity: ARN of the role, name of the session, path of the token's file */
	char *role, *session, *identity;
	/* settings that are not supported, which cause an error */
	char *other_role, *sso;
	char *region, *endpoint, *addressing;
	bool found;
};

void profile_free(struct profile *profile);
/* Adds the fields in a section of the text to the profile, except fields that the profile already
 * has. Changes `text`. -ENOMEM. */
must_check int profile_read(struct profile *profile, char *text, const char *section);

/* A user's settings for the credentials of a place. */
struct key_settings {
	/* path of the file with profiles; NULL: the environment decides */
	const char *file;
	const char *profile; /* name of the profile; NULL: the environment decides */
	const char *region;  /* region of the service STS, for a web identity */
	/* credentials for Google: HMAC keys, or the token of the machine's service account */
	bool google;
};

/* Reads the first line of the file. The caller frees *ret. If the file does not exist, *ret is
 * NULL. private: a missing file is an error, -EINVAL, and so is a file that group or others may
 * access. */
must_check int credentials_line(
	const char *path, bool private, char **ret, struct far_error *ret_error);

/* Reads the profile that the settings or the environment name. -EINVAL: there is no such
 * profile. */
must_check int chain_profile(const struct key_settings *settings, struct profile *ret,
	struct far_error *ret_error);
/* Fetches credentials from the first source that is configured. only_look: only checks the files
 * and settings, but asks no service and runs no program. */
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

/* Returns the environment variable; NULL: it is not set, or empty. */
char *variable(const char *name);
/* Reads the credentials from a JSON object with AccessKeyId and related members. token_name: name
 * of the member with the token. from: name of the source, for messages. */
must_check int credentials_of_json(const char *text, const char *token_name,
	const char *from, struct credentials *ret, struct far_error *ret_error);

/* --- the credentials of one place -------------------------------------------------------- */

struct keyring;

/* Creates a keyring with a copy of the settings. -ENOMEM. */
must_check int keyring_new(const struct key_settings *settings, struct keyring **ret);
/* Returns a copy of the present credentials for one request. *ret_edition is the number of these
 * credentials. If they are about to expire, or a server refused them, first fetches new
 * credentials, which may take long. */
must_check int keyring_take(struct keyring *keyring, struct credentials *ret,
	uint64_t *ret_edition, struct far_error *ret_error);
/* Tells the keyring that a server refused the credentials with the number `edition`. The keyring
 * then fetches new credentials in one of the next calls of keyring_take. */
void keyring_refused(struct keyring *keyring, uint64_t edition);
/* Returns the seconds until credentials must be renewed. left_s: the seconds until they expire. */
int64_t renewal_s(int64_t left_s);
