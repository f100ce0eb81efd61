// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Limits how many reads of one storage are in flight, to the number beyond which the
 * storage gets no faster. The number is found by trying. A round is a number of reads
 * that end: as many as are allowed at once, until the first try fails, so that the number
 * doubles with each round trip; then twice as many. If a round had as many reads in
 * flight as were allowed, the next round tries twice as many, or half. Twice as many stay
 * if they give a quarter more reads per second, or if no more were requested meanwhile;
 * half as many stay if they give nearly as many reads per second.
 *
 *   Flow: flight_init -> flight_begin, flight_end for each read, as far as
 *         flight_has_room.
 *   Threads, locks, clock: none; the caller serialises and tells the time.
 */

struct flight {
	unsigned most;	    /* the highest limit */
	unsigned limit;	    /* reads that may be in flight now */
	unsigned settled;   /* the limit while nothing is tried */
	bool fixed;	    /* the limit never changes */
	bool has_failed;    /* a try has failed */
	bool tries_less;    /* a try (limit != settled, or the next one) is of less */
	unsigned in_flight; /* reads in flight */
	double rate;	    /* reads per second at the settled limit; 0: not known */
	unsigned rest;	    /* rounds without a try */
	/* the running round: */
	uint64_t begun_ns; /* its beginning, later by the time without reads in flight */
	uint64_t idle_ns;  /* when the last read ended */
	unsigned ended;
	unsigned at_limit; /* reads that ended with no room left */
};

/* Initialises a flight. limit 0: the limit is found by trying, up to `most`. */
void flight_init(struct flight *flight, unsigned limit, unsigned most);
bool flight_has_room(const struct flight *flight);
void flight_begin(struct flight *flight, uint64_t now_ns);
void flight_end(struct flight *flight, uint64_t now_ns);
