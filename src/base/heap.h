// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Bytes of the C library's heap that are in use: what was allocated and not freed. What it
 * keeps for later is not counted, nor are tensors, which are mapped.
 *
 *   Threads: any. It takes the heap's locks, one after the other.
 */
uint64_t heap_bytes(void);
