// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "share/share.h"
#include "effort.h"

#include <criterion/criterion.h>
#include <math.h>

/* Whose request comes next. There is one decoder, whose time is the sum of all decodes. */

#define MS UINT64_C(1000000)
#define JOBS 4
#define REQUESTS 64 /* most requests of a job */
/* constants of queue.c */
#define MOST_ROUNDS_OF_DEBT 100
#define ROUND_NS 1000000

struct world {
	struct shares shares;
	struct share_job jobs[JOBS];
	struct share_request requests[JOBS][REQUESTS];
	uint64_t decoded[JOBS]; /* ns spent on requests in the row of this job */
	uint64_t now;
};

static void world_init(
	struct world *world, enum share_policy policy, const double *weights)
{
	*world = (struct world){0};
	shares_init(&world->shares, policy);
	world->shares.is_short = true;
	for (int i = 0; i < JOBS; i++) {
		share_join(&world->shares, &world->jobs[i], weights[i], 5 * MS);
		for (int k = 0; k < REQUESTS; k++)
			share_request_init(&world->requests[i][k], 5 * MS);
	}
}

static const double alike[JOBS] = {1, 1, 1, 1};

static void ask(struct world *world, int job, int request, uint64_t cost, bool urgent)
{
	struct share_request *asked = &world->requests[job][request];
	asked->cost_ns = cost;
	cr_assert_eq(share_ask(&world->jobs[job], asked, urgent), 0);
}

static enum share_answer any(void *context, struct share_request *request)
{
	(void)context;
	(void)request;
	return SHARE_TAKE;
}

/* Takes a request and decodes it. NULL: no offered request was taken. */
static const struct share_request *next(
	struct world *world, share_offer *offer, void *context)
{
	struct share_request *request = share_next(&world->shares, offer, context);
	if (request)
		share_drop(request);
	return request;
}

/* Returns the job in whose row the decoded request was; -1: there was no request. */
static int decode(struct world *world)
{
	const struct share_request *request = next(world, any, NULL);
	shares_validate(&world->shares);
	if (!request)
		return -1;
	int job = (int)((request - &world->requests[0][0]) / REQUESTS);
	world->decoded[job] += request->cost_ns;
	world->now += request->cost_ns;
	return job;
}

static void ask_all(struct world *world, int job, uint64_t cost, bool urgent)
{
	for (int k = 0; k < REQUESTS; k++)
		if (!share_is_wanted(&world->requests[job][k]))
			ask(world, job, k, cost, urgent);
}

static void leave_all(struct world *world)
{
	for (int i = 0; i < JOBS; i++)
		share_leave(&world->jobs[i]);
	cr_expect_null(next(world, any, NULL));
}

Test(share_queue, without_requests_there_is_none)
{
	struct world world;
	world_init(&world, SHARE_FAIR, alike);
	cr_expect_eq(decode(&world), -1);
	ask(&world, 0, 0, MS, false);
	cr_expect_eq(decode(&world), 0);
	cr_expect_eq(decode(&world), -1);
}

Test(share_queue, what_a_reader_waits_for_goes_before_look_ahead_of_its_job)
{
	struct world world;
	world_init(&world, SHARE_FAIR, alike);
	ask(&world, 0, 0, MS, false);
	ask(&world, 0, 1, MS, true);
	cr_expect_eq(next(&world, any, NULL), &world.requests[0][1]);
	ask(&world, 0, 2, MS, false);
	ask(&world, 0, 2, MS, true);
	cr_expect_eq(next(&world, any, NULL), &world.requests[0][2]);
	leave_all(&world);
}

Test(share_queue, what_no_reader_waits_for_any_more_is_first_of_the_look_ahead)
{
	struct world world;
	world_init(&world, SHARE_FAIR, alike);
	for (int k = 0; k < 3; k++)
		ask(&world, 0, k, MS, k == 2);
	ask(&world, 0, 2, MS, false);
	ask(&world, 0, 3, MS, true);
	cr_expect_eq(next(&world, any, NULL), &world.requests[0][3]);
	cr_expect_eq(next(&world, any, NULL), &world.requests[0][2]);
	leave_all(&world);
}

/* Returns the part of the decode time that job 0 gets with look-ahead alone, while readers of the
 * other jobs always wait. */
