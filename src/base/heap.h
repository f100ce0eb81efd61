// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Returns the bytes allocated in the C library's heap, without freed memory that the library keeps,
 * and without tensors, which are mapped. Takes the heap's locks. Any thread may call this. */
uint64_t heap_bytes(void);
