// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/heap.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/allocator_interface.h>

uint64_t heap_bytes(void)
{
	return __sanitizer_get_current_allocated_bytes();
}
#else
#include <malloc.h>

uint64_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();
	return (uint64_t)info.uordblks + info.hblkhd;
}
#endif