static double part_beside_waiting_readers(enum share_policy policy)
{
	struct world world;
	world_init(&world, policy, alike);
	for (int n = 0; n < 2000; n++) {
		for (int i = 0; i < JOBS; i++)
			ask_all(&world, i, 5 * MS, i > 0);
		decode(&world);
	}
	double part = (double)world.decoded[0] / (double)world.now;
	leave_all(&world);
	return part;
}

Test(share_queue, waiting_readers_do_not_take_other_jobs_shares)
{
	cr_expect_float_eq(part_beside_waiting_readers(SHARE_FAIR), .25, .01);
	/* A mutant: the request that has waited longest comes first, whatever the shares are. */
	cr_expect_lt(part_beside_waiting_readers(SHARE_FIFO), .01);
}

/* The storage is the limit: look-ahead of one job comes after the samples for which readers of
 * another job wait. Of these each job has its share. */
Test(share_queue, where_decoders_idle_look_ahead_goes_after_waiting_readers)
{
	struct world world;
	world_init(&world, SHARE_SLOWDOWN, alike);
	world.shares.is_short = false;
	ask_all(&world, 0, 5 * MS, false);
	for (int k = 0; k < 4; k++)
		for (int i = 1; i < JOBS; i++)
			ask(&world, i, k, 5 * MS, true);
	for (int n = 1; n <= 4 * (JOBS - 1); n++) {
		cr_expect_neq(decode(&world), 0);
		if (n % (JOBS - 1) == 0)
			for (int i = 1; i < JOBS; i++)
				cr_expect_eq(world.decoded[i], n / (JOBS - 1) * 5 * MS);
	}
	cr_expect_eq(decode(&world), 0);
	leave_all(&world);
}

/* Returns the largest relative deviation from weights 1, 2, 3, 4 in decode time. */
static double deviation(bool mutant)
{
	static const double weights[JOBS] = {1, 2, 3, 4};
	static const uint64_t costs[JOBS] = {20 * MS, 3 * MS, 11 * MS, MS};
	struct world world;
	double worst = 0;
	world_init(&world, SHARE_FAIR, weights);
	for (int i = 0; i < JOBS; i++)
		world.jobs[i].own.quantum = (int64_t)(ROUND_NS * weights[i] / 10);
	while (world.now < 20000 * MS) {
		for (int i = 0; i < JOBS; i++)
			ask_all(&world, i, mutant ? MS : costs[i], false);
		int job = decode(&world);
		/* the queue does not measure these costs */
		if (mutant)
			world.decoded[job] += costs[job] - MS;
		if (mutant)
			world.now += costs[job] - MS;
	}
	for (int i = 0; i < JOBS; i++) {
		double part = (double)world.decoded[i] / (double)world.now;
		worst = fmax(worst, fabs(part / (weights[i] / 10) - 1));
	}
	leave_all(&world);
	return worst;
}

Test(share_queue, decode_time_is_divided_by_weight_whatever_a_sample_costs)
{
	cr_expect_lt(deviation(false), .02);
	cr_expect_gt(deviation(true), .5, "the mutant passes");
}

Test(share_queue, a_request_for_several_is_charged_in_parts)
{
	struct world world;
	world_init(&world, SHARE_FAIR, alike);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(share_ask(&world.jobs[i], &world.requests[0][0], false), 0);
	world.requests[0][0].cost_ns = 6 * MS;
	cr_expect_eq(decode(&world), 0);
	for (int i = 0; i < JOBS; i++)
		cr_expect_eq(world.jobs[i].charged_ns, i < 3 ? 2 * MS : 0);
	cr_expect_eq(decode(&world), -1, "it is decoded once");
	leave_all(&world);
}

struct refusal {
	const struct share_request *passed;
	enum share_answer answer;
	int offers;
};

static enum share_answer but_one(void *context, struct share_request *request)
{
	struct refusal *refusal = context;
	refusal->offers++;
	return request == refusal->passed ? refusal->answer : SHARE_TAKE;
}

Test(share_queue, a_lane_that_can_not_go_on_holds_up_no_other)
{
	struct world world;
	world_init(&world, SHARE_FAIR, alike);
	ask(&world, 0, 0, MS, true);
	ask(&world, 1, 0, MS, false);
	struct refusal refusal = {&world.requests[0][0], SHARE_PASS, 0};
	cr_expect_eq(next(&world, but_one, &refusal), &world.requests[1][0]);
	refusal.offers = 0;
	cr_expect_null(next(&world, but_one, &refusal));
	cr_expect_eq(refusal.offers, 1, "offered once");
	cr_expect_leq(world.jobs[0].own.deficit, world.jobs[0].own.quantum);
	cr_expect_eq(decode(&world), 0);
	leave_all(&world);
}

