// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share_internal.h"
#include "base/ensure.h"

#include <errno.h>
#include <stdlib.h>

/* The largest debt, in quanta of the job, that a job can get from samples decoded in other jobs'
 * turns. The limit keeps the job's own requests from waiting too long. */
#define MOST_ROUNDS_OF_DEBT 100

struct share_want {
	/* link in a queue of the job's lane or, while the request is aside, in job->aside */
	TAILQ_ENTRY(share_want) link;
	LIST_ENTRY(share_want) also; /* link in request->wants */
	struct share_job *job;
	struct share_request *request;
	bool urgent;
};

/* --- wants ------------------------------------------------------------------------------ */

static struct share_want *want_of(
	const struct share_job *job, const struct share_request *request)
{
	struct share_want *want;
	LIST_FOREACH (want, &request->wants, also)
		if (want->job == job)
			return want;
	return NULL;
}

static bool is_empty(const struct share_lane *lane)
{
	return TAILQ_EMPTY(&lane->urgent) && TAILQ_EMPTY(&lane->ahead);
}

static struct share_wants *queue_of(const struct share_want *want)
{
	struct share_lane *lane = want->job->lane;
	return want->urgent ? &lane->urgent : &lane->ahead;
}

static void unqueue(struct share_want *want)
{
	struct share_lane *lane = want->job->lane;
	if (want->request->aside) {
		TAILQ_REMOVE(&want->job->aside, want, link);
		return;
	}
	TAILQ_REMOVE(queue_of(want), want, link);
	if (is_empty(lane) && lane->deficit > 0)
		lane->deficit = 0;
}

static void queue(struct share_want *want)
{
	if (want->request->aside)
		TAILQ_INSERT_TAIL(&want->job->aside, want, link);
	else
		TAILQ_INSERT_TAIL(queue_of(want), want, link);
}

static void forget(struct share_want *want)
{
	unqueue(want);
	LIST_REMOVE(want, also);
	free(want);
}

static void change_urgency(struct share_want *want, bool urgent)
{
	if (want->urgent == urgent)
		return;
	if (want->request->aside) {
		want->urgent = urgent;
		return;
	}
	TAILQ_REMOVE(queue_of(want), want, link);
	want->urgent = urgent;
	if (urgent)
		TAILQ_INSERT_TAIL(queue_of(want), want, link);
	else
		TAILQ_INSERT_HEAD(queue_of(want), want, link);
}

int share_ask(struct share_job *job, struct share_request *request, bool urgent)
{
	struct share_want *want = want_of(job, request);
	if (want) {
		change_urgency(want, urgent);
		return 0;
	}
	want = malloc(sizeof(*want));
	if (!want)
		return -ENOMEM;
	*want = (struct share_want){.job = job, .request = request, .urgent = urgent};
	LIST_INSERT_HEAD(&request->wants, want, also);
	queue(want);
	return 0;
}

void share_drop(struct share_request *request)
{
	struct share_want *want;
	while ((want = LIST_FIRST(&request->wants)))
		forget(want);
	request->aside = false;
}

void share_put_aside(struct share_request *request)
{
	struct share_want *want;
	if (request->aside)
		return;
	LIST_FOREACH (want, &request->wants, also) {
		unqueue(want);
		TAILQ_INSERT_TAIL(&want->job->aside, want, link);
	}
	request->aside = true;
}

void share_again(struct share_request *request)
{
	struct share_want *want;
	if (!request->aside)
		return;
	LIST_FOREACH (want, &request->wants, also)
		unqueue(want);
	request->aside = false;
	LIST_FOREACH (want, &request->wants, also)
		queue(want);
}

bool share_wants(const struct share_job *job, const struct share_request *request)
{
	return want_of(job, request) != NULL;
}

bool share_is_wanted(const struct share_request *request)
{
	return !LIST_EMPTY(&request->wants);
}

void share_request_init(struct share_request *request, uint64_t cost_ns)
{
	*request = (struct share_request){.cost_ns = cost_ns};
	LIST_INIT(&request->wants);
}

/* --- jobs ------------------------------------------------------------------------------- */

static void lane_init(struct share_lane *lane)
{
	*lane = (struct share_lane){.quantum = SHARE_ROUND_NS};
	TAILQ_INIT(&lane->urgent);
	TAILQ_INIT(&lane->ahead);
}

void shares_init(struct shares *shares, enum share_policy policy)
{
	*shares = (struct shares){.policy = policy};
	TAILQ_INIT(&shares->jobs);
	lane_init(&shares->all);
}

