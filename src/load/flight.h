// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Limits the number of reads of one storage in flight. The best limit is the smallest one at which
 * the storage has its full speed. It is found by trying.
 *
 * A round is a number of completed reads: as many as the limit until the first try has failed, so
 * that the limit doubles with each round trip; then twice as many. If the limit was reached in a
 * round, the next round tries twice the limit, or half. The doubled limit is kept if it gives a
 * quarter more reads per second, or if it was not reached. The halved limit is kept if it gives
 * nearly as many reads per second.
 *
 *   Flow: flight_init -> flight_begin, flight_end for each read, as long as flight_has_room.
 *   Threads, locks, clock: none; the caller serialises and passes the time.
 */

struct flight {
	unsigned most;	    /* the highest limit */
	unsigned limit;	    /* reads that may be in flight now */
	unsigned settled;   /* the limit between tries */
	bool fixed;	    /* the limit never changes */
	bool has_failed;    /* some try has failed */
	bool tries_less;    /* the present or next try is a lower limit */
	unsigned in_flight; /* reads in flight */
	double rate;	    /* reads per second at the settled limit; 0: not known */
	unsigned rest;	    /* rounds until the next try */
	/* The members from here on are about the running round. */
	/* time of its beginning, delayed by the time without reads in flight */
	uint64_t begun_ns;
	uint64_t idle_ns; /* time when the last read ended */
	unsigned ended;
	unsigned at_limit; /* completed reads during which the limit was reached */
};

/* Initialises a flight. limit 0: the limit is found by trying, up to `most`. */
void flight_init(struct flight *flight, unsigned limit, unsigned most);
bool flight_has_room(const struct flight *flight);
void flight_begin(struct flight *flight, uint64_t now_ns);
void flight_end(struct flight *flight, uint64_t now_ns);
