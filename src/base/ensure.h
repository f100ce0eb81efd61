// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* Aborts unless cond holds, in every build. For bugs; other failures are returned as -errno. */

#define ensure(cond)                                                                     \
	((cond) ? (void)0 : ensure_failed(#cond, __FILE__, __LINE__, __func__))

_Noreturn void ensure_failed(
	const char *condition, const char *file, int line, const char *function);
