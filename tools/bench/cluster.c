// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Measures costs of several nodes. All figures are the best of several repetitions.
 *
 *   fetching   the CPU time, of both ends and the kernel, and the elapsed time, to send a tensor of
 *              150 KB from memory to another daemon over loopback: without TLS, and with TLS, each
 *              for several numbers of concurrent requests
 *   homes      the time in which one thread finds the home of a sample
 *   dividing   the time in which one thread divides a global mini-batch
 */

#include "base/clock.h"
#include "base/ensure.h"
#include "base/rng.h"
#include "place/locality.h"
#include "peer/peer.h"
#include "place/place.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TENSOR_BYTES (224u * 224 * 3)
#define TENSORS 64
#define ROUNDS 15
#define FETCHES 1600 /* fetches in one repetition */
#define HOMES 500000

static uint8_t tensors[TENSORS][TENSOR_BYTES];

static void asked(void *context, struct peer_request *request,
	const struct peer_space *space, sample_id sample)
{
	const struct peer_tensor tensor = {.head = &sample,
		.head_bytes = sizeof(sample),
		.bytes = tensors[sample],
		.length = TENSOR_BYTES};
	(void)context, (void)space;
	peer_answer(request, &tensor);
}

struct batch {
	uint8_t *places[TENSORS]; /* memory for the tensor of each fetch */
	atomic_int missing;	  /* number of fetches that have not ended */
	sem_t done;
};

struct fetch {
	struct batch *batch;
	int slot;
};

static void *place_for(
	void *context, const void *head, size_t head_bytes, uint64_t length)
{
	const struct fetch *fetch = context;
	(void)head, (void)head_bytes;
	return length == TENSOR_BYTES ? fetch->batch->places[fetch->slot] : NULL;
}

static void done(void *context, int err)
{
	const struct fetch *fetch = context;
	ensure(err == 0);
	if (atomic_fetch_sub(&fetch->batch->missing, 1) == 1)
		sem_post(&fetch->batch->done);
}

static void fetch_batch(struct peer_client *client, const struct peer_fetch *like,
	struct fetch *fetches, int n)
{
	struct batch *batch = fetches[0].batch;
	atomic_store(&batch->missing, n);
	for (int i = 0; i < n; i++) {
		struct peer_fetch fetch = *like;
		fetch.sample = (sample_id)i;
		fetch.context = &fetches[i];
		ensure(peer_fetch(client, &fetch) == 0);
	}
	while (sem_wait(&batch->done) != 0) {
	}
}

/* Measures the microseconds of CPU and of elapsed time per tensor, with n concurrent fetches. */
static void time_batches(struct peer_client *client, const struct peer_fetch *like, int n,
	double *ret_cpu, double *ret_time)
{
	static struct batch batch;
	static struct fetch fetches[TENSORS];
	sem_init(&batch.done, 0, 0);
	*ret_cpu = *ret_time = 1e9;
	for (int i = 0; i < n; i++) {
		fetches[i] = (struct fetch){.batch = &batch, .slot = i};
		if (!batch.places[i])
			batch.places[i] = calloc(1, TENSOR_BYTES);
		ensure(batch.places[i]);
	}
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), time = clock_now_ns();
		for (int i = 0; i < FETCHES / n; i++)
			fetch_batch(client, like, fetches, n);
		double us = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1000 /
			    FETCHES;
		double wall = (double)(clock_now_ns() - time) / 1000 / FETCHES;
		*ret_cpu = us < *ret_cpu ? us : *ret_cpu;
		*ret_time = wall < *ret_time ? wall : *ret_time;
	}
	sem_destroy(&batch.done);
}

static void bench_transfer(struct peer_trust *trust, const char *words)
{
	const struct peer_self a = {.name = "a", .trust = trust};
	const struct peer_self b = {.name = "b", .trust = trust};
	const struct peer_server_calls calls = {.asked = asked};
	const struct peer_space space = {.dataset = "photos", .preparation = "crop 224"};
	struct peer_fetch fetch = {
		.deadline_ns = UINT64_MAX, .place_for = place_for, .done = done};
	const int batches[] = {1, 8, 64};
	struct peer_server *server;
	struct peer_client *client;
	ensure(peer_server_new("127.0.0.1:0", &b, &calls, &server) == 0);
	ensure(peer_client_new(&a, TENSOR_BYTES, &client) == 0);
	ensure(peer_client_node(client, "b", peer_server_address(server), &fetch.node) ==
		0);
	ensure(peer_client_space(client, &space, &fetch.space) == 0);
	for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
		double cpu, time;
		time_batches(client, &fetch, batches[i], &cpu, &time);
		printf("  %-24s %2d at once %8s %9.1f %9.1f\n", words, batches[i], "",
			cpu, time);
	}
	peer_client_free(&client);
	peer_server_stop(server);
	peer_server_free(&server);
}