Test(share_queue, nothing_goes_when_the_caller_says_stop)
{
	struct world world;
	world_init(&world, SHARE_FAIR, alike);
	ask(&world, 0, 0, MS, true);
	ask(&world, 1, 0, MS, true);
	struct refusal refusal = {&world.requests[0][0], SHARE_STOP, 0};
	cr_expect_null(next(&world, but_one, &refusal));
	cr_expect(share_is_wanted(&world.requests[0][0]));
	leave_all(&world);
}

/* Returns the part that job 0 gets of the 100 ms after it paused for 10 s. */
static double part_after_sleep(bool mutant)
{
	struct world world;
	world_init(&world, SHARE_FAIR, alike);
	for (int n = 0; n < 10000; n++) {
		ask_all(&world, 1, MS, false);
		ask_all(&world, 2, MS, false);
		decode(&world);
	}
	if (mutant) /* its quanta were kept */
		world.jobs[0].own.deficit = (int64_t)(2500 * MS);
	uint64_t before = world.now, own = world.decoded[0];
	while (world.now < before + 100 * MS) {
		for (int i = 0; i < 3; i++)
			ask_all(&world, i, MS, i == 0);
		const struct share_request *request = next(&world, any, NULL);
		world.decoded[0] += request < &world.requests[1][0] ? MS : 0;
		world.now += MS;
	}
	double part = (double)(world.decoded[0] - own) / (double)(world.now - before);
	leave_all(&world);
	return part;
}

Test(share_queue, who_was_idle_gets_no_credit)
{
	cr_expect_float_eq(part_after_sleep(false), 1. / 3, .02);
	cr_expect_gt(part_after_sleep(true), .9, "the mutant passes");
}

/* Job 1 fetches all samples that job 0 wants, 50 times as fast as job 0's share allows. Then only
 * job 0 wants a sample: returns the decode time before it. */
static uint64_t wait_after_riding(bool mutant)
{
	static const double weights[JOBS] = {1, 50, 50, 1};
	struct world world;
	world_init(&world, SHARE_FAIR, weights);
	for (int n = 0; n < 2000; n++) {
		cr_assert_eq(share_ask(&world.jobs[0], &world.requests[1][0], false), 0);
		ask(&world, 1, 0, 5 * MS, false);
		decode(&world);
	}
	if (mutant) /* it pays for all of them */
		world.jobs[0].own.deficit = -2000 * (int64_t)(5 * MS / 2);
	uint64_t begin = world.now;
	ask(&world, 0, 0, 5 * MS, true);
	do
		for (int i = 1; i < 3; i++)
			ask_all(&world, i, 5 * MS, false);
	while (decode(&world) != 0 && world.now < begin + 100000 * MS);
	uint64_t waited = world.now - begin;
	leave_all(&world);
	return waited;
}

Test(share_queue, what_others_fetched_is_paid_off_soon)
{
	const uint64_t most = (MOST_ROUNDS_OF_DEBT + 10) * ROUND_NS;
	cr_expect_lt(wait_after_riding(false), most);
	cr_expect_gt(wait_after_riding(true), 10 * most, "the mutant passes");
}

/* --- properties that hold for all jobs -------------------------------------------------- */

#define DEAREST (20 * MS)

/* Returns the longest decode time until a request of job 0 is served, whatever its debt and the
 * other jobs are. */
static uint64_t longest_wait(const struct world *world)
{
	uint64_t quantum = (uint64_t)world->jobs[0].own.quantum;
	uint64_t rounds = MOST_ROUNDS_OF_DEBT + DEAREST / quantum + 2;
	return rounds * ROUND_NS * 11 / 10 + (JOBS + 1) * DEAREST;
}

