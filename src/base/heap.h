// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Returns the bytes of the C library's heap that are in use: allocated and not freed. Freed memory
 * that the library keeps is not counted, and tensors are not counted, because they are mapped.
 *
 *   Threads: any. The function takes the heap's locks, one after the other.
 */
uint64_t heap_bytes(void);
