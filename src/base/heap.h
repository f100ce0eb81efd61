// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Returns the number of bytes that are allocated in the C library's heap. Freed memory
 * that the library keeps does not count. Tensors do not count, because they are mapped.
 * Any thread may call this; the function takes the heap's locks, one after the other. */
uint64_t heap_bytes(void);
