// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/baseline_internal.h"

#if defined(__x86_64__)

#include "image/baseline/avx2.h"
#include "image/baseline/scan.h"

static avx2 bool scan_row(struct scan *scan, const struct kernels *kernels, bool keep)
{
	return take_row(scan, kernels, keep);
}

const struct kernels *kernels_avx2(void)
{
	static const struct kernels kernels = {
		.scan_row = scan_row,
		.transform = transform_avx2,
		.rgb = rgb_avx2,
		.rgb_wide = rgb_wide_avx2,
		.gray = gray_avx2,
	};
	bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		   __builtin_cpu_supports("bmi2");
	return has ? &kernels : NULL;
}

#else

const struct kernels *kernels_avx2(void)
{
	return NULL;
}

#endif