static void do_something(struct world *world, struct rng *rng)
{
	int job = 1 + (int)rng_below(rng, JOBS - 1);
	int row = (int)rng_below(rng, JOBS), k = 1 + (int)rng_below(rng, REQUESTS - 1);
	struct share_request *request = &world->requests[row][k];
	switch (rng_below(rng, 8)) {
	case 0:
		ask_all(world, job, 1 + rng_below(rng, DEAREST), rng_below(rng, 2));
		break;
	case 1:
	case 2:
		share_drop(request);
		break;
	case 3:
		share_leave(&world->jobs[job]);
		share_join(&world->shares, &world->jobs[job],
			1 + (double)rng_below(rng, 10), MS);
		break;
	case 4:
		world->jobs[rng_below(rng, JOBS)].samples += rng_below(rng, 100);
		world->jobs[rng_below(rng, JOBS)].waited_ns += rng_below(rng, 1000 * MS);
		if (rng_below(rng, 20) == 0)
			cr_assert_eq(shares_window(&world->shares, 1, 2, 2), 0);
		break;
	default:
		cr_assert_eq(share_ask(&world->jobs[job], request, rng_below(rng, 2)), 0);
	}
	for (int i = 0; i < JOBS; i++)
		cr_assert_geq(world->jobs[i].own.deficit,
			-MOST_ROUNDS_OF_DEBT * (int64_t)ROUND_NS - (int64_t)DEAREST);
	shares_validate(&world->shares);
}

/* Returns how often, of n times, job 0's only request waits too long. */
static unsigned waits_too_long(enum share_policy policy, unsigned n, uint64_t seed)
{
	struct world world;
	struct rng rng;
	unsigned late = 0;
	world_init(&world, policy, alike);
	rng_seed(&rng, seed);
	for (unsigned i = 0; i < n; i++) {
		ask(&world, 0, 0, 1 + rng_below(&rng, DEAREST), rng_below(&rng, 2));
		uint64_t begin = world.now, most = longest_wait(&world);
		while (share_is_wanted(&world.requests[0][0]) &&
			world.now - begin <= most) {
			for (uint64_t some = rng_below(&rng, 6); some > 0; some--)
				do_something(&world, &rng);
			ask_all(&world, 1, DEAREST, true);
			uint64_t longer = longest_wait(&world);
			most = longer > most ? longer : most;
			decode(&world);
		}
		late += share_is_wanted(&world.requests[0][0]);
		share_drop(&world.requests[0][0]);
	}
	leave_all(&world);
	return late;
}

Test(share_queue, no_job_waits_for_ever_and_deficits_stay_in_bounds)
{
	for (unsigned seed = 0; seed < effort(3, 40); seed++) {
		cr_expect_eq(waits_too_long(SHARE_FAIR, 60, seed), 0);
		cr_expect_eq(waits_too_long(SHARE_SLOWDOWN, 60, seed), 0);
		cr_expect_eq(waits_too_long(SHARE_THROUGHPUT, 60, seed), 0);
	}
	cr_expect_gt(waits_too_long(SHARE_FIFO, 20, 1), 0, "the mutant passes");
}

/* --- windows ---------------------------------------------------------------------------- */

/* Passes a second in which two decoders gave the job this many samples of 10 ms. */
static void pass_window(struct world *world, int job, uint64_t samples, double waited)
{
	world->jobs[job].samples = samples;
	world->jobs[job].charged_ns = samples * 10 * MS;
	world->jobs[job].waited_ns = (uint64_t)(waited * 1e9);
}

Test(share_queue, quanta_follow_what_is_granted)
{
	struct world world;
	world_init(&world, SHARE_SLOWDOWN, alike);
	for (int n = 0; n < 10; n++) {
		/* without waits they would get 100 and 200 samples/s */
		pass_window(&world, 0, 50, .5);
		pass_window(&world, 1, 50, .75);
		cr_assert_eq(shares_window(&world.shares, 1, 2, 2), 0);
	}
	cr_expect_float_eq(world.jobs[0].demand.rate, 100, 1);
	cr_expect_float_eq(world.jobs[1].demand.rate, 200, 1);
	cr_expect_float_eq(world.jobs[1].granted / world.jobs[0].granted, 2, .05);
	cr_expect_float_eq(
		(double)world.jobs[1].own.quantum / (double)world.jobs[0].own.quantum, 2,
		.05);
	cr_expect_eq(world.jobs[2].granted, 0, "it is idle");
	leave_all(&world);
}

