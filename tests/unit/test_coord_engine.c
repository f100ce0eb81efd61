// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "coord/coord_local.h"
#include "coord/coord_resp.h"
#include "effort.h"
#include "redis_server.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>

/* Both engines give the same answers to all calls. */

#define RANKS 3
#define BATCH 7
#define SAMPLES 40
#define LONG_MS 600000 /* milliseconds; so long that no lease ends by itself */
#define NO_FSYNC "no"  /* a slow sync would delay writes */
#define OPERATIONS effort(1500, 40000)

struct twins {
	struct redis_server server;
	struct coord_local *local;
	struct coord_resp *resp;
	const struct coord_engine *engine[2];
	char run[2][COORD_RUN];
	struct coord_token token[2][3]; /* the newest first */
	uint32_t epoch, next;		/* of the job, as both have it */
	uint32_t offers;		/* of this life */
	bool ready;
	struct rng rng;
	roaring_bitmap_t *ids;
	unsigned counts[21], done[21];
	uint64_t news[2];
	char *jobs[2]; /* the engine's jobs at these news; NULL: not known */
	unsigned no_news;
};

static uint64_t no_time(void *unused)
{
	(void)unused;
	return 1000000000;
}

static uint32_t chance(struct twins *twins, uint32_t n)
{
	return (uint32_t)rng_below(&twins->rng, n);
}

static const struct coord_node *node(unsigned i)
{
	static const struct coord_node nodes[] = {{"node0", 11, "10.0.0.1:70", 1.0, 0, 0},
		{"node1", 12, "[::1]:70", 0.25, 0, 0},
		{"node1", 13, "[::1]:71", 0.25, 12, 0}};
	return &nodes[i];
}

#define BOTH(operation, function, ...)                                                   \
	({                                                                               \
		int errors_[2];                                                          \
		for (int i = 0; i < 2; i++)                                              \
			errors_[i] = twins->engine[i]->function(                         \
				twins->engine[i]->context, __VA_ARGS__);                 \
		cr_assert_eq(errors_[0], errors_[1], #function ": %d, but %d",           \
			errors_[0], errors_[1]);                                         \
		twins->counts[operation]++;                                              \
		twins->done[operation] += errors_[0] == 0;                               \
		errors_[0];                                                              \
	})

/* --- operations ------------------------------------------------------------------------- */

static unsigned some_token(struct twins *twins)
{
	return chance(twins, 5) ? 0 : chance(twins, 3);
}

static char *jobs_text(const struct coord_engine_jobs *jobs)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	for (size_t i = 0; i < jobs->n; i++) {
		const struct coord_engine_job *job = &jobs->jobs[i];
		fprintf(out, "%s %u %u %u %u %u", job->name, job->epoch, job->next,
			job->n, job->ranks, job->batch);
		for (uint32_t r = 0; r < job->ranks; r++)
			fprintf(out, " %u:%u %" PRIx64, job->cursors[r].epoch,
				job->cursors[r].position, job->owners[r]);
		fputc('\n', out);
	}
	fclose(out);
	return text;
}

/* Without news, the jobs must be as they were after the previous beat. */
static void check_news(struct twins *twins, int i, uint64_t news)
{
	struct coord_engine_jobs jobs;
	const struct coord_engine *engine = twins->engine[i];
	cr_assert_eq(engine->jobs(engine->context, twins->run[i], &jobs), 0);
	char *text = jobs_text(&jobs);
	coord_engine_jobs_free(&jobs);
	if (twins->jobs[i] && news == twins->news[i]) {
		cr_assert_str_eq(text, twins->jobs[i], "engine %d", i);
		twins->no_news++;
	}
	free(twins->jobs[i]);
	twins->jobs[i] = text;
	twins->news[i] = news;
}