/* Writes the secret to a temporary file, because peer_trust_new reads it from a file. */
static struct peer_trust *make_trust(bool is_plain)
{
	static const char secret[] = "the nodes of the benchmark know it";
	char path[] = "/tmp/joaderfs-bench.XXXXXX";
	const struct peer_trust_files files = {.secret = path, .is_plain = is_plain};
	struct peer_trust *trust;
	int fd = mkstemp(path);
	ensure(fd >= 0 && write(fd, secret, sizeof(secret)) == (ssize_t)sizeof(secret));
	close(fd);
	ensure(peer_trust_new(&files, &trust) == 0);
	unlink(path);
	return trust;
}

static void bench_peer(void)
{
	struct peer_trust *plain = make_trust(true), *tls = make_trust(false);
	for (int i = 0; i < TENSORS; i++)
		memset(tensors[i], i, TENSOR_BYTES);
	printf("%u bytes from node to node, us each   %9s %9s\n", TENSOR_BYTES, "CPU",
		"time");
	bench_transfer(plain, "encrypt = no");
	bench_transfer(tls, access("/proc/net/tls_stat", F_OK) ? "TLS" : "kernel TLS");
	peer_trust_free(&plain);
	peer_trust_free(&tls);
}

static void bench_place(uint32_t n, bool equal)
{
	static struct place_node nodes[256];
	struct place *place;
	double best = 1e9;
	uint32_t sum = 0;
	for (uint32_t i = 0; i < n; i++)
		nodes[i] = (struct place_node){.hash = place_hash(&i, sizeof(i)),
			.capacity = equal ? 1 : (double)(1u << i % 3) / 2};
	ensure(place_new(nodes, n, &place) == 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = clock_now_ns();
		for (sample_id s = 0; s < HOMES / n; s++)
			sum += place_home(place, 1, s);
		double ns = (double)(clock_now_ns() - begin) / (HOMES / n);
		best = ns < best ? ns : best;
	}
	place_free(&place);
	ensure(n == 1 || sum > 0); /* keeps the compiler from removing the sum */
	printf("  %3u nodes, %s %32.0f\n", n,
		equal ? "equal capacities    " : "three capacities    ", best);
}

static void bench_locality(uint32_t nodes, uint32_t ranks, uint32_t b)
{
	uint32_t n = ranks * b;
	auto_free uint32_t *sample_node = calloc(n, sizeof(*sample_node));
	auto_free uint32_t *rank_node = calloc(ranks, sizeof(*rank_node));
	auto_free uint32_t *rank_count = calloc(ranks, sizeof(*rank_count));
	auto_free uint32_t *rank = calloc(n, sizeof(*rank));
	struct rng rng;
	double best = 1e9;
	ensure(sample_node && rank_node && rank_count && rank);
	rng_seed(&rng, 1);
	for (uint32_t r = 0; r < ranks; r++) {
		rank_node[r] = r * nodes / ranks;
		rank_count[r] = b;
	}
	for (uint32_t i = 0; i < n; i++)
		sample_node[i] = (uint32_t)rng_below(&rng, nodes);
	const struct locality_batch batch = {.sample_node = sample_node,
		.n_samples = n,
		.rank_node = rank_node,
		.rank_count = rank_count,
		.n_ranks = ranks,
		.n_nodes = nodes};
	for (int round = 0; round < 3 * ROUNDS; round++) {
		uint64_t begin = clock_now_ns();
		ensure(locality_assign(&batch, rank) == 0);
		double us = (double)(clock_now_ns() - begin) / 1000;
		best = us < best ? us : best;
	}
	printf("  %3u nodes, %4u ranks, %3u each %22.0f us, %.0f ns a sample\n", nodes,
		ranks, b, best, best * 1000 / n);
}

int main(void)
{
	bench_peer();
	printf("the home of a sample, ns\n");
	bench_place(4, true);
	bench_place(16, true);
	bench_place(16, false);
	bench_place(256, true);
	bench_place(256, false);
	printf("who takes which sample of a global mini-batch\n");
	bench_locality(4, 8, 32);
	bench_locality(16, 64, 32);
	bench_locality(256, 1024, 32);
	bench_locality(256, 1024, 128);
	return 0;
}
