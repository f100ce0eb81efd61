// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/rng.h"
#include "far/far_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* Tries again after transient errors. The callers of far_read do this themselves. */

#define MOST_TRIES 6
#define DENIED_TRIES 2 /* the second try uses new credentials */
#define FIRST_WAIT_NS UINT64_C(100000000)
#define SLICE_NS UINT64_C(100000000) /* pause between two checks for far_stop */

/* Returns the time to wait before the next try. This time doubles with each try. Half of it is
 * random, so that many threads do not try at once. It is at least the pause that the server asks
 * for. */
static uint64_t wait_ns(unsigned tried, const struct far_error *error)
{
	struct rng rng;
	uint64_t wait = FIRST_WAIT_NS << tried;
	rng_seed(&rng, rng_mix(clock_now_ns(), (uintptr_t)error));
	wait = wait / 2 + rng_below(&rng, wait / 2);
	return wait > error->retry_ns ? wait : error->retry_ns;
}

bool far_tries_again(unsigned tried, const struct far_error *error)
{
	const struct timespec slice = {.tv_nsec = (long)SLICE_NS};
	if (!error->passing || tried + 1 >= (error->denied ? DENIED_TRIES : MOST_TRIES))
		return false;
	uint64_t until = clock_now_ns() + wait_ns(tried, error);
	while (clock_now_ns() < until && !transfer_is_stopped())
		nanosleep(&slice, NULL);
	return !transfer_is_stopped();
}

int far_read_again(const struct far_object *object, uint64_t offset, uint64_t bytes,
	uint8_t *ret, struct far_error *error)
{
	for (unsigned tried = 0;; tried++) {
		int err = far_read(object, offset, bytes, ret, error);
		if (!err || !far_tries_again(tried, error))
			return err;
	}
}

int far_text(struct far_object *object, size_t most, char **ret, struct far_error *error)
{
	uint8_t first[1];
	size_t n = sizeof(first);
	*ret = NULL;
	int err = far_look(object, first, &n, error);
	if (err)
		return err;
	if (object->bytes > most)
		return far_fail(error, -EFBIG,
			"found %" PRIu64 " bytes, allowed: at most %zu", object->bytes,
			most);
	char *text = malloc(object->bytes + 1);
	if (!text)
		return far_no_memory(error);
	err = far_read_again(object, 0, object->bytes, (uint8_t *)text, error);
	text[err ? 0 : object->bytes] = '\0';
	if (err)
		free(text);
	else
		*ret = text;
	return err;
}
