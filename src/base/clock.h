// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Returns nanoseconds of CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);
