// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"

/*
 * Observes locks. Programs that measure locks are linked (bench.mk) so that calls of lock_take and
 * similar functions go to lock_calls.c, which also calls the functions below. The program defines
 * these functions.
 *
 *   Threads: any; the lock is held in all functions except lock_calls_taking.
 */

/* Called when a lock is about to be taken. */
void lock_calls_taking(struct lock *lock);
void lock_calls_begin(const struct lock *lock);
/* Called when a lock is about to be released. by: the address of the caller. */
void lock_calls_end(const struct lock *lock, const void *by);
/* Called when a thread was woken that waited on a condition with a lock. */
void lock_calls_woken(void);