/* The jobs take what they get. */
Test(share_queue, where_decoders_idle_quanta_follow_weights)
{
	static const double weights[JOBS] = {1, 1, 2, 1};
	struct world world;
	world_init(&world, SHARE_SLOWDOWN, weights);
	for (int n = 0; n < 10; n++) {
		pass_window(&world, 0, 150, 1);
		pass_window(&world, 1, 50, 1);
		pass_window(&world, 2, 20, 1);
		cr_assert_eq(shares_window(&world.shares, 1, 2, .5), 0);
		cr_expect_null(world.shares.probed);
	}
	cr_expect_float_eq((double)world.jobs[0].own.quantum, ROUND_NS / 4., 10);
	cr_expect_float_eq((double)world.jobs[1].own.quantum, ROUND_NS / 4., 10);
	cr_expect_float_eq((double)world.jobs[2].own.quantum, ROUND_NS / 2., 10);
	pass_window(&world, 0, 150, 1);
	cr_assert_eq(shares_window(&world.shares, 1, 2, 2), 0);
	cr_expect_eq(world.shares.probed, &world.jobs[0]);
	leave_all(&world);
}

Test(share_queue, who_comes_back_has_as_much_as_the_others)
{
	struct world world;
	world_init(&world, SHARE_FAIR, alike);
	for (int n = 0; n < 5; n++) {
		pass_window(&world, 0, 100, 1);
		pass_window(&world, 1, 100, 1);
		cr_assert_eq(shares_window(&world.shares, 1, 2, 2), 0);
	}
	double busy = (double)world.jobs[0].own.quantum;
	cr_expect_float_eq(busy, ROUND_NS / 2., 10000);
	cr_expect_float_eq((double)world.jobs[2].own.quantum, busy, 10000);
	leave_all(&world);
}

/* One at a time, jobs that never idle get most of the decoders, each for three windows. */
Test(share_queue, needs_that_do_not_show_are_looked_for)
{
	struct world world;
	uint64_t probed[JOBS] = {0};
	world_init(&world, SHARE_SLOWDOWN, alike);
	for (int n = 0; n < 20; n++) {
		for (int i = 0; i < JOBS; i++) {
			double part = (double)world.jobs[i].own.quantum / ROUND_NS;
			bool is_probed = world.shares.probed == &world.jobs[i];
			cr_expect(!is_probed || part > .7);
			probed[i] += is_probed;
			pass_window(&world, i, 1 + (uint64_t)(200 * part), 1);
		}
		cr_assert_eq(shares_window(&world.shares, 1, 2, 2), 0);
		shares_validate(&world.shares);
	}
	for (int i = 0; i < JOBS; i++)
		cr_expect_eq(probed[i], 3, "job %d: %lu", i, probed[i]);
	cr_expect_null(world.shares.probed, "now they rest");
	leave_all(&world);
}

Test(share_queue, a_probe_ends_when_the_readers_idle_or_the_job_leaves)
{
	struct world world;
	world_init(&world, SHARE_SLOWDOWN, alike);
	pass_window(&world, 0, 50, 1);
	cr_assert_eq(shares_window(&world.shares, 1, 2, 2), 0);
	cr_expect_eq(world.shares.probed, &world.jobs[0]);
	pass_window(&world, 0, 60, .1);
	pass_window(&world, 1, 60, 1);
	cr_assert_eq(shares_window(&world.shares, 1, 2, 2), 0);
	cr_expect_null(world.shares.probed);
	cr_expect_float_eq(world.jobs[0].demand.rate, 65, 2);
	pass_window(&world, 1, 60, 1);
	cr_assert_eq(shares_window(&world.shares, 1, 2, 2), 0);
	cr_expect_eq(world.shares.probed, &world.jobs[1]);
	share_leave(&world.jobs[1]);
	cr_expect_null(world.shares.probed);
	share_join(&world.shares, &world.jobs[1], 1, MS);
	leave_all(&world);
}

Test(share_queue, nobody_is_probed_where_needs_do_not_count)
{
	static const enum share_policy without[] = {SHARE_FAIR, SHARE_FIFO};
	for (size_t i = 0; i < 2; i++) {
		struct world world;
		world_init(&world, without[i], alike);
		pass_window(&world, 0, 50, 1);
		cr_assert_eq(shares_window(&world.shares, 1, 2, 2), 0);
		cr_expect_null(world.shares.probed);
		leave_all(&world);
	}
}