static void compare_looks(const struct coord_look *a, const struct coord_look *b)
{
	char *one = jobs_text(&a->jobs), *other = jobs_text(&b->jobs);
	cr_assert_str_eq(one, other);
	free(one);
	free(other);
	cr_assert(a->n == b->n && a->live == b->live);
	for (size_t k = 0; k < a->n; k++) {
		const struct coord_node *x = &a->members[k], *y = &b->members[k];
		cr_assert_str_eq(x->name, y->name);
		cr_assert_str_eq(x->address, y->address);
		cr_assert_eq(x->incarnation, y->incarnation);
		cr_assert_eq(x->capacity, y->capacity);
	}
}

static void beat(struct twins *twins)
{
	struct coord_view view[2];
	struct coord_look looks[2] = {0};
	struct coord_lease leases[2][2];
	const struct coord_node *self = node(chance(twins, 3));
	struct coord_node other = *self;
	if (chance(twins, 10) == 0)
		other.incarnation = 99;
	for (int k = 0; k < 2; k++) {
		leases[0][k] = leases[1][k] = (struct coord_lease){
			.job = chance(twins, 9) ? "job" : "none",
			.rank = chance(twins, RANKS + 1),
			.cursor = {twins->epoch - (twins->epoch > 0) + chance(twins, 3),
				chance(twins, 12)}};
	}
	uint32_t n = chance(twins, 3), t = some_token(twins);
	bool leads = chance(twins, 2), asks = chance(twins, 2);
	struct coord_beat beats[2];
	for (int i = 0; i < 2; i++)
		beats[i] = (struct coord_beat){.self = &other,
			.ttl_ms = LONG_MS,
			.leases = leases[i],
			.n = n,
			.token = leads ? &twins->token[i][t] : NULL,
			.look = asks ? &looks[i] : NULL};
	if (BOTH(0, beat, &beats[i], &view[i]))
		return;
	cr_assert_eq(view[0].renewed, view[1].renewed);
	twins->counts[2] += leads;
	twins->done[2] += view[0].renewed;
	compare_looks(&looks[0], &looks[1]);
	twins->counts[5] += asks;
	twins->done[5] += looks[0].live > 0;
	for (int i = 0; i < 2; i++)
		coord_look_free(&looks[i]);
	for (uint32_t k = 0; k < n; k++) {
		cr_assert_eq(leases[0][k].error, leases[1][k].error);
		if (leases[0][k].error == -ENOENT)
			continue;
		cr_assert_eq(
			leases[0][k].ret_cursor.epoch, leases[1][k].ret_cursor.epoch);
		cr_assert_eq(leases[0][k].ret_cursor.position,
			leases[1][k].ret_cursor.position);
	}
	cr_assert_eq(view[0].ready, view[1].ready);
	cr_assert_eq(view[0].reported, view[1].reported);
	cr_assert_eq(view[0].leader, view[1].leader);
	cr_assert_eq(view[0].term, view[1].term);
	for (int i = 0; i < 2; i++)
		strcpy(twins->run[i], view[i].run);
	twins->ready = view[0].ready;
	for (int i = 0; i < 2; i++)
		check_news(twins, i, view[i].news);
}

static void elect(struct twins *twins)
{
	uint64_t random = rng_next(&twins->rng);
	struct coord_token token[2];
	const struct coord_node *self = node(chance(twins, 3));
	if (BOTH(1, elect, self, random, LONG_MS, &token[i]))
		return;
	cr_assert_eq(token[0].term, token[1].term);
	for (int i = 0; i < 2; i++) {
		twins->token[i][2] = twins->token[i][1];
		twins->token[i][1] = twins->token[i][0];
		twins->token[i][0] = token[i];
	}
}

static void release(struct twins *twins)
{
	const struct coord_node *self = node(chance(twins, 3));
	uint32_t rank = chance(twins, RANKS);
	const char *job = chance(twins, 2) ? "job" : NULL;
	(void)BOTH(3, release, self, job, rank);
}