void share_join(
	struct shares *shares, struct share_job *job, double weight, uint64_t cost_ns)
{
	ensure(weight > 0);
	*job = (struct share_job){
		.shares = shares, .weight = weight, .cost = (double)cost_ns / SHARE_NS};
	lane_init(&job->own);
	TAILQ_INIT(&job->aside);
	job->lane = shares->policy == SHARE_FIFO ? &shares->all : &job->own;
	TAILQ_INSERT_TAIL(&shares->jobs, job, link);
	share_make_place(job);
}

static void forget_all(struct share_wants *wants, const struct share_job *job)
{
	struct share_want *want, *next;
	for (want = TAILQ_FIRST(wants); want; want = next) {
		next = TAILQ_NEXT(want, link);
		if (want->job == job)
			forget(want);
	}
}

void share_leave(struct share_job *job)
{
	forget_all(&job->lane->urgent, job);
	forget_all(&job->lane->ahead, job);
	forget_all(&job->aside, job);
	if (job->shares->probed == job)
		job->shares->probed = NULL;
	TAILQ_REMOVE(&job->shares->jobs, job, link);
}

/* --- whose turn it is ------------------------------------------------------------------- */

/* Charges a job for its part, in ns, of a decode time. took: the decode is in this job's turn. */
static void charge_one(struct share_job *job, int64_t part, bool took)
{
	struct share_lane *lane = &job->own;
	int64_t debt = lane->deficit - part;
	int64_t most = -MOST_ROUNDS_OF_DEBT * lane->quantum;
	job->charged_ns += (uint64_t)part;
	if (job->lane != lane)
		return; /* with SHARE_FIFO there are no turns, and so no deficits */
	if (!took && debt < most)
		debt = lane->deficit < most ? lane->deficit : most;
	lane->deficit = debt;
}

/* Divides first->cost_ns equally among the wants for `first` and for the requests decoded together
 * with it, and charges each want's job for one part. */
static void charge(const struct share_request *first, const struct share_job *taker)
{
	const struct share_request *request;
	const struct share_want *want;
	int64_t n = 0;
	for (request = first; request; request = request->with)
		LIST_FOREACH (want, &request->wants, also)
			n++;
	for (request = first; request; request = request->with)
		LIST_FOREACH (want, &request->wants, also)
			charge_one(want->job, (int64_t)first->cost_ns / n,
				want->job == taker);
}

void share_with(struct share_request *first, struct share_request *other)
{
	other->with = first->with;
	first->with = other;
}

/* Offers the requests of a queue, one after another. Returns the want whose request `offer` answers
 * with SHARE_TAKE or SHARE_STOP; NULL: none. SHARE_PASS_REST skips the rest of the queue or, with
 * SHARE_FIFO, whose queue belongs to all jobs, only one request. */
static struct share_want *offer_queue(const struct share_wants *wants, share_offer *offer,
	void *context, enum share_answer *ret_answer)
{
	struct share_want *want;
	TAILQ_FOREACH (want, wants, link) {
		*ret_answer = offer(context, want->request);
		if (*ret_answer == SHARE_PASS_REST && want->job->lane == &want->job->own)
			break;
		if (*ret_answer == SHARE_TAKE || *ret_answer == SHARE_STOP)
			return want;
	}
	*ret_answer = SHARE_PASS;
	return NULL;
}

enum kinds { URGENT = 1, AHEAD = 2, BOTH = URGENT | AHEAD };

static bool has(const struct share_lane *lane, enum kinds kinds)
{
	return ((kinds & URGENT) && !TAILQ_EMPTY(&lane->urgent)) ||
	       ((kinds & AHEAD) && !TAILQ_EMPTY(&lane->ahead));
}

static struct share_want *offer_lane(const struct share_lane *lane, enum kinds kinds,
	share_offer *offer, void *context, enum share_answer *ret_answer)
{
	struct share_want *want = NULL;
	if (kinds & URGENT)
		want = offer_queue(&lane->urgent, offer, context, ret_answer);
	if (!want && (kinds & AHEAD))
		want = offer_queue(&lane->ahead, offer, context, ret_answer);
	return want;
}

static struct share_request *take(const struct share_want *want)
{
	struct share_request *first = want->request, *request, *next;
	charge(first, want->job);
	for (request = first; request; request = next) {
		next = request->with;
		request->with = NULL;
		share_put_aside(request);
	}
	return first;
}

/* Returns the number of rounds after which one of the jobs that have requests, but no turn, gets
 * its turn. 0: there is no such job. */
