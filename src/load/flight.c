// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/flight.h"
#include "base/ensure.h"

#define FIRST_LIMIT                                                                      \
	64	      /* reads in flight at first; measurements soon lower it if needed */
#define LEAST_LIMIT 2 /* while one read hangs, another one can still run */
#define LEAST_ROUND 32 /* reads; enough to distinguish rates that differ by a quarter */
#define REWARD 1.25    /* a doubled limit is kept if the rate grows by this factor */
/* a halved limit is kept if the rate is at least this part of the earlier one */
#define LOSS .9
#define REST_ROUNDS 16 /* rounds between a try and the next one */

void flight_init(struct flight *flight, unsigned limit, unsigned most)
{
	unsigned first = most < FIRST_LIMIT ? most : FIRST_LIMIT;
	ensure(most > 0);
	*flight = (struct flight){.most = limit ? limit : most,
		.limit = limit ? limit : first,
		.fixed = limit > 0};
	flight->settled = flight->limit;
}

bool flight_has_room(const struct flight *flight)
{
	return flight->in_flight < flight->limit;
}

void flight_begin(struct flight *flight, uint64_t now_ns)
{
	/* Time without a read in flight says nothing about the storage, and does not count. */
	if (flight->in_flight++ == 0)
		flight->begun_ns += now_ns - flight->idle_ns;
}

static void settle(struct flight *flight, double rate)
{
	flight->settled = flight->limit;
	flight->rate = rate;
}

/* Decides whether a tried limit is kept. If a doubled limit is kept, the next round doubles it
 * again. Otherwise REST_ROUNDS rounds pass before the next try. If the limit is not kept, the next
 * try goes in the other direction: a half after a failed double, a double after a failed half. */
static void judge_try(struct flight *flight, double rate)
{
	bool less = flight->tries_less;
	if (rate >= flight->rate * (less ? LOSS : REWARD)) {
		settle(flight, rate);
		flight->rest = less ? REST_ROUNDS : 0;
		return;
	}
	flight->limit = flight->settled;
	flight->has_failed = true;
	flight->tries_less = !less;
	flight->rest = REST_ROUNDS;
}

static void try_another(struct flight *flight)
{
	unsigned other = flight->settled * 2;
	if (flight->rest > 0) {
		flight->rest--;
		return;
	}
	if (flight->tries_less || other > flight->most)
		other = flight->settled / 2;
	flight->tries_less = other < flight->settled;
	if (other >= LEAST_LIMIT)
		flight->limit = other;
	else
		flight->tries_less = false;
}

/* Ends a round in which the limit was rarely reached. The rate of such a round tells nothing about
 * the limit, so the settled limit is restored. But a doubled limit is kept if the rate did not
 * fall: reads had to wait at the settled limit, and no longer wait at the doubled one. */
static void end_idle_round(struct flight *flight, double rate)
{
	if (flight->limit > flight->settled && rate >= flight->rate)
		flight->settled = flight->limit;
	flight->limit = flight->settled;
}

static void end_round(struct flight *flight, uint64_t now_ns)
{
	double seconds = (double)(now_ns - flight->begun_ns) / 1e9;
	bool full = flight->at_limit * 4 >= flight->ended * 3 && seconds > 0;
	double rate = seconds > 0 ? flight->ended / seconds : 0;
	flight->begun_ns = now_ns;
	flight->ended = flight->at_limit = 0;
	if (!full) {
		end_idle_round(flight, rate);
		return;
	}
	if (flight->limit != flight->settled)
		judge_try(flight, rate);
	else
		settle(flight, rate);
	if (flight->limit == flight->settled)
		try_another(flight);
}

static unsigned round_reads(const struct flight *flight)
{
	unsigned reads = flight->has_failed ? flight->limit * 2 : flight->limit;
	return reads > LEAST_ROUND ? reads : LEAST_ROUND;
}

void flight_end(struct flight *flight, uint64_t now_ns)
{
	ensure(flight->in_flight > 0);
	flight->at_limit += flight->in_flight >= flight->limit;
	flight->ended++;
	flight->in_flight--;
	flight->idle_ns = now_ns;
	if (!flight->fixed && flight->ended >= round_reads(flight))
		end_round(flight, now_ns);
}
