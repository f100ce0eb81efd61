// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sampler/sampler.h"

/* The paper's dependent sampling tree, only for the simulation. It does not support labels. */
#define SAMPLER_DSA_TREE ((enum sampler_kind)(SAMPLER_SEQUENTIAL + 1))

must_check int sim_sampler_new(
	enum sampler_kind kind, uint64_t seed, struct sampler **ret);