static int64_t rounds_to_a_turn(const struct shares *shares, enum kinds kinds)
{
	const struct share_job *job;
	int64_t least = 0;
	TAILQ_FOREACH (job, &shares->jobs, link) {
		const struct share_lane *lane = job->lane;
		if (!has(lane, kinds) || lane->deficit > 0)
			continue;
		int64_t rounds = -lane->deficit / lane->quantum + 1;
		if (least == 0 || rounds < least)
			least = rounds;
	}
	return least;
}

/* Adds `rounds` quanta to the deficit of each lane. A deficit grows to at most one quantum; in a
 * lane without requests, to at most 0. */
static void give_rounds(struct shares *shares, int64_t rounds)
{
	struct share_job *job;
	TAILQ_FOREACH (job, &shares->jobs, link) {
		struct share_lane *lane = job->lane;
		int64_t most = is_empty(lane) ? 0 : lane->quantum;
		lane->deficit += rounds * lane->quantum;
		if (lane->deficit > most)
			lane->deficit = most;
	}
}

static struct share_job *next_with_turn(struct share_job *job, enum kinds kinds)
{
	while (job && (!has(job->lane, kinds) || job->lane->deficit <= 0 || job->passed))
		job = TAILQ_NEXT(job, link);
	return job;
}

/* Offers the requests of all jobs that have their turn. Returns the want that offer_queue has
 * returned; NULL: `offer` has skipped all requests. */
static struct share_want *offer_turns(struct shares *shares, enum kinds kinds,
	share_offer *offer, void *context, enum share_answer *ret_answer)
{
	struct share_job *job = TAILQ_FIRST(&shares->jobs);
	while ((job = next_with_turn(job, kinds))) {
		struct share_want *want =
			offer_lane(job->lane, kinds, offer, context, ret_answer);
		if (want)
			return want;
		job->passed = true;
	}
	return NULL;
}

static struct share_want *offer_lanes(struct shares *shares, enum kinds kinds,
	share_offer *offer, void *context, enum share_answer *ret_answer)
{
	struct share_job *job;
	int64_t rounds;
	TAILQ_FOREACH (job, &shares->jobs, link)
		job->passed = false;
	do {
		struct share_want *want =
			offer_turns(shares, kinds, offer, context, ret_answer);
		if (want)
			return want;
		rounds = rounds_to_a_turn(shares, kinds);
		give_rounds(shares, rounds);
	} while (rounds > 0);
	return NULL;
}

/* If decoders are short, each job gets its share, whether or not its requests are urgent. Otherwise
 * all urgent requests come before all look-ahead, so that no job falls behind: such a job would no
 * longer draw the same samples as the others. */
static struct share_want *offer_all(
	struct shares *shares, share_offer *offer, void *context, enum share_answer *ret)
{
	struct share_want *want = NULL;
	if (shares->policy == SHARE_FIFO)
		return offer_lane(&shares->all, BOTH, offer, context, ret);
	if (shares->is_short)
		return offer_lanes(shares, BOTH, offer, context, ret);
	want = offer_lanes(shares, URGENT, offer, context, ret);
	return want ? want : offer_lanes(shares, AHEAD, offer, context, ret);
}

struct share_request *share_next(struct shares *shares, share_offer *offer, void *context)
{
	enum share_answer answer;
	struct share_want *want = offer_all(shares, offer, context, &answer);
	return want && answer == SHARE_TAKE ? take(want) : NULL;
}

/* --- invariants -------------------------------------------------------------------------- */

static void validate_queue(
	const struct share_wants *wants, const struct share_lane *lane, bool urgent)
{
	const struct share_want *want;
	TAILQ_FOREACH (want, wants, link) {
		ensure(want->job->lane == lane && want->urgent == urgent);
		ensure(want_of(want->job, want->request) == want);
		ensure(!want->request->aside);
	}
}

static void validate_lane(const struct share_lane *lane)
{
	validate_queue(&lane->urgent, lane, true);
	validate_queue(&lane->ahead, lane, false);
	ensure(lane->quantum > 0 && lane->deficit <= lane->quantum);
	ensure(!is_empty(lane) || lane->deficit <= 0);
}

void shares_validate(const struct shares *shares)
{
	const struct share_job *job;
	const struct share_want *want;
	validate_lane(&shares->all);
	TAILQ_FOREACH (job, &shares->jobs, link) {
		validate_lane(&job->own);
		TAILQ_FOREACH (want, &job->aside, link)
			ensure(want->request->aside && want->job == job);
	}
}
