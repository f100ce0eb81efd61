// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* nodes URL SOCKET NODES: measures the load of NODES nodes on the Redis server that connects them.
 * URL is the server's address, and SOCKET its Unix socket. Each node has one rank of one training,
 * and runs its coordinator (src/coord) without a daemon. First each rank reads 100 samples a
 * second; then all ranks are idle. The server tells its CPU time, the calls of the function
 * library, and how often it read from a socket (round trips). */

#include "base/clock.h"
#include "base/ensure.h"
#include "coord/coord.h"
#include "coord/coord_resp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef HAVE_HIREDIS

int main(void)
{
	fprintf(stderr, "built without hiredis\n");
	return 1;
}

#else

#include "redis_info.h"

#define TTL_NS (5 * SECOND_NS)
#define RATE 100		  /* samples per second and rank */
#define OFTEN_NS (SECOND_NS / 10) /* interval between two advances of the readers */
#define EACH 20000 /* samples of each rank in an epoch; the measurement reads fewer */
#define READING_S 10
#define QUIET_S 40
#define IDLE_S 20

struct node {
	struct coord *coord;
	struct coord_resp *resp;
	uint32_t rank;
	uint32_t fed, consumed;
	uint64_t due_ns;
};

struct count {
	double calls, trips;
	double cpu; /* seconds */
};

static int fed(void *context, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t base, const sample_id *ids, uint32_t n)
{
	struct node *node = context;
	(void)job, (void)rank, (void)epoch, (void)ids;
	node->fed = base + n;
	return 0;
}

static void lost(void *context, const char *job, uint32_t rank)
{
	(void)context, (void)job;
	fprintf(stderr, "rank %" PRIu32 " was lost\n", rank);
}

static uint32_t known(void *context, const char *job)
{
	(void)context, (void)job;
	return 0;
}

static uint32_t tail(
	void *context, struct coord_tail *tail, sample_id *ids, uint32_t most)
{
	(void)context, (void)tail, (void)ids, (void)most;
	return 0;
}

static void forget(void *context, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t base, uint32_t n)
{
	(void)context, (void)job, (void)rank, (void)epoch, (void)base, (void)n;
}

static void begin(struct node *node, const char *url, const struct coord_job *job)
{
	char message[COORD_TEXT];
	struct coord_options options = {
		.self = {.incarnation = node->rank + 1, .capacity = 1},
		.ttl_ns = TTL_NS,
		.seed = node->rank + 1,
		.calls = {.context = node,
			.fed = fed,
			.lost = lost,
			.known = known,
			.tail = tail,
			.forget = forget}};
	snprintf(options.self.name, COORD_NAME, "node%" PRIu32, node->rank);
	ensure(coord_resp_new(&(struct coord_server){.url = url}, "bench", 10000,
		       &node->resp, message) == 0);
	ensure(coord_new(&options, coord_resp_engine(node->resp), &node->coord) == 0);
	ensure(coord_add_job(node->coord, job) == 0);
	ensure(coord_take_rank(node->coord, job->name, node->rank, 0, 0) == 0);
}

/* Calls each node's coordinator when the coordinator is due, and when the readers have read on.
 * src/group does the same. */
static void run(struct node *nodes, uint32_t n, double seconds, uint32_t rate)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t end_ns = now_ns + (uint64_t)(seconds * 1e9), begin_ns = now_ns;
	uint64_t next_ns = now_ns;
	uint32_t steps = 0;
	while ((now_ns = clock_now_ns()) < end_ns) {
		bool read = rate && now_ns >= next_ns;
		for (uint32_t i = 0; i < n; i++) {
			struct node *node = &nodes[i];
			if (read) {
				uint32_t to = node->consumed + rate / 10;
				node->consumed = to < node->fed ? to : node->fed;
				ensure(coord_commit(node->coord, "job", node->rank, 0,
					       node->consumed) == 0);
			}
			if (read || now_ns >= node->due_ns)
				node->due_ns = coord_step(node->coord, clock_now_ns());
		}
		if (read)
			next_ns = begin_ns + ++steps * OFTEN_NS;
		usleep(1000);
	}
}

static struct count count(redisContext *link)
{
	return (struct count){
		.calls = redis_info(link, "commandstats", "cmdstat_fcall:", "calls="),
		.trips = redis_info(link, "stats", "total_reads_processed", ":"),
		.cpu = redis_cpu(link)};
}

static void measure(redisContext *link, struct node *nodes, uint32_t n, const char *what,
	double seconds, uint32_t rate)
{
	uint64_t before = 0, after = 0, begin_ns = clock_now_ns();
	struct count was = count(link);
	for (uint32_t i = 0; i < n; i++)
		before += nodes[i].consumed;
	run(nodes, n, seconds, rate);
	for (uint32_t i = 0; i < n; i++)
		after += nodes[i].consumed;
	struct count is = count(link);
	double took = (double)(clock_now_ns() - begin_ns) / 1e9;
	printf("%6" PRIu32 " %8s %12.0f %10.1f %12.2f %12.2f %10.1f %%\n", n, what,
		(double)(after - before) / took, (is.calls - was.calls) / took,
		(is.calls - was.calls) / took / n, (is.trips - was.trips) / took / n,
		100 * (is.cpu - was.cpu) / took);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint32_t n = argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
	if (n < 1 || n > COORD_RANKS) {
		fprintf(stderr, "usage: nodes URL SOCKET NODES\n");
		return 2;
	}
	struct node *nodes = calloc(n, sizeof(*nodes));
	roaring_bitmap_t *samples = roaring_bitmap_from_range(0, (uint64_t)EACH * n, 1);
	const struct coord_job job = {.name = "job",
		.dataset = "photos",
		.ids = samples,
		.ranks = n,
		.batch = 32 * n};
	redisContext *link = redisConnectUnix(argv[2]);
	ensure(nodes && samples && link && !link->err);
	for (uint32_t i = 0; i < n; i++) {
		nodes[i].rank = i;
		begin(&nodes[i], argv[1], &job);
	}
	/* Lets the nodes join and draw the first samples. */
	run(nodes, n, 3.0 * (double)TTL_NS / 1e9, 0);
	measure(link, nodes, n, "read", READING_S, RATE);
	run(nodes, n, QUIET_S, 0);
	measure(link, nodes, n, "idle", IDLE_S, 0);
	for (uint32_t i = 0; i < n; i++) {
		coord_free(&nodes[i].coord);
		coord_resp_free(&nodes[i].resp);
	}
	redisFree(link);
	roaring_bitmap_free(samples);
	free(nodes);
	return 0;
}

#endif
