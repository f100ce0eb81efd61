// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord_world.h"
#include "effort.h"

#ifdef HAVE_HIREDIS

#include "../coord_canned.h"
#include "liar.h"

#include <math.h>
#include <sys/resource.h>

/* Replies of a server that is broken, or that belongs to another program. The engine answers
 * nonsense or is unreachable, and the node tries again later. Nothing else may happen. */

/* --- one answer ------------------------------------------------------------------------- */

enum asked { BEAT, LOOK, JOBS, FACTS, ENTER, ELECT, OPEN, READ, OFFERS, REPORTED, TOLD };

static int ask(const struct coord_engine *engine, enum asked which)
{
	void *context = engine->context;
	struct coord_node self = {.name = "node0", .incarnation = 5, .capacity = 1};
	roaring_bitmap_t *ids = roaring_bitmap_from_range(0, 40, 1);
	struct coord_job facts = {.name = "job0",
		.dataset = "photos",
		.fingerprint = 17,
		.ids = ids,
		.ranks = 2,
		.batch = 4};
	struct coord_lease lease = {.job = "job0", .rank = 1};
	struct coord_view view;
	struct coord_look look = {0};
	struct coord_beat beat = {
		.self = &self, .ttl_ms = 1000, .leases = &lease, .n = 1};
	struct coord_engine_jobs jobs = {0};
	struct coord_job there = {0};
	struct coord_token token;
	struct coord_offers offers = {0};
	sample_id samples[64];
	struct coord_read read = {.job = "job0",
		.rank = 1,
		.ranks = 2,
		.batch = 4,
		.most = 64,
		.ids = samples};
	char differs[COORD_TEXT];
	bool reported;
	int err = 0;
	switch (which) {
	case BEAT:
		err = engine->beat(context, &beat, &view);
		break;
	case LOOK:
		beat.n = 0;
		beat.look = &look;
		err = engine->beat(context, &beat, &view);
		break;
	case JOBS:
		err = engine->jobs(context, "life", &jobs);
		break;
	case FACTS:
		err = engine->facts(context, "job0", &there);
		break;
	case ENTER:
		err = engine->enter(context, "node0", &facts, differs);
		break;
	case ELECT:
		err = engine->elect(context, &self, 7, 1000, &token);
		break;
	case OPEN:
		err = engine->open(context, "life", "job0", 1);
		break;
	case READ:
		err = engine->read(context, "life", &read, 1);
		break;
	case OFFERS:
		err = engine->offers(context, "life", &offers);
		break;
	case REPORTED:
		err = engine->reported(context, "life", &self, 1, &reported);
		break;
	case TOLD:
		err = engine->told(context, "photos", ids);
		break;
	}
	coord_look_free(&look);
	coord_engine_jobs_free(&jobs);
	coord_facts_free(&there);
	coord_offers_free(&offers);
	roaring_bitmap_free(ids);
	return err;
}

#define STATE "*6\r\n$1\r\n0\r\n$1\r\n4\r\n$2\r\n40\r\n$1\r\n2\r\n$1\r\n4\r\n$2\r\n11\r\n"
#define JOB(name, state) "*4\r\n" name state "*2\r\n$1\r\n1\r\n$3\r\n0:2\r\n$3\r\n5 0\r\n"
#define NAME "$4\r\njob0\r\n"
#define IDS "$18\r\n\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\5\0\r\n" /* {5} */
#define FACTS_(ranks, batch, kind, ids)                                                  \
	"*6\r\n$6\r\nphotos\r\n$2\r\n11\r\n" ranks batch kind ids
#define BEAT_(ready, leases)                                                             \
	"*8\r\n" ready ":0\r\n$7\r\n5 node0\r\n$1\r\n3\r\n" leases ":1\r\n$1\r\n9\r\n"
#define LOOK_(members) BEAT_(":1\r\n", "*0\r\n") "*2\r\n" members "*0\r\n"
#define CHUNK(id, count) "*1\r\n*2\r\n" id "*2\r\n$0\r\n\r\n" count

struct answer {
	enum asked asked;
	int err;
	const char *bytes;
	size_t n;
};
#define ANSWER(asked, err, bytes)                                                        \
	{                                                                                \
		asked, err, bytes, sizeof(bytes) - 1                                     \
	}

