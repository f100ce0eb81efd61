// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Threads that a seed schedules: coroutines on one thread of the machine, with a clock of their
 * own. One coroutine runs at a time. At each point where another one could run, chance decides.
 * When all coroutines wait, the clock advances to the earliest time for which one waits.
 *
 *   Flow: co_run(seed, first) runs until the first coroutine has ended; then all others end.
 *         The result identifies the schedule: equal seeds have equal results.
 *   Errors: when all coroutines wait without a time, the process aborts.
 */

typedef void *co_main(void *context);

uint32_t co_run(uint64_t seed, co_main *first, void *context);
bool co_is_running(void);

int co_start(co_main *body, void *context);
void co_join(int id);
int co_self(void);

/* Lets another coroutine run, if chance says so. */
void co_pause(void);
uint64_t co_now(void); /* ns */
void co_sleep(uint64_t ns);

/* Waits until co_wake is called for the same address. Returns false if the time came first. */
bool co_wait_until(const void *what, uint64_t ns);
void co_wait(const void *what);
void co_wake(const void *what, bool all);

/* Returns a random number below n. All chance of a run comes from here. */
uint32_t co_random(uint32_t n);
static inline bool co_one_in(uint32_t n)
{
	return co_random(n) == 0;
}

/* Functions of threads.c: they save and restore the data that each thread has for itself. */
void threads_switch(int from, int to);
void threads_begin(int id);
