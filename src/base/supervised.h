// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Messages from the engine (base/kept.c) to the supervisor (supervisor/supervisor.c). */
enum supervised_order {
	SUPERVISED_READY = 1,
	SUPERVISED_KEEP, /* carries a descriptor */
	SUPERVISED_DROP
};

struct supervised_message {
	uint32_t order;
	uint32_t place; /* index in kept.descriptors */
};