static void look(struct twins *twins)
{
	struct coord_engine_jobs jobs[2];
	if (BOTH(4, jobs, twins->run[i], &jobs[i]))
		return;
	char *text[2] = {jobs_text(&jobs[0]), jobs_text(&jobs[1])};
	cr_assert_str_eq(text[0], text[1]);
	free(text[0]);
	free(text[1]);
	for (size_t j = 0; j < jobs[0].n; j++) {
		twins->epoch = jobs[0].jobs[j].epoch;
		twins->next = jobs[0].jobs[j].next;
	}
	for (int i = 0; i < 2; i++)
		coord_engine_jobs_free(&jobs[i]);
}

static void open_epoch(struct twins *twins)
{
	uint32_t epoch = twins->epoch + chance(twins, 3);
	if (BOTH(6, open, twins->run[i], "job", epoch) == 0 && epoch > twins->epoch) {
		twins->epoch = epoch;
		twins->next = 0;
	}
}

/* Makes random ids, because engines do not examine them. */
static void make_ids(
	struct twins *twins, struct coord_append *append, sample_id ids[SAMPLES])
{
	for (uint32_t k = 0; k < SAMPLES; k++)
		ids[k] = chance(twins, UINT32_MAX);
	uint32_t left = SAMPLES - append->base, n = BATCH * (1 + chance(twins, 2));
	append->count = left < n ? left : n;
	append->ranks = RANKS;
	append->batch = BATCH;
	append->ids = ids;
}

static void append(struct twins *twins)
{
	sample_id ids[SAMPLES];
	struct coord_append to = {
		.job = "job", .epoch = twins->epoch, .base = twins->next};
	unsigned t = some_token(twins);
	if (chance(twins, 10) == 0)
		to.base = chance(twins, SAMPLES / BATCH) * BATCH;
	if (chance(twins, 20) == 0)
		to.epoch++;
	make_ids(twins, &to, ids);
	if (to.count == 0)
		return;
	if (BOTH(7, append, twins->run[i], &twins->token[i][t], &to) == 0)
		twins->next += to.count;
}

static void read_feeds(struct twins *twins)
{
	struct coord_read reads[2][RANKS];
	sample_id ids[2][RANKS][SAMPLES];
	for (uint32_t k = 0; k < RANKS; k++) {
		reads[0][k] = (struct coord_read){.job = "job",
			.epoch = twins->epoch - (twins->epoch && chance(twins, 3) == 0),
			.rank = k,
			.ranks = RANKS,
			.batch = BATCH,
			.from = chance(twins, 15),
			.most = chance(twins, 2) ? SAMPLES : 1 + chance(twins, 6),
			.ids = ids[0][k]};
		reads[1][k] = reads[0][k];
		reads[1][k].ids = ids[1][k];
	}
	if (BOTH(8, read, twins->run[i], reads[i], RANKS))
		return;
	for (uint32_t k = 0; k < RANKS; k++) {
		cr_assert_eq(reads[0][k].ret_n, reads[1][k].ret_n,
			"epoch %u rank %u from %u: %u, but %u", reads[0][k].epoch, k,
			reads[0][k].from, reads[0][k].ret_n, reads[1][k].ret_n);
		cr_assert_eq(memcmp(ids[0][k], ids[1][k],
				     reads[0][k].ret_n * sizeof(sample_id)),
			0);
	}
}

static void forget(struct twins *twins)
{
	unsigned t = some_token(twins);
	uint32_t epoch = twins->epoch - (twins->epoch && chance(twins, 2));
	(void)BOTH(9, forget, &twins->token[i][t], "job", epoch);
}

static int by_base(const void *a, const void *b)
{
	const struct coord_offer *one = a, *other = b;
	return one->base < other->base ? -1 : one->base > other->base;
}

