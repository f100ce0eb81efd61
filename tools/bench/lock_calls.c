// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "lock_calls.h"

void __real_lock_take(struct lock *lock);
void __real_lock_release(struct lock *lock);
void __real_lock_yield(struct lock *lock);
void __real_lock_wait(struct lock *lock, pthread_cond_t *cond);
int __real_lock_wait_until(struct lock *lock, pthread_cond_t *cond, uint64_t deadline_ns);
void __wrap_lock_take(struct lock *lock);
void __wrap_lock_release(struct lock *lock);
void __wrap_lock_yield(struct lock *lock);
void __wrap_lock_wait(struct lock *lock, pthread_cond_t *cond);
int __wrap_lock_wait_until(struct lock *lock, pthread_cond_t *cond, uint64_t deadline_ns);

void __wrap_lock_take(struct lock *lock)
{
	lock_calls_taking(lock);
	__real_lock_take(lock);
	lock_calls_begin(lock);
}

void __wrap_lock_release(struct lock *lock)
{
	lock_calls_end(lock, __builtin_return_address(0));
	__real_lock_release(lock);
}

void __wrap_lock_yield(struct lock *lock)
{
	lock_calls_end(lock, __builtin_return_address(0));
	__real_lock_yield(lock);
	lock_calls_begin(lock);
}

void __wrap_lock_wait(struct lock *lock, pthread_cond_t *cond)
{
	lock_calls_end(lock, __builtin_return_address(0));
	__real_lock_wait(lock, cond);
	lock_calls_woken();
	lock_calls_begin(lock);
}

int __wrap_lock_wait_until(struct lock *lock, pthread_cond_t *cond, uint64_t deadline_ns)
{
	lock_calls_end(lock, __builtin_return_address(0));
	int err = __real_lock_wait_until(lock, cond, deadline_ns);
	if (!err)
		lock_calls_woken();
	lock_calls_begin(lock);
	return err;
}
