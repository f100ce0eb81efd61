// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Threads fetch tensors from two nodes, while other threads answer the requests late and in any
 * order, and one thread stops a node and starts it again. Each fetch must end once, with all bytes
 * or with an error, and each answer must be released once. The test runs without TLS and with it.
 */

#include "base/clock.h"
#include "base/ensure.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/rng.h"
#include "peer/peer.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FETCHERS 3
#define ANSWERERS 2
#define FETCHES 8000 /* fetches of each thread */
#define BYTES 40000u
#define NODES 2
#define RESTARTS 150

/* The server of a node, and its requests that were not answered yet. */
struct node {
	struct test *test;
	struct peer_server *server;
	char address[64];
	struct lock lock;
	struct peer_request *asked[8192]; /* (lock) */
	sample_id samples[8192];	  /* (lock) */
	uint32_t n;			  /* (lock) */
	atomic_uint n_asked, n_released;
};

struct test {
	struct peer_trust *trust;
	struct node nodes[NODES];
	struct peer_client *client;
	uint32_t number[NODES], space;
	uint8_t bytes[BYTES + 256];
	atomic_uint done, whole, running;
	atomic_bool over;
};

/* --- answers ----------------------------------------------------------------------------- */

static void asked(void *context, struct peer_request *request,
	const struct peer_space *space, sample_id sample)
{
	struct node *node = context;
	ensure(strcmp(space->dataset, "photos") == 0);
	atomic_fetch_add(&node->n_asked, 1);
	LOCK_SCOPE(&node->lock);
	ensure(node->n < 8192);
	node->samples[node->n] = sample;
	node->asked[node->n++] = request;
}

static void released(void *context)
{
	struct node *node = context;
	atomic_fetch_add(&node->n_released, 1);
}

/* Answers one of the waiting requests. Returns false if there is none. */
static bool answer_one(struct node *node, struct rng *rng)
{
	struct test *test = node->test;
	struct peer_request *request = NULL;
	sample_id sample = 0;
	lock_take(&node->lock);
	if (node->n > 0) {
		uint32_t i = (uint32_t)rng_below(rng, node->n);
		request = node->asked[i];
		sample = node->samples[i];
		node->asked[i] = node->asked[--node->n];
		node->samples[i] = node->samples[node->n];
	}
	lock_release(&node->lock);
	if (!request)
		return false;
	const struct peer_tensor tensor = {.head = &sample,
		.head_bytes = sizeof(sample),
		.bytes = test->bytes + sample % 256,
		.length = BYTES,
		.release = released,
		.context = node};
	if (sample % 16 == 0) {
		peer_refuse(request, -ENOENT);
		atomic_fetch_add(&node->n_released, 1);
	} else {
		peer_answer(request, &tensor);
	}
	return true;
}

static void *answer(void *context)
{
	struct test *test = context;
	struct rng rng;
	rng_seed(&rng, 1);
	while (!test->over)
		for (int i = 0; i < NODES; i++)
			if (!answer_one(&test->nodes[i], &rng))
				sched_yield();
	return NULL;
}

/* --- fetches ----------------------------------------------------------------------------- */

struct fetch {
	struct test *test;
	sample_id sample;
	uint8_t bytes[BYTES];
	atomic_bool busy;
};

static void *place_for(
	void *context, const void *head, size_t head_bytes, uint64_t length)
{
	struct fetch *fetch = context;
	ensure(head_bytes == sizeof(fetch->sample) && length == BYTES);
	ensure(memcmp(head, &fetch->sample, head_bytes) == 0);
	return fetch->sample % 32 == 1 ? NULL : fetch->bytes;
}

static void done(void *context, int err)
{
	struct fetch *fetch = context;
	ensure(fetch->busy);
	ensure(err != -ENOENT || fetch->sample % 16 == 0);
	if (!err) {
		ensure(memcmp(fetch->bytes, fetch->test->bytes + fetch->sample % 256,
			       BYTES) == 0);
		atomic_fetch_add(&fetch->test->whole, 1);
	}
	atomic_fetch_add(&fetch->test->done, 1);
	fetch->busy = false;
}

#define AT_ONCE 24

static void *fetch_many(void *context)
{
	struct test *test = context;
	struct fetch *fetches = calloc(AT_ONCE, sizeof(*fetches));
	struct rng rng;
	uint32_t n = 0;
	ensure(fetches);
	rng_seed(&rng, atomic_fetch_add(&test->running, 1));
	while (n < FETCHES) {
		struct fetch *fetch = &fetches[rng_below(&rng, AT_ONCE)];
		if (fetch->busy) {
			sched_yield();
			continue;
		}
		fetch->test = test;
		fetch->sample = (sample_id)rng_below(&rng, 1000);
		fetch->busy = true;
		const struct peer_fetch wanted = {
			.node = test->number[rng_below(&rng, NODES)],
			.space = test->space,
			.sample = fetch->sample,
			.deadline_ns = clock_now_ns() + 1000000 * rng_below(&rng, 2000),
			.place_for = place_for,
			.done = done,
			.context = fetch};
		int err = peer_fetch(test->client, &wanted);
		ensure(err == 0 || err == -EHOSTDOWN);
		if (err)
			fetch->busy = false;
		n += err == 0;
	}
	for (int i = 0; i < AT_ONCE; i++)
		while (fetches[i].busy)
			sched_yield();
	free(fetches);
	atomic_fetch_sub(&test->running, 1);
	return NULL;
}

