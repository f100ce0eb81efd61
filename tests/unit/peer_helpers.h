// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "peer/peer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * A server with tensors whose bytes follow from the sample, and fetches that are compared with
 * them. Tests wait for conditions; PATIENCE is the longest wait on a busy machine.
 */

#define PATIENCE_S 60
#define SECOND UINT64_C(1000000000)
#define NO_SUCH_SAMPLE 4000000000u /* the server refuses this sample with ENOENT */
#define TENSORS_BYTES (6u << 20)
#define MOST_BYTES (64u << 20)

/* Checks the condition again and again, until it holds. */
#define EVENTUALLY(condition)                                                            \
	do {                                                                             \
		uint64_t until_ = clock_now_ns() + PATIENCE_S * SECOND;                  \
		while (!(condition) && clock_now_ns() < until_)                          \
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);         \
		cr_assert(condition);                                                    \
	} while (0)

/* --- the log ----------------------------------------------------------------------------- */

static char log_path[64];

/* Begins a new log without the former messages. */
static inline void log_begin(void)
{
	if (log_path[0])
		unlink(log_path);
	strcpy(log_path, "/tmp/peer_log.XXXXXX");
	int fd = mkstemp(log_path);
	cr_assert(fd >= 0);
	close(fd);
	cr_assert_eq(log_to_file(log_path), 0);
}

static inline void log_end(void)
{
	unlink(log_path);
}

static inline bool logged(const char *text)
{
	char line[1024];
	bool found = false;
	auto_fclose FILE *in = fopen(log_path, "r");
	cr_assert_not_null(in);
	while (!found && fgets(line, sizeof(line), in))
		found = strstr(line, text);
	return found;
}

/* --- tensors ----------------------------------------------------------------------------- */

static inline uint8_t tensor_byte(sample_id sample, uint64_t i)
{
	return (uint8_t)((sample * 2654435761u + i * 40503u) >> 8);
}

/* Returns a length: none, a few bytes, an image, or more than a socket holds. */
static inline uint64_t tensor_length(sample_id sample)
{
	return sample % 97 == 5	  ? 5u << 20
	       : sample % 11 == 3 ? 0
	       : sample % 11 == 4 ? sample % 7
				  : 150528 + sample % 1000;
}

/* --- the server -------------------------------------------------------------------------- */

struct owner {
	struct peer_server *server;
	pthread_mutex_t mutex;
	bool holds; /* the server answers only when the test says so */
	struct peer_request *held[2048]; /* (mutex) */
	sample_id samples[2048];	 /* (mutex) */
	uint32_t n_held;		 /* (mutex) */
	atomic_uint asked, answered, released, wrong_spaces;
	const struct peer_space *expected;
};

/* The memory that an answer holds until it is released. */
struct held_tensor {
	struct owner *owner;
	uint8_t *bytes;
};

static inline void release_tensor(void *context)
{
	struct held_tensor *tensor = context;
	atomic_fetch_add(&tensor->owner->released, 1);
	free(tensor->bytes);
	free(tensor);
}

static inline void answer(
	struct owner *owner, struct peer_request *request, sample_id sample)
{
	struct held_tensor *tensor = calloc(1, sizeof(*tensor));
	uint64_t length = tensor_length(sample);
	if (sample == NO_SUCH_SAMPLE) {
		free(tensor);
		atomic_fetch_add(&owner->answered, 1);
		peer_refuse(request, -ENOENT);
		return;
	}
	cr_assert_not_null(tensor);
	*tensor = (struct held_tensor){.owner = owner, .bytes = malloc(length + 1)};
	for (uint64_t i = 0; i < length; i++)
		tensor->bytes[i] = tensor_byte(sample, i);
	struct peer_tensor answered = {.head = &sample,
		.head_bytes = sizeof(sample),
		.bytes = tensor->bytes,
		.length = length,
		.release = release_tensor,
		.context = tensor};
	atomic_fetch_add(&owner->answered, 1);
	peer_answer(request, &answered);
}

static inline void owner_asked(void *context, struct peer_request *request,
	const struct peer_space *space, sample_id sample)
{
	struct owner *owner = context;
	const struct peer_space *expected = owner->expected;
	if (expected && (strcmp(space->dataset, expected->dataset) != 0 ||
				strcmp(space->preparation, expected->preparation) != 0 ||
				space->fingerprint != expected->fingerprint))
		atomic_fetch_add(&owner->wrong_spaces, 1);
	pthread_mutex_lock(&owner->mutex);
	bool holds = owner->holds;
	if (holds) {
		cr_assert_lt(owner->n_held, 2048);
		owner->samples[owner->n_held] = sample;
		owner->held[owner->n_held++] = request;
	}
	pthread_mutex_unlock(&owner->mutex);
	atomic_fetch_add(&owner->asked, 1);
	if (!holds)
		answer(owner, request, sample);
}

