// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"

/*
 * Programs that measure locks are linked so that lock_take and its like come by lock_calls.c
 * (bench.mk), which calls what is here. The program defines it.
 *
 *   Threads: any; the lock is held in all but lock_calls_taking.
 */

/* Called when a lock is about to be taken. */
void lock_calls_taking(struct lock *lock);
void lock_calls_begin(const struct lock *lock);
/* by: where in the program it is let go. */
void lock_calls_end(const struct lock *lock, const void *by);
/* The thread has been woken that waited for something with it. */
void lock_calls_woken(void);