static const struct answer answers[] = {
	/* right answers */
	ANSWER(LOOK, 0, LOOK_("*2\r\n$5\r\nnode0\r\n$12\r\n5 1.5 [::]:7\r\n")),
	ANSWER(JOBS, 0, "*1\r\n" JOB(NAME, STATE)),
	ANSWER(FACTS, 0, FACTS_("$1\r\n2\r\n", "$1\r\n4\r\n", "$1\r\n0\r\n", IDS)),
	ANSWER(ENTER, 0, "*0\r\n"),
	ANSWER(ELECT, 0, ":5\r\n"),
	ANSWER(READ, 0, "*0\r\n"),
	ANSWER(OFFERS, 0, "*2\r\n$10\r\njob0 0 1 2\r\n$4\r\n\5\0\0\0\r\n"),
	ANSWER(REPORTED, 0, "*1\r\n:1\r\n"),
	ANSWER(TOLD, 0, "*1\r\n" IDS),
	ANSWER(BEAT, 0, BEAT_(":1\r\n", "*2\r\n$2\r\nOK\r\n$3\r\n0:4\r\n") "*0\r\n"),
	/* other types */
	ANSWER(LOOK, -EBADE, LOOK_("*2\r\n$-1\r\n$9\r\n5 1.5 a:7\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("*2\r\n$5\r\nnode0\r\n$-1\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("*2\r\n:5\r\n*1\r\n:5\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("*3\r\n$5\r\nnode0\r\n$0\r\n\r\n$5\r\nnode1\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("+OK\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("$-1\r\n")),
	ANSWER(JOBS, -EBADE, ":7\r\n"),
	ANSWER(JOBS, -EBADE, "*1\r\n$-1\r\n"),
	ANSWER(JOBS, -EBADE, "*1\r\n" JOB("$-1\r\n", STATE)),
	ANSWER(JOBS, -EBADE, "*1\r\n*4\r\n" NAME STATE "$-1\r\n$3\r\n5 0\r\n"),
	ANSWER(JOBS, -EBADE, "*1\r\n*4\r\n" NAME STATE "*2\r\n:1\r\n*0\r\n$3\r\n5 0\r\n"),
	ANSWER(ENTER, -EBADE, ":0\r\n"),
	ANSWER(ENTER, -EBADE, "*8\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"),
	ANSWER(ELECT, -EBADE, "$-1\r\n"),
	ANSWER(OPEN, -EBADE, "+OK\r\n"),
	ANSWER(REPORTED, -EBADE, "*1\r\n*0\r\n"),
	ANSWER(TOLD, -EBADE, "*1\r\n:3\r\n"),
	ANSWER(OFFERS, -EBADE, "*2\r\n$10\r\njob0 0 1 2\r\n:5\r\n"),
	ANSWER(BEAT, -EBADE, BEAT_(":1\r\n", "$-1\r\n") "*0\r\n"),
	ANSWER(LOOK, -EBADE, BEAT_(":1\r\n", "*0\r\n") "*0\r\n"),
	ANSWER(LOOK, -EBADE, BEAT_(":1\r\n", "*0\r\n") "$-1\r\n"),
	ANSWER(LOOK, -EBADE, BEAT_(":1\r\n", "*0\r\n") "*2\r\n*0\r\n*1\r\n:3\r\n"),
	/* other lengths */
	ANSWER(JOBS, -EBADE, "*1\r\n*4\r\n" NAME STATE "*0\r\n$1\r\n5\r\n"),
	ANSWER(OFFERS, -EBADE, "*2\r\n$10\r\njob0 0 1 2\r\n$3\r\n\5\0\0\r\n"),
	ANSWER(REPORTED, -EBADE, "*0\r\n"),
	ANSWER(BEAT, -EBADE, BEAT_(":1\r\n", "*0\r\n") "*0\r\n"),
	ANSWER(LOOK, -EBADE, LOOK_("*2000000000\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("$-5\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("?\r\n")),
	/* other ranges */
	ANSWER(LOOK, -EBADE, LOOK_("*2\r\n$5\r\nnode0\r\n$9\r\n5 nan a:7\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("*2\r\n$5\r\nnode0\r\n$7\r\n5 0 a:7\r\n")),
	ANSWER(LOOK, -EBADE, LOOK_("*2\r\n$5\r\nnode0\r\n$7\r\n0 1 a:7\r\n")),
	ANSWER(LOOK, -EBADE,
		LOOK_("*2\r\n$5\r\nnod\x1b"
		      "0\r\n$0\r\n\r\n")),
	ANSWER(FACTS, -EBADE, FACTS_("$1\r\n2\r\n", "$1\r\n0\r\n", "$1\r\n0\r\n", IDS)),
	ANSWER(FACTS, -EBADE, FACTS_("$1\r\n0\r\n", "$1\r\n4\r\n", "$1\r\n0\r\n", IDS)),
	ANSWER(FACTS, -EBADE, FACTS_("$1\r\n5\r\n", "$1\r\n4\r\n", "$1\r\n0\r\n", IDS)),
	ANSWER(FACTS, -EBADE,
		FACTS_("$10\r\n4000000000\r\n", "$10\r\n4000000000\r\n", "$1\r\n0\r\n",
			IDS)),
	ANSWER(FACTS, -EBADE, FACTS_("$1\r\n2\r\n", "$1\r\n4\r\n", "$1\r\n9\r\n", IDS)),
	ANSWER(FACTS, -EBADE,
		FACTS_("$1\r\n2\r\n", "$1\r\n4\r\n", "$1\r\n0\r\n",
			"$8\r\n\x3a\x30\0\0\0\0\0\0\r\n")),
	ANSWER(READ, -EBADE, CHUNK("$3\r\n0-1\r\n", "$1\r\n0\r\n")),
	ANSWER(READ, -EBADE, CHUNK("$3\r\n0-1\r\n", "$10\r\n4294967295\r\n")),
	ANSWER(READ, -EBADE, CHUNK("$1\r\n0\r\n", "$1\r\n4\r\n")),
	ANSWER(ELECT, -EBADE, ":-5\r\n"),
	ANSWER(OFFERS, -EBADE, "*2\r\n$19\r\njob0 0 1 4294967295\r\n$4\r\n\5\0\0\0\r\n"),
	ANSWER(OFFERS, -EBADE, "*2\r\n$13\r\njob0 0 9999 2\r\n$4\r\n\5\0\0\0\r\n"),
	ANSWER(BEAT, -EBADE,
		BEAT_(":1\r\n", "*2\r\n$2\r\nOK\r\n$12\r\n4294967295:0\r\n") "*0\r\n"),
	ANSWER(BEAT, -EBADE, BEAT_(":7\r\n", "*2\r\n$2\r\nOK\r\n$3\r\n0:0\r\n") "*0\r\n"),
	ANSWER(BEAT, -EBADE, BEAT_(":1\r\n", "*2\r\n$2\r\nno\r\n$3\r\n0:0\r\n") "*0\r\n"),
};

Test(coord_nonsense, each_kind_of_wrong_answer)
{
	struct canned canned;
	const struct coord_engine *engine = canned_begin(&canned);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const struct answer *answer = &answers[i];
		canned_say(&canned, answer->bytes, answer->n);
		int err = ask(engine, answer->asked);
		cr_expect_eq(err, answer->err, "%d to %d: %d: %s", (int)answer->err,
			(int)answer->asked, err, answer->bytes);
		cr_expect_eq(canned.resp->link == NULL, answer->err == -EBADE);
	}
	canned_end(&canned);
}

/* --- sets of samples -------------------------------------------------------------------- */

static bool is_same_set(const char *bytes, size_t n, const roaring_bitmap_t *set)
{
	redisReply reply = {
		.type = REDIS_REPLY_STRING, .str = (char *)(uintptr_t)bytes, .len = n};
	roaring_bitmap_t *taken;
	bool same =
		resp_take_ids(&reply, &taken) == 0 && roaring_bitmap_equals(taken, set);
	if (taken)
		roaring_bitmap_free(taken);
	return same;
}

static roaring_bitmap_t *random_set(struct rng *rng)
{
	roaring_bitmap_t *set = roaring_bitmap_create();
	for (unsigned i = (unsigned)rng_below(rng, 8); i > 0; i--) {
		uint32_t from = (uint32_t)rng_below(rng, 1 << (10 + rng_below(rng, 21)));
		uint32_t step = 1 + (uint32_t)rng_below(rng, 3);
		uint32_t n = (uint32_t)rng_below(rng, 1 << rng_below(rng, 18));
		for (uint32_t k = 0; k < n; k++)
			roaring_bitmap_add(set, from + k * step);
	}
	if (rng_below(rng, 2))
		roaring_bitmap_run_optimize(set);
	return set;
}

/* Sets as the library writes them; then with changed bytes, which must not end the process. */
Test(coord_nonsense, sets_are_taken_as_the_library_writes_them)
{
	struct rng rng;
	rng_seed(&rng, 1);
	for (unsigned i = 0; i < effort(200, 5000); i++) {
		roaring_bitmap_t *set = random_set(&rng), *taken;
		size_t n = roaring_bitmap_portable_size_in_bytes(set);
		char *bytes = malloc(n);
		roaring_bitmap_portable_serialize(set, bytes);
		cr_assert(is_same_set(bytes, n, set));
		cr_assert_not(is_same_set(bytes, n - 1, set));
		for (unsigned k = 0; k < 20; k++)
			bytes[rng_below(&rng, n < 64 ? n : 64)] ^=
				(char)(1 << rng_below(&rng, 8));
		redisReply reply = {.type = REDIS_REPLY_STRING, .str = bytes, .len = n};
		if (resp_take_ids(&reply, &taken) == 0)
			roaring_bitmap_free(taken);
		free(bytes);
		roaring_bitmap_free(set);
	}
}

/* --- memory and time -------------------------------------------------------------------- */

#define MOST_BYTES (4UL << 20)

struct flood {
	int fd;
	const char *head;
	size_t sent, most, piece;
	long pause_ns;
};

static void *pour(void *context)
{
	static char bytes[65536];
	struct flood *flood = context;
	(void)!write(flood->fd, flood->head, strlen(flood->head));
	memset(bytes, '0', sizeof(bytes));
	for (;;) {
		ssize_t n = send(flood->fd, bytes, flood->piece, MSG_NOSIGNAL);
		if (n <= 0 || flood->sent > flood->most)
			return NULL;
		flood->sent += (size_t)n;
		nanosleep(&(struct timespec){.tv_nsec = flood->pause_ns}, NULL);
	}
}

static int ask_while(struct flood *flood)
{
	struct canned canned;
	int pair[2];
	pthread_t thread;
	const struct coord_engine *engine = canned_begin(&canned);
	canned_say(&canned, "", 0);
	redisFree(canned.resp->link);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	canned.resp->link = redisConnectFd(pair[0]);
	canned.resp->timeout_ms = 100;
	(void)redisSetTimeout(canned.resp->link, (struct timeval){.tv_usec = 100000});
	resp_count(canned.resp);
	canned.resp->most = MOST_BYTES;
	flood->fd = pair[1];
	pthread_create(&thread, NULL, pour, flood);
	int err = ask(engine, LOOK);
	canned_end(&canned);
	pthread_join(thread, NULL);
	close(pair[1]);
	return err;
}

Test(coord_nonsense, an_answer_that_never_ends_takes_no_more_than_is_allowed)
{
	struct flood flood = {
		.head = "$2000000000\r\n", .most = 2 * RESP_MOST_BYTES, .piece = 65536};
	cr_assert_eq(ask_while(&flood), -EBADE);
	cr_assert_leq(flood.sent, 2 * MOST_BYTES);
}

Test(coord_nonsense, an_answer_that_drips_is_given_up)
{
	struct flood flood = {
		.head = "$2000\r\n", .most = 1000, .piece = 1, .pause_ns = 20000000};
	cr_assert_eq(ask_while(&flood), -ETIMEDOUT);
	cr_assert_lt(flood.sent, 1000);
}

/* --- lies at random --------------------------------------------------------------------- */

#define TTL_NS UINT64_C(60000000000) /* no lease ends during the test */

static int take_any(void *context, const char *name, uint32_t rank, uint32_t epoch,
	uint32_t base, const sample_id *ids, uint32_t n)
{
	struct world_node *node = context;
	(void)rank, (void)epoch, (void)base;
	for (uint32_t i = 0; i < n; i++)
		if (!roaring_bitmap_contains(node->world->ids[journal_job(name)], ids[i]))
			return -EINVAL;
	node->fed += n;
	return 0;
}

static uint32_t knows_some(void *context, const char *job)
{
	(void)context, (void)job;
	return 2;
}

static uint32_t some_tail(
	void *context, struct coord_tail *tail, sample_id *ids, uint32_t most)
{
	(void)context;
	if (tail->base >= 6)
		return 0;
	for (uint32_t i = 0; i < 3 && i < most; i++)
		ids[i] = 7 * tail->rank + tail->base + i;
	return 3;
}

static void forget_any(void *context, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t base, uint32_t n)
{
	(void)context, (void)job, (void)rank, (void)epoch, (void)base, (void)n;
}

static void some_resident(void *context, const char *dataset, roaring_bitmap_t *ids)
{
	(void)context, (void)dataset;
	roaring_bitmap_add_range(ids, 3, 20);
}

static void start_lied_to(struct world *world, unsigned i, const char *url)
{
	struct world_node *node = &world->nodes[i];
	char message[COORD_TEXT];
	struct coord_options options = {
		.self = {.incarnation = i + 1, .capacity = 1, .address = "10.0.0.1:7"},
		.ttl_ns = TTL_NS,
		.seed = i,
		.calls = {.context = node,
			.fed = take_any,
			.lost = world_lost,
			.known = knows_some,
			.tail = some_tail,
			.forget = forget_any,
			.resident = some_resident,
			.lacked = some_resident}};
	snprintf(options.self.name, sizeof(options.self.name), "node%u", i);
	node->world = world;
	cr_assert_eq(coord_resp_new(&(struct coord_server){.url = url}, "group", 200,
			     &node->resp, message),
		0);
	cr_assert_eq(coord_new(&options, coord_resp_engine(node->resp), &node->coord), 0);
}

/* Node 0 gets the lies, has job0, and draws for both nodes. Node 1 has the other job. */
static void start_both(struct world *world, const char *url)
{
	for (unsigned i = 0; i < 2; i++) {
		start_lied_to(world, i, i == 0 ? url : world->server.url);
		struct coord_job job = *world_job(world, i, 0, 40 + 10 * i, 2, 4);
		job.kind = i ? SAMPLER_EXCHANGE : SAMPLER_DSA;
		cr_assert_eq(coord_add_job(world->nodes[i].coord, &job), 0);
		world_take(&world->nodes[i], i, 0);
		world_take(&world->nodes[i], i, 1);
	}
}

static void consume_all(struct world_node *node, unsigned job)
{
	for (uint32_t r = 0; r < 2; r++) {
		struct coord_rank_status status;
		if (coord_rank_status(node->coord, journal_name(job), r, &status) ||
			!status.held)
			continue;
		(void)coord_commit(
			node->coord, journal_name(job), r, status.epoch, status.position);
		(void)coord_want(node->coord, journal_name(job), status.epoch + 1);
	}
}

static void step_both(struct world *world)
{
	world->now_ns += TTL_NS / 16;
	for (unsigned i = 0; i < 2; i++) {
		(void)coord_step(world->nodes[i].coord, world->now_ns);
		consume_all(&world->nodes[i], i);
	}
}

static void forget(const struct world *world, const char *what)
{
	char command[256];
	snprintf(command, sizeof(command), "redis-cli -s %s %s >/dev/null",
		world->server.socket, what);
	cr_assert_eq(system(command), 0);
}

/* No lie may end the process. JOADERFS_LONG=1: 10^5 lies. */
Test(coord_nonsense, random_lies_end_nothing)
{
	struct world world;
	char path[160], url[200];
	unsigned most = effort(600, 100000), last = 0, away = 0;
	if (!redis_is_there())
		cr_skip_test("no redis-server");
	world_begin(&world, WORLD_REDIS);
	snprintf(path, sizeof(path), "%s/liar", world.server.directory);
	snprintf(url, sizeof(url), "redis+unix://%s", path);
	struct liar *liar = liar_begin(path, world.server.socket, 3);
	start_both(&world, url);
	for (unsigned i = 0; i < 20; i++)
		step_both(&world);
	cr_assert_eq(world_status(&world.nodes[0]).state, COORD_LEADS);
	atomic_store(&liar->one_in, 6);
	while (atomic_load(&liar->lies) < most) {
		step_both(&world);
		away += world_status(&world.nodes[0]).state == COORD_AWAY;
		if (atomic_load(&liar->lies) / 200 != last) {
			last = atomic_load(&liar->lies) / 200;
			forget(&world, last % 2 ? "DEL '{group}:ready'" : "FLUSHALL");
		}
	}
	cr_assert_gt(away, most / 10);
	atomic_store(&liar->one_in, 0);
	forget(&world, "FLUSHALL"); /* removes what the lies led the nodes to write */
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	cr_expect_lt(usage.ru_maxrss, 1500000);
	for (unsigned i = 0; i < 200; i++)
		step_both(&world);
	enum coord_state state = world_status(&world.nodes[0]).state;
	cr_assert(state == COORD_LEADS || state == COORD_FOLLOWS, "%d: %s", (int)state,
		world_status(&world.nodes[0]).message);
	world_end(&world);
	liar_end(liar);
}

#endif
