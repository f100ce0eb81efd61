// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Returns text that the caller frees. NULL, and errno ENOMEM: no memory. */
must_check char *aprintf(const char *format, ...) printf_like(1, 2);
