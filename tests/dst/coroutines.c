// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coroutines.h"
#include "base/ensure.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define COROUTINES 32
#define STACK (256 * 1024)
#define BEGIN_NS UINT64_C(1000000000000)
#define NEVER UINT64_MAX

enum state { FREE, READY, WAITS, ENDED };

static struct coroutine {
	enum state state;
	ucontext_t context;
	char *stack;
	co_main *body;
	void *argument;
	const void *what;
	uint64_t until_ns;
	bool woken;
	uint32_t weight; /* how often the coroutine runs, compared with the others */
	void *fake_stack;
} coroutines[COROUTINES];

static struct rng rng;
static uint64_t now_ns;
static uint32_t stays; /* one of this many pauses lets another coroutine run */
static int running = -1, before = -1;
static ucontext_t outside;
static void *outside_fake_stack;
static const void *outside_stack;
static size_t outside_size;

bool co_is_running(void)
{
	return running >= 0;
}

int co_self(void)
{
	return running;
}

uint64_t co_now(void)
{
	return now_ns;
}

uint32_t co_random(uint32_t n)
{
	return (uint32_t)rng_below(&rng, n);
}

/* --- switching ------------------------------------------------------------------------ */

/* to < 0: the stack outside of the run. */
static void leave_stack(int from, int to, bool for_ever)
{
#ifdef __SANITIZE_ADDRESS__
	void **save = from < 0 ? &outside_fake_stack : &coroutines[from].fake_stack;
	__sanitizer_start_switch_fiber(for_ever ? NULL : save,
		to < 0 ? outside_stack : coroutines[to].stack,
		to < 0 ? outside_size : STACK);
#else
	(void)from, (void)to, (void)for_ever;
#endif
}

static void enter_stack(int self)
{
#ifdef __SANITIZE_ADDRESS__
	const void *bottom;
	size_t size;
	__sanitizer_finish_switch_fiber(
		self < 0 ? outside_fake_stack : coroutines[self].fake_stack, &bottom,
		&size);
	if (before < 0) {
		outside_stack = bottom;
		outside_size = size;
	}
#else
	(void)self, (void)outside_fake_stack, (void)outside_stack, (void)outside_size;
#endif
}

static void switch_to(int to)
{
	int self = running;
	if (to == self)
		return;
	if (self >= 0 && to >= 0)
		threads_switch(self, to);
	before = self;
	running = to;
	leave_stack(self, to, self >= 0 && coroutines[self].state == ENDED);
	swapcontext(self < 0 ? &outside : &coroutines[self].context,
		to < 0 ? &outside : &coroutines[to].context);
	enter_stack(self);
}

/* Wakes coroutines whose time has come. */
static void wake_due(void)
{
	for (int i = 0; i < COROUTINES; i++)
		if (coroutines[i].state == WAITS && coroutines[i].until_ns <= now_ns)
			coroutines[i].state = READY;
}

static uint64_t first_due(void)
{
	uint64_t first = NEVER;
	for (int i = 0; i < COROUTINES; i++)
		if (coroutines[i].state == WAITS && coroutines[i].until_ns < first)
			first = coroutines[i].until_ns;
	return first;
}

static uint32_t sum_weights(void)
{
	uint32_t sum = 0;
	for (int i = 0; i < COROUTINES; i++)
		if (coroutines[i].state == READY)
			sum += coroutines[i].weight;
	return sum;
}

static int choose(void)
{
	uint32_t sum;
	wake_due();
	while ((sum = sum_weights()) == 0) {
		uint64_t first = first_due();
		if (first == NEVER)
			ensure(!"somebody is not waited for");
		now_ns = first;
		wake_due();
	}
	uint32_t place = co_random(sum);
	for (int i = 0;; i++) {
		if (coroutines[i].state != READY)
			continue;
		if (place < coroutines[i].weight)
			return i;
		place -= coroutines[i].weight;
	}
}

void co_pause(void)
{
	if (running < 0)
		return;
	now_ns += co_random(2000);
	if (co_one_in(stays))
		switch_to(choose());
}

/* --- waiting -------------------------------------------------------------------------- */

bool co_wait_until(const void *what, uint64_t ns)
{
	struct coroutine *self = &coroutines[running];
	self->state = WAITS;
	self->what = what;
	self->until_ns = ns;
	self->woken = false;
	switch_to(choose());
	self->what = NULL;
	return self->woken;
}

void co_wait(const void *what)
{
	(void)co_wait_until(what, NEVER);
}

void co_sleep(uint64_t ns)
{
	(void)co_wait_until(NULL, now_ns + ns);
}

static void wake(struct coroutine *coroutine)
{
	coroutine->woken = true;
	coroutine->what = NULL;
	coroutine->state = READY;
}

void co_wake(const void *what, bool all)
{
	struct coroutine *one = NULL;
	uint32_t n = 0;
	for (int i = 0; i < COROUTINES; i++) {
		struct coroutine *coroutine = &coroutines[i];
		if (coroutine->state != WAITS || coroutine->what != what)
			continue;
		if (all)
			wake(coroutine);
		else if (co_one_in(++n))
			one = coroutine;
	}
	if (one)
		wake(one);
}

/* --- life ----------------------------------------------------------------------------- */

static void begin(void)
{
	struct coroutine *self = &coroutines[running];
	enter_stack(running);
	(void)self->body(self->argument);
	self->state = ENDED;
	co_wake(self, true);
	switch_to(running == 0 ? -1 : choose());
	abort();
}

static char *make_stack(char *stack)
{
	if (!stack)
		stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ensure(stack != MAP_FAILED);
#ifdef __SANITIZE_ADDRESS__
	__asan_unpoison_memory_region(stack, STACK);
#endif
	return stack;
}

static void prepare(struct coroutine *coroutine, co_main *body, void *argument)
{
	*coroutine = (struct coroutine){.state = READY,
		.stack = make_stack(coroutine->stack),
		.body = body,
		.argument = argument,
		.weight = co_one_in(3) ? 1 : 16};
	getcontext(&coroutine->context);
	coroutine->context.uc_stack.ss_sp = coroutine->stack;
	coroutine->context.uc_stack.ss_size = STACK;
	makecontext(&coroutine->context, begin, 0);
}

int co_start(co_main *body, void *context)
{
	int id = 0;
	while (coroutines[id].state != FREE)
		ensure(++id < COROUTINES);
	prepare(&coroutines[id], body, context);
	threads_begin(id);
	return id;
}

void co_join(int id)
{
	while (coroutines[id].state != ENDED)
		co_wait(&coroutines[id]);
	coroutines[id].state = FREE;
}

uint32_t co_run(uint64_t seed, co_main *first, void *context)
{
	rng_seed(&rng, seed);
	now_ns = BEGIN_NS;
	stays = 1 + co_random(co_one_in(2) ? 4 : 40);
	int id = co_start(first, context);
	ensure(id == 0);
	switch_to(0);
	coroutines[0].state = FREE;
	for (int i = 0; i < COROUTINES; i++)
		ensure(coroutines[i].state == FREE);
	return co_random(UINT32_MAX);
}