/* --- nodes ------------------------------------------------------------------------------- */

static void start(struct node *node, const char *name)
{
	const struct peer_self self = {
		.name = name, .incarnation = clock_now_ns(), .trust = node->test->trust};
	const struct peer_server_calls calls = {.asked = asked, .context = node};
	const char *listen = node->address[0] ? node->address : "127.0.0.1:0";
	ensure(peer_server_new(listen, &self, &calls, &node->server) == 0);
	snprintf(node->address, sizeof(node->address), "%s",
		peer_server_address(node->server));
}

static void stop(struct node *node)
{
	uint64_t bytes;
	struct rng rng;
	rng_seed(&rng, 2);
	(void)peer_server_bytes(node->server, "a", &bytes);
	peer_server_stop(node->server);
	while (answer_one(node, &rng)) {
	}
}

static void restart_until_done(struct test *test)
{
	uint64_t bytes;
	struct node *node = &test->nodes[1];
	for (int i = 0; i < RESTARTS && test->done < FETCHERS * FETCHES; i++) {
		uint32_t before = test->done;
		while (test->done < before + FETCHERS * FETCHES / RESTARTS / 2 &&
			test->done < FETCHERS * FETCHES)
			sched_yield();
		stop(node);
		/* A thread may have taken a request that it has not answered yet. */
		while (node->n_released < node->n_asked)
			sched_yield();
		peer_server_free(&node->server);
		start(node, "c");
		ensure(peer_client_bytes(test->client, "c", &bytes));
	}
}

static void prepare(struct test *test)
{
	const struct peer_self self = {.name = "a", .trust = test->trust};
	const struct peer_space space = {.dataset = "photos", .preparation = "crop 224"};
	const char *const names[NODES] = {"b", "c"};
	for (uint32_t i = 0; i < BYTES + 256; i++)
		test->bytes[i] = (uint8_t)(i * 2654435761u >> 24);
	ensure(peer_client_new(&self, BYTES, &test->client) == 0);
	ensure(peer_client_space(test->client, &space, &test->space) == 0);
	for (int i = 0; i < NODES; i++) {
		struct node *node = &test->nodes[i];
		node->test = test;
		lock_init(&node->lock, LOCK_RANK_SCHED, "node");
		start(node, names[i]);
		ensure(peer_client_node(test->client, names[i], node->address,
			       &test->number[i]) == 0);
	}
}

static void go(struct peer_trust *trust)
{
	static struct test test;
	pthread_t fetchers[FETCHERS], answerers[ANSWERERS];
	test = (struct test){.trust = trust};
	prepare(&test);
	for (int i = 0; i < ANSWERERS; i++)
		ensure(pthread_create(&answerers[i], NULL, answer, &test) == 0);
	for (int i = 0; i < FETCHERS; i++)
		ensure(pthread_create(&fetchers[i], NULL, fetch_many, &test) == 0);
	restart_until_done(&test);
	for (int i = 0; i < FETCHERS; i++)
		pthread_join(fetchers[i], NULL);
	peer_client_free(&test.client);
	ensure(test.done == FETCHERS * FETCHES);
	for (int i = 0; i < NODES; i++)
		stop(&test.nodes[i]);
	test.over = true;
	for (int i = 0; i < ANSWERERS; i++)
		pthread_join(answerers[i], NULL);
	for (int i = 0; i < NODES; i++) {
		ensure(test.nodes[i].n_released == test.nodes[i].n_asked);
		peer_server_free(&test.nodes[i].server);
		lock_destroy(&test.nodes[i].lock);
	}
	ensure(test.whole > FETCHES / 10);
}

/* NULL: built without OpenSSL */
static struct peer_trust *make_trust(void)
{
	static const char secret[] = "the nodes of the test know it";
	char path[] = "/tmp/joaderfs-stress.XXXXXX";
	const struct peer_trust_files files = {.secret = path};
	struct peer_trust *trust = NULL;
	int fd = mkstemp(path);
	ensure(fd >= 0 && write(fd, secret, sizeof(secret)) == (ssize_t)sizeof(secret));
	close(fd);
	int err = peer_trust_new(&files, &trust);
	ensure(err == 0 || err == -ENOTSUP);
	unlink(path);
	return trust;
}

int main(void)
{
	ensure(log_to_file("/dev/null") == 0);
	go(NULL);
	struct peer_trust *trust = make_trust();
	if (trust)
		go(trust);
	peer_trust_free(&trust);
	return 0;
}