static void repair(struct twins *twins)
{
	sample_id ids[3] = {chance(twins, 100), chance(twins, 100), chance(twins, 100)};
	struct coord_offer offer = {.job = "job",
		.epoch = twins->epoch,
		.rank = chance(twins, RANKS),
		.base = twins->offers++,
		.n = 1 + chance(twins, 3),
		.ids = ids};
	bool reported[2][2];
	struct coord_offers offers[2];
	struct coord_node nodes[2] = {*node(0), *node(1)};
	(void)BOTH(10, repair, twins->run[i], &offer);
	if (chance(twins, 3) == 0)
		(void)BOTH(11, repaired, twins->run[i], "node0");
	if (BOTH(12, reported, twins->run[i], nodes, 2, reported[i]))
		return;
	cr_assert(reported[0][0] == reported[1][0] && reported[0][1] == reported[1][1]);
	cr_assert_eq(BOTH(13, offers, twins->run[i], &offers[i]), 0);
	cr_assert_eq(offers[0].n, offers[1].n);
	for (int i = 0; i < 2; i++)
		qsort(offers[i].offers, offers[i].n, sizeof(offer), by_base);
	for (size_t k = 0; k < offers[0].n; k++) {
		struct coord_offer *a = &offers[0].offers[k], *b = &offers[1].offers[k];
		cr_assert_str_eq(a->job, b->job);
		cr_assert(a->epoch == b->epoch && a->rank == b->rank &&
			  a->base == b->base && a->n == b->n);
		cr_assert_eq(memcmp(a->ids, b->ids, a->n * sizeof(sample_id)), 0);
	}
	coord_offers_free(&offers[0]);
	coord_offers_free(&offers[1]);
}

static void fill(struct twins *twins)
{
	sample_id ids[SAMPLES];
	struct coord_append to = {.job = "job",
		.epoch = twins->epoch + (chance(twins, 4) == 0) * (1 + chance(twins, 2)),
		.was_epoch = twins->epoch,
		.was_next = twins->next};
	unsigned t = some_token(twins);
	to.base = to.epoch == twins->epoch ? twins->next : 0;
	if (chance(twins, 10) == 0)
		to.was_next++;
	make_ids(twins, &to, ids);
	if (to.count == 0)
		return;
	if (BOTH(14, fill, twins->run[i], &twins->token[i][t], &to) == 0) {
		twins->epoch = to.epoch;
		twins->next = to.base + to.count;
	}
}

static void make_ready(struct twins *twins)
{
	unsigned t = some_token(twins);
	(void)BOTH(15, ready, twins->run[i], &twins->token[i][t]);
}

static void new_life(struct twins *twins)
{
	coord_local_restart(twins->local);
	redis_kill(&twins->server);
	redis_start(&twins->server, NO_FSYNC);
	twins->offers = 0;
	for (int i = 0; i < 2; i++) {
		free(twins->jobs[i]);
		twins->jobs[i] = NULL;
	}
	/* The first call notices the broken connection. */
	struct coord_job none;
	while (twins->engine[1]->facts(twins->engine[1]->context, "none", &none) !=
		-ENOENT)
		redis_wait_ms(1);
}

/* --- all operations --------------------------------------------------------------------- */

static void enter(struct twins *twins)
{
	char differs[2][COORD_TEXT] = {"", ""};
	struct coord_job job = {.name = "job",
		.dataset = "photos",
		.fingerprint = 0xfedcba9876543210,
		.ids = twins->ids,
		.ranks = RANKS,
		.batch = BATCH,
		.kind = SAMPLER_EXCHANGE};
	cr_assert_eq(BOTH(16, enter, "node1", &job, differs[i]), 0);
	if (twins->counts[16] > 1)
		job.batch += chance(twins, 3) == 0;
	(void)BOTH(16, enter, "node0", &job, differs[i]);
	cr_assert_str_eq(differs[0], differs[1]);
	struct coord_job facts[2];
	cr_assert_eq(BOTH(17, facts, "job", &facts[i]), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_str_eq(facts[i].name, "job");
		cr_assert_str_eq(facts[i].dataset, "photos");
		cr_assert(roaring_bitmap_equals(facts[i].ids, twins->ids));
		cr_assert(facts[i].fingerprint == job.fingerprint &&
			  facts[i].ranks == RANKS && facts[i].batch == BATCH &&
			  facts[i].kind == SAMPLER_EXCHANGE);
		coord_facts_free(&facts[i]);
	}
	struct coord_job none;
	cr_assert_eq(BOTH(18, facts, "none", &none), -ENOENT);
}

