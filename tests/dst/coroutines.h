// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Threads that a seed schedules: coroutines on one thread of the machine, with a clock of
 * their own. Only one runs; at each point where another one could run, chance decides.
 * When all wait the clock goes on to the first that waits for a time.
 *
 *   Flow: co_run(seed, first) runs until the first has ended, and with it all others.
 *         The result tells schedules apart: equal seeds have equal ones.
 *   Errors: when all wait for ever the process aborts.
 */

typedef void *co_main(void *context);

uint32_t co_run(uint64_t seed, co_main *first, void *context);
bool co_is_running(void);

int co_start(co_main *body, void *context);
void co_join(int id);
int co_self(void);

/* Another one may run now. */
void co_pause(void);
uint64_t co_now(void); /* ns */
void co_sleep(uint64_t ns);

/* Until somebody wakes those that wait for the same address; false: the time has come. */
bool co_wait_until(const void *what, uint64_t ns);
void co_wait(const void *what);
void co_wake(const void *what, bool all);

/* The only chance that there is in a run: below n. */
uint32_t co_random(uint32_t n);
static inline bool co_one_in(uint32_t n)
{
	return co_random(n) == 0;
}

/* Of threads.c: what each thread has to itself goes with it. */
void threads_switch(int from, int to);
void threads_begin(int id);