/* Answers the held requests, the last one first. */
static inline void answer_held(struct owner *owner)
{
	for (;;) {
		pthread_mutex_lock(&owner->mutex);
		uint32_t n = owner->n_held;
		struct peer_request *request = n ? owner->held[n - 1] : NULL;
		sample_id sample = n ? owner->samples[n - 1] : 0;
		owner->n_held -= n > 0;
		pthread_mutex_unlock(&owner->mutex);
		if (!request)
			return;
		answer(owner, request, sample);
	}
}

static inline void hold(struct owner *owner, bool holds)
{
	pthread_mutex_lock(&owner->mutex);
	owner->holds = holds;
	pthread_mutex_unlock(&owner->mutex);
}

static const struct peer_space photos = {
	.dataset = "photos", .preparation = "resize 256 crop 224", .fingerprint = 77};

static inline struct owner *serve_at(
	const char *name, struct peer_trust *trust, const char *listen)
{
	struct owner *owner = calloc(1, sizeof(*owner));
	struct peer_self self = {.name = name, .incarnation = 11, .trust = trust};
	struct peer_server_calls calls = {.asked = owner_asked, .context = owner};
	cr_assert_not_null(owner);
	pthread_mutex_init(&owner->mutex, NULL);
	owner->expected = &photos;
	cr_assert_eq(peer_server_new(listen, &self, &calls, &owner->server), 0);
	return owner;
}

static inline struct owner *serve(const char *name, struct peer_trust *trust)
{
	return serve_at(name, trust, "127.0.0.1:0");
}

/* Checks that every request was answered, and everything held was released. */
static inline void end_serving(struct owner **owner_)
{
	struct owner *owner = *owner_;
	*owner_ = NULL;
	peer_server_stop(owner->server);
	answer_held(owner);
	peer_server_free(&owner->server);
	cr_assert_eq(owner->asked, owner->answered);
	cr_assert_eq(owner->wrong_spaces, 0);
	pthread_mutex_destroy(&owner->mutex);
	free(owner);
}

/* --- the client -------------------------------------------------------------------------- */

struct asker {
	struct peer_client *client;
	uint32_t node, space;
};

/* A fetch and its result. */
struct got {
	sample_id sample, head;
	bool refuses; /* place_for returns NULL */
	uint8_t *bytes;
	uint64_t length;
	int err;
	atomic_bool done;
};

static inline void *place_got(
	void *context, const void *head, size_t head_bytes, uint64_t length)
{
	struct got *got = context;
	cr_assert_eq(head_bytes, sizeof(got->head));
	memcpy(&got->head, head, sizeof(got->head));
	if (got->refuses)
		return NULL;
	cr_assert_null(got->bytes);
	got->bytes = malloc(length + 1);
	got->length = length;
	return got->bytes;
}

static inline void done_got(void *context, int err)
{
	struct got *got = context;
	cr_assert(!got->done);
	got->err = err;
	got->done = true;
}

static inline struct asker ask_as(
	const char *name, struct peer_trust *trust, const char *node, const char *at)
{
	struct asker asker;
	struct peer_self self = {.name = name, .incarnation = 22, .trust = trust};
	cr_assert_eq(peer_client_new(&self, MOST_BYTES, &asker.client), 0);
	cr_assert_eq(peer_client_node(asker.client, node, at, &asker.node), 0);
	cr_assert_eq(peer_client_space(asker.client, &photos, &asker.space), 0);
	return asker;
}

static inline struct asker ask(const struct owner *owner)
{
	return ask_as("a", NULL, "b", peer_server_address(owner->server));
}

static inline int start_fetch(
	struct asker *asker, struct got *got, sample_id sample, double seconds)
{
	*got = (struct got){.sample = sample, .refuses = got->refuses};
	return peer_fetch(asker->client,
		&(struct peer_fetch){.node = asker->node,
			.space = asker->space,
			.sample = sample,
			.deadline_ns = clock_now_ns() + (uint64_t)(seconds * SECOND),
			.place_for = place_got,
			.done = done_got,
			.context = got});
}

static inline bool is_whole(const struct got *got)
{
	if (got->err || got->head != got->sample ||
		got->length != tensor_length(got->sample))
		return false;
	for (uint64_t i = 0; i < got->length; i++)
		if (got->bytes[i] != tensor_byte(got->sample, i))
			return false;
	return true;
}

/* Fetches a sample. Returns the result of the fetch. */
static inline int fetch_one(struct asker *asker, sample_id sample, double seconds)
{
	struct got got = {0};
	int err = start_fetch(asker, &got, sample, seconds);
	if (err)
		return err;
	EVENTUALLY(got.done);
	if (!got.err)
		cr_assert(is_whole(&got));
	free(got.bytes);
	return got.err;
}
