// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* coord URL SOCKET: measures the costs of appending 128 samples for each rank to the log
 * (src/coord), and of reading them. The nodes share their draws in this log, on a Redis server. URL
 * is the server's address, and SOCKET its Unix socket. Prints the server's time (INFO
 * commandstats), and its CPU time including the network. */

#include "base/ensure.h"
#include "coord/coord_resp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HAVE_HIREDIS

int main(void)
{
	fprintf(stderr, "built without hiredis\n");
	return 1;
}

#else

#include "redis_info.h"

#define IDS 128
#define ROUNDS 2000
#define MOST_RANKS 64

static double usec_of(redisContext *link, const char *line)
{
	return redis_info(link, "commandstats", line, "usec=");
}

static void begin(const struct coord_engine *engine, const struct coord_job *job,
	struct coord_view *view, struct coord_token *token)
{
	struct coord_node self = {.name = "node", .incarnation = 1, .capacity = 1};
	char differs[COORD_TEXT];
	ensure(engine->beat(engine->context,
		       &(struct coord_beat){.self = &self, .ttl_ms = 600000}, view) == 0);
	ensure(engine->elect(engine->context, &self, 2, 600000, token) == 0);
	ensure(engine->ready(engine->context, view->run, token) == 0);
	ensure(engine->enter(engine->context, self.name, job, differs) == 0);
}

static sample_id ids[MOST_RANKS][IDS];

static void append(const struct coord_engine *engine, const struct coord_job *job,
	const struct coord_view *view, const struct coord_token *token, uint32_t i)
{
	uint32_t ranks = job->ranks;
	struct coord_append to = {.job = job->name,
		.base = i * IDS * ranks,
		.count = IDS * ranks,
		.ranks = ranks,
		.batch = IDS * ranks,
		.ids = ids[0]};
	for (uint32_t k = 0; k < IDS * ranks; k++)
		ids[k / IDS][k % IDS] = i * ranks * IDS + k;
	ensure(engine->append(engine->context, view->run, token, &to) == 0);
}

/* Reads the samples of all ranks by one call, as a node does that has all ranks. */
static void read_back(const struct coord_engine *engine, const struct coord_job *job,
	const struct coord_view *view, uint32_t i)
{
	struct coord_read reads[MOST_RANKS];
	for (uint32_t r = 0; r < job->ranks; r++)
		reads[r] = (struct coord_read){.job = job->name,
			.rank = r,
			.ranks = job->ranks,
			.batch = job->batch,
			.from = i * IDS,
			.most = IDS,
			.ids = ids[r]};
	ensure(engine->read(engine->context, view->run, reads, job->ranks) == 0);
	for (uint32_t r = 0; r < job->ranks; r++)
		ensure(reads[r].ret_n == IDS);
}

static void measure(const struct coord_engine *engine, redisContext *link, uint32_t ranks)
{
	char name[16];
	snprintf(name, sizeof(name), "job%" PRIu32, ranks);
	roaring_bitmap_t *samples =
		roaring_bitmap_from_range(0, (uint64_t)ROUNDS * IDS * ranks, 1);
	struct coord_job job = {.name = name,
		.dataset = "photos",
		.ids = samples,
		.ranks = ranks,
		.batch = IDS * ranks};
	struct coord_view view;
	struct coord_token token;
	begin(engine, &job, &view, &token);

	double cpu = redis_cpu(link);
	double append_us = usec_of(link, "cmdstat_fcall:");
	double read_us =
		usec_of(link, "cmdstat_xrange:") + usec_of(link, "cmdstat_getrange:");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		append(engine, &job, &view, &token, i);
		read_back(engine, &job, &view, i);
	}
	cpu = redis_cpu(link) - cpu;
	append_us = usec_of(link, "cmdstat_fcall:") - append_us;
	read_us = usec_of(link, "cmdstat_xrange:") + usec_of(link, "cmdstat_getrange:") -
		  read_us;
	double n = (double)ROUNDS * ranks;
	printf("%6" PRIu32 " %12.2f %12.2f %12.2f\n", ranks, append_us / n, read_us / n,
		cpu * 1e6 / n);
	roaring_bitmap_free(samples);
}

int main(int argc, char **argv)
{
	char message[COORD_TEXT];
	struct coord_resp *resp;
	if (argc != 3) {
		fprintf(stderr, "usage: coord URL SOCKET\n");
		return 2;
	}
	if (coord_resp_new(&(struct coord_server){.url = argv[1]}, "bench", 10000, &resp,
		    message)) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	redisContext *link = redisConnectUnix(argv[2]);
	ensure(link && !link->err);
	printf("us of the engine per %d samples and rank\n", IDS);
	printf(" ranks       append         read    both, CPU\n");
	for (uint32_t ranks = 1; ranks <= MOST_RANKS; ranks *= 4)
		measure(coord_resp_engine(resp), link, ranks);
	redisFree(link);
	coord_resp_free(&resp);
	return 0;
}

#endif
