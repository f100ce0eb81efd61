// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

/*
 * Credentials for the requests of a place, where Amazon's tools look for them: the
 * environment, a web identity, a profile, the container's service, the machine's.
 *
 *   credentials.c          keeps them, and renews them before they end
 *   credentials_chain.c    where they come from
 *   credentials_file.c     files of keys and profiles
 *   credentials_http.c     services that give them, by HTTP
 *   credentials_process.c  the program that a profile names
 *
 *   Threads: those of transfers; one fetches while the others use what there is.
 *   Locks: one per keyring; never held while they are fetched.
 *   Errors: 0 or -errno, with a message that shows no secret.
 */

struct credentials {
	char *key_id;
	char *secret;
	char *token;	 /* of a session, or NULL */
	char *bearer;	 /* instead of the others */
	int64_t expires; /* seconds since 1970; 0: it is not known that they end */
	bool read_anew;	 /* a file or a program may have others at any time */
};

void credentials_free(struct credentials *credentials);
/* Adds what is missing: -ENOMEM. */
must_check int credentials_copy(
	const struct credentials *credentials, struct credentials *ret);

/* A profile, of both files. NULL: it is not there. */
struct profile {
	char *key_id, *secret, *token;
	char *process;
	char *role, *session, *identity; /* of a web identity */
	char *other_role, *sso;		 /* what is not supported */
	char *region, *endpoint, *addressing;
	bool found;
};

void profile_free(struct profile *profile);
/* Takes what the section has, unless the profile has it already. */
must_check int profile_read(struct profile *profile, char *text, const char *section);

/* What a user has told of a place. */
struct key_settings {
	const char *file;    /* NULL: those of Amazon's tools */
	const char *profile; /* NULL: as the environment says */
	const char *region;  /* of STS */
	bool google;	     /* keys that are named, or the token of Google's machine */
};

/* *ret: the first line of the file, which the caller frees. private: it has to be there, and
 * nobody else may read it. */
must_check int credentials_line(
	const char *path, bool private, char **ret, struct far_error *ret_error);

/* The profile that the settings, or the environment, name. */
must_check int chain_profile(const struct key_settings *settings, struct profile *ret,
	struct far_error *ret_error);
/* Fetches credentials. only_look: asks no service and runs no program, but finds what is
 * wrong with files and settings. */
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

/* The text of a member of a JSON object, which the caller frees; NULL: there is none. */
char *json_member(const char *text, const char *name);
/* Reads AccessKeyId and so on. from: for the message. */
must_check int credentials_of_json(const char *text, const char *token_name,
	const char *from, struct credentials *ret, struct far_error *ret_error);

/* --- those of one place ------------------------------------------------------------------ */

struct keyring;

/* Copies the settings. */
must_check int keyring_new(const struct key_settings *settings, struct keyring **ret);
/* A copy for one request, and the number of its edition. It may wait for a service. */
must_check int keyring_take(struct keyring *keyring, struct credentials *ret,
	uint64_t *ret_edition, struct far_error *ret_error);
/* A server refuses this edition: the next request has another one, if there is one. */
void keyring_refused(struct keyring *keyring, uint64_t edition);
/* When credentials are to be renewed that end in so many seconds, in seconds from now. */
int64_t renewal_s(int64_t left_s);
