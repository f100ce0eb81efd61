// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "far/credentials.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "far/far_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * A keyring holds the credentials for one place. Some time before they expire, one thread fetches
 * new ones without the lock. Other threads wait only if there are no old ones.
 *
 *     none, or expired --> fetched --> due for renewal --> fetched ...
 *                            |  refused by a server  ^
 */

#define FIRST_AGAIN_NS SECOND_NS      /* least pause between two fetches */
#define READ_ANEW_NS (60 * SECOND_NS) /* pause between fetches if read_anew */
#define SLICE_NS 200000000	      /* pause between two checks for far_stop */

struct keyring {
	struct lock lock;
	pthread_cond_t cond; /* signalled when a fetch has ended */
	char *file, *profile, *region;
	struct key_settings settings; /* points to the strings above */
	struct credentials now;	      /* (lock) */
	uint64_t edition;	      /* (lock) number of fetches that gave credentials */
	bool fetching;		      /* (lock) */
	bool refused;		      /* (lock) a server has refused `now` */
	uint64_t tried_ns;	/* (lock) end of the last fetch; 0: there was none */
	uint64_t renew_ns;	/* (lock) time of the next fetch; UINT64_MAX: never */
	uint64_t end_ns;	/* (lock) time when `now` expires; UINT64_MAX: never */
	int err;		/* (lock) result of the last fetch */
	struct far_error error; /* (lock) error of the last fetch */
};

static void wipe(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

void credentials_free(struct credentials *credentials)
{
	wipe(&credentials->key_id);
	wipe(&credentials->secret);
	wipe(&credentials->token);
	wipe(&credentials->bearer);
	*credentials = (struct credentials){0};
}

static bool copy(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

int credentials_copy(const struct credentials *credentials, struct credentials *ret)
{
	*ret = *credentials;
	bool good = copy(credentials->key_id, &ret->key_id);
	good = copy(credentials->secret, &ret->secret) && good;
	good = copy(credentials->token, &ret->token) && good;
	good = copy(credentials->bearer, &ret->bearer) && good;
	if (good)
		return 0;
	credentials_free(ret);
	return -ENOMEM;
}

int64_t renewal_s(int64_t left_s)
{
	int64_t before_s = left_s / 4 < 300 ? left_s / 4 : 300;
	return left_s <= 0 ? 0 : left_s - before_s;
}

static void set_times_locked(struct keyring *keyring, uint64_t now_ns)
{
	lock_assert_held(&keyring->lock);
	const struct credentials *now = &keyring->now;
	int64_t left_s = now->expires - (int64_t)time(NULL);
	keyring->renew_ns = keyring->end_ns = UINT64_MAX;
	if (now->expires) {
		keyring->renew_ns = now_ns + (uint64_t)renewal_s(left_s) * SECOND_NS;
		keyring->end_ns =
			now_ns + (uint64_t)(left_s > 0 ? left_s : 0) * SECOND_NS;
	} else if (now->read_anew) {
		keyring->renew_ns = now_ns + READ_ANEW_NS;
	}
}

static bool is_due_locked(const struct keyring *keyring, uint64_t now_ns)
{
	lock_assert_held(&keyring->lock);
	bool soon = keyring->tried_ns && now_ns - keyring->tried_ns < FIRST_AGAIN_NS;
	if (keyring->fetching)
		return false;
	return !keyring->tried_ns || (!soon && (keyring->err || keyring->refused ||
						       now_ns >= keyring->renew_ns));
}

static bool is_usable_locked(const struct keyring *keyring, uint64_t now_ns)
{
	lock_assert_held(&keyring->lock);
	return keyring->edition > 0 && now_ns < keyring->end_ns;
}

static void end_fetch_locked(struct keyring *keyring, struct credentials *fetched,
	int err, const struct far_error *error)
{
	lock_assert_held(&keyring->lock);
	uint64_t now_ns = clock_now_ns();
	keyring->fetching = false;
	keyring->refused = false;
	keyring->tried_ns = now_ns;
	keyring->err = err;
	keyring->error = *error;
	if (!err) {
		struct credentials before = keyring->now;
		keyring->now = *fetched;
		*fetched = before;
		keyring->edition++;
		set_times_locked(keyring, now_ns);
	}
	pthread_cond_broadcast(&keyring->cond);
}

static void fetch(struct keyring *keyring)
{
	struct credentials fetched;
	struct far_error error = {0};
	int err = chain_fetch(&keyring->settings, false, &fetched, &error);
	lock_take(&keyring->lock);
	end_fetch_locked(keyring, &fetched, err, &error);
	bool usable = is_usable_locked(keyring, clock_now_ns());
	lock_release(&keyring->lock);
	credentials_free(&fetched);
	if (err && usable)
		log_warn("%s; joaderfs uses the previous credentials until they expire",
			error.message);
}

static bool begin_fetch(struct keyring *keyring)
{
	LOCK_SCOPE(&keyring->lock);
	bool due = is_due_locked(keyring, clock_now_ns());
	keyring->fetching = keyring->fetching || due;
	return due;
}

static void wait_for_fetch_locked(struct keyring *keyring)
{
	lock_assert_held(&keyring->lock);
	while (keyring->fetching && !is_usable_locked(keyring, clock_now_ns()) &&
		!transfer_is_stopped())
		(void)lock_wait_until(
			&keyring->lock, &keyring->cond, clock_now_ns() + SLICE_NS);
}

/* Sets the error of a request for which there are no credentials, and returns it. The error is
 * transient, because the object becomes readable once there are credentials. */
static int fail_without_locked(const struct keyring *keyring, struct far_error *error)
{
	lock_assert_held(&keyring->lock);
	error->passing = true;
	if (transfer_is_stopped())
		return far_fail(error, -EINTR, "the read was interrupted");
	error->denied = true;
	return keyring->err
		       ? far_fail(error, keyring->err, "%s", keyring->error.message)
		       : far_fail(error, -EACCES,
				 "credentials: the previous credentials have expired");
}

int keyring_take(struct keyring *keyring, struct credentials *ret, uint64_t *ret_edition,
	struct far_error *error)
{
	*ret = (struct credentials){0};
	if (begin_fetch(keyring))
		fetch(keyring);
	LOCK_SCOPE(&keyring->lock);
	wait_for_fetch_locked(keyring);
	*ret_edition = keyring->edition;
	if (!is_usable_locked(keyring, clock_now_ns()))
		return fail_without_locked(keyring, error);
	return credentials_copy(&keyring->now, ret) == 0 ? 0 : far_no_memory(error);
}

void keyring_refused(struct keyring *keyring, uint64_t edition)
{
	LOCK_SCOPE(&keyring->lock);
	if (edition == keyring->edition)
		keyring->refused = true;
}

int keyring_new(const struct key_settings *settings, struct keyring **ret)
{
	struct keyring *keyring = calloc(1, sizeof(*keyring));
	*ret = NULL;
	if (!keyring)
		return -ENOMEM;
	bool good = copy(settings->file, &keyring->file);
	good = copy(settings->profile, &keyring->profile) && good;
	good = copy(settings->region, &keyring->region) && good;
	if (!good) {
		free(keyring->file);
		free(keyring->profile);
		free(keyring->region);
		free(keyring);
		return -ENOMEM;
	}
	keyring->settings = (struct key_settings){.file = keyring->file,
		.profile = keyring->profile,
		.region = keyring->region,
		.google = settings->google};
	lock_init(&keyring->lock, LOCK_RANK_FAR, "far keyring");
	condition_init(&keyring->cond);
	*ret = keyring;
	return 0;
}
