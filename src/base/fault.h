// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

/* Fault injection: a named place in the code fails on demand, so that tests can check the reaction.
 * `--fault load.read:EIO:after=3:times=1` lets the place load.read succeed three times, then fail
 * once with EIO. With `until=FILE` the place first waits until the file exists; with the error NONE
 * it then succeeds. The error BUG makes an assertion fail at the place; CRASH kills the process.
 * Threads: fault_add before other threads start; fault_hit in any thread, but without locks,
 * because a place with `until` waits. */

/* Adds the fault that --fault describes. Returns 0, -ENOMEM, or -EINVAL, logged. */
must_check int fault_add(const char *specification);

/* Returns the -errno with which the place must fail now, or 0. */
int fault_hit(const char *place);

bool fault_is_any(void);

void fault_clear(void);
