// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

/*
 * Finds credentials for a place (struct far_place) where Amazon's tools look: in the environment, a
 * web identity, a profile, the service for programs in containers (such as Docker's), the service
 * of the cloud's virtual machine. A *keyring* has the present credentials of one place.
 *
 *   Threads: those that make transfers. One fetches credentials, while others use the old ones.
 *   Locks: one per keyring; not held during a fetch.
 *   Errors: 0 or -errno, with a message that shows no secret.
 */

struct credentials {
	char *key_id;
	char *secret;
	char *token;	 /* token of a temporary session; NULL: the key needs none */
	char *bearer;	 /* token that is used instead of the fields above; NULL: none */
	int64_t expires; /* seconds since 1970; 0: never, or not known */
	bool read_anew;	 /* from a file or a program; fetched again every minute */
};

void credentials_free(struct credentials *credentials);
/* Leaves *ret empty after -ENOMEM. */
must_check int credentials_copy(
	const struct credentials *credentials, struct credentials *ret);

/* A profile from Amazon's files (credentials and config). NULL: both files lack the field. */
struct profile {
	union {
		struct {
			char *key_id, *secret, *token;
			char *process;
			/* A web identity. role: ARN of the role. session: name of the session.
			 * identity: path of the token's file. */
			char *role, *session, *identity;
			char *other_role, *sso; /* not supported: these cause an error */
			char *region, *endpoint, *addressing;
		};
		char *texts[12]; /* all fields above */
	};
	bool found;
};

void profile_free(struct profile *profile);
/* Fills fields that are still NULL from a section of the ini `text`. Changes `text`. -ENOMEM */
must_check int profile_read(struct profile *profile, char *text, const char *section);

/* A user's settings. If a field is NULL, the environment decides. */
struct key_settings {
	const char *file; /* path of the file with profiles */
	const char *profile;
	const char *region; /* region of the service STS, for a web identity */
	bool google;	    /* Google's HMAC keys, or a token of the service account */
};

/* Reads the first line of a file; the caller frees *ret. NULL: the file does not exist. If
 * `private` is true, -EINVAL: the file does not exist, or others than its owner have access to
 * it. */
must_check int credentials_line(
	const char *path, bool private, char **ret, struct far_error *ret_error);

/* Reads the profile that the settings choose, otherwise the profile that the environment chooses.
 * -EINVAL: there is no such profile. */
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
/* Reads AccessKeyId and related fields of a JSON object. token_name: the field with the token.
 * from: origin of the credentials, for messages. */
must_check int credentials_of_json(const char *text, const char *token_name,
	const char *from, struct credentials *ret, struct far_error *ret_error);

struct keyring;

/* Makes a keyring with a copy of the settings. Returns 0 or -ENOMEM. */
must_check int keyring_new(const struct key_settings *settings, struct keyring **ret);
/* Copies the present credentials for one request. If they expire soon, or were refused by a server,
 * first fetches others, which may take long. *ret_edition identifies the copy. */
must_check int keyring_take(struct keyring *keyring, struct credentials *ret,
	uint64_t *ret_edition, struct far_error *ret_error);
/* Notes that a server refused this edition's credentials. A later keyring_take fetches others. */
void keyring_refused(struct keyring *keyring, uint64_t edition);
/* Returns the seconds until the renewal of credentials. left_s: seconds until the credentials
 * expire. */
int64_t renewal_s(int64_t left_s);
