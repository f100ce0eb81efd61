// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/heap.h"

#ifdef __SANITIZE_ADDRESS__
#include <stddef.h>

/* gcc does not install the header that declares this function. */
size_t __sanitizer_get_current_allocated_bytes(void);

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
