// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"

/* Lets a program observe its locks: the linker (bench.mk) replaces lock_take and similar functions
 * by those of lock_calls.c, which also call the following functions of the program. The lock is
 * held in all of these except lock_calls_taking. */

void lock_calls_taking(struct lock *lock);
void lock_calls_begin(const struct lock *lock);
/* Called before a lock is released. by: address in the code that releases the lock. */
void lock_calls_end(const struct lock *lock, const void *by);
/* Called when a thread that waited on a condition was woken. */
void lock_calls_woken(void);
