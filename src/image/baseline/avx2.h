// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/baseline/baseline_internal.h"

/* Vector code for AVX2. Each function gives the same result as the portable code. */

#define avx2 __attribute__((target("avx2,bmi,bmi2")))
#define inline_avx2 static inline __attribute__((always_inline)) avx2

bool transform_avx2(struct pair *pair, const struct quant *quant, size_t stride);
void rgb_avx2(
	const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint32_t n, uint8_t *out);
void rgb_wide_avx2(
	const uint8_t *y, const struct chroma *chroma, uint32_t n, uint8_t *out);
void gray_avx2(const uint8_t *y, uint32_t n, uint8_t *out);
