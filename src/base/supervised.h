// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* What an engine tells the supervisor, in one message each: base/kept.c sends it,
 * supervisor/supervisor.c takes it. */
enum supervised_order {
	SUPERVISED_READY = 1,
	SUPERVISED_KEEP, /* with a descriptor */
	SUPERVISED_DROP
};

struct supervised_message {
	uint32_t order;
	uint32_t place; /* in kept.descriptors */
};