/* Adds a job that continues from a log, which the group may have already. */
static void enter_from(struct twins *twins)
{
	char differs[2][COORD_TEXT] = {"", ""};
	sample_id log[SAMPLES];
	struct coord_job job = {.name = "job",
		.dataset = "photos",
		.fingerprint = 0xfedcba9876543210,
		.ids = twins->ids,
		.ranks = RANKS,
		.batch = BATCH,
		.kind = SAMPLER_EXCHANGE,
		.epoch = twins->epoch + chance(twins, 2),
		.log = log,
		.n_log = chance(twins, SAMPLES + 1)};
	for (uint32_t k = 0; k < SAMPLES; k++)
		log[k] = chance(twins, UINT32_MAX);
	if (chance(twins, 2)) {
		cr_assert_eq(BOTH(19, leave, "node0", "job"), 0);
		cr_assert_eq(BOTH(19, leave, "node1", "job"), 0);
	}
	(void)BOTH(20, enter, "node0", &job, differs[i]);
	cr_assert_str_eq(differs[0], differs[1]);
	job.epoch = job.n_log = 0;
	cr_assert_eq(BOTH(16, enter, "node1", &job, differs[i]), 0);
	look(twins);
}

static void begin(struct twins *twins)
{
	char message[COORD_TEXT];
	memset(twins, 0, sizeof(*twins));
	rng_seed(&twins->rng, 5);
	redis_new(&twins->server, NO_FSYNC);
	cr_assert_eq(coord_local_new(no_time, NULL, false, &twins->local), 0);
	cr_assert_eq(coord_resp_new(&(struct coord_server){.url = twins->server.url},
			     "twins", 30000, &twins->resp, message),
		0);
	twins->engine[0] = coord_local_engine(twins->local);
	twins->engine[1] = coord_resp_engine(twins->resp);
	twins->ids = roaring_bitmap_from_range(5, 5 + SAMPLES, 1);
	while (!twins->run[0][0])
		beat(twins);
	enter(twins);
}

Test(coord_engine, both_do_the_same)
{
	static void (*const operations[])(struct twins *) = {beat, beat, elect, release,
		look, open_epoch, append, append, append, append, append, read_feeds,
		read_feeds, read_feeds, forget, repair, fill, make_ready, enter,
		enter_from};
	struct twins world, *twins = &world;
	if (!redis_is_there())
		cr_skip_test("no redis-server");
	begin(twins);
	for (unsigned n = 0; n < OPERATIONS; n++) {
		operations[chance(twins, sizeof(operations) / sizeof(operations[0]))](
			twins);
		if (chance(twins, 200) == 0)
			new_life(twins);
	}
	/* Each operation succeeded, and each fence refused something. */
	for (unsigned i = 0; i <= 20; i++)
		cr_assert(twins->done[i] > 0 || i == 18, "operation %u", i);
	static const unsigned fenced[] = {0, 1, 2, 6, 7, 9, 10, 14, 15, 16, 20};
	for (unsigned i = 0; i < sizeof(fenced) / sizeof(fenced[0]); i++)
		cr_assert_lt(twins->done[fenced[i]], twins->counts[fenced[i]],
			"operation %u", fenced[i]);
	cr_assert_gt(twins->no_news, 0);
	free(twins->jobs[0]);
	free(twins->jobs[1]);
	coord_resp_free(&twins->resp);
	coord_local_free(&twins->local);
	roaring_bitmap_free(twins->ids);
	redis_end(&twins->server);
}
