// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/pixel_type.h"

/* How NumPy calls the order of bytes of this machine. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_ORDER "<"
#else
#define OUR_ORDER ">"
#endif

size_t pixel_type_bytes(struct pixel_type type)
{
	static const size_t bytes[] = {
		[DTYPE_UINT8] = 1, [DTYPE_FLOAT32] = 4, [DTYPE_FLOAT16] = 2};
	return bytes[type.dtype];
}

const char *pixel_type_npy(struct pixel_type type)
{
	static const char *const names[] = {[DTYPE_UINT8] = "|u1",
		[DTYPE_FLOAT32] = OUR_ORDER "f4",
		[DTYPE_FLOAT16] = OUR_ORDER "f2"};
	return names[type.dtype];
}
