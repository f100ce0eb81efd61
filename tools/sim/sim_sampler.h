// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sampler/sampler.h"

/* A kind of sampler that only the simulation has: the paper's dependent sampling tree. It does not
 * support labels. */
#define SAMPLER_DSA_TREE ((enum sampler_kind)(SAMPLER_SEQUENTIAL + 1))

/* Makes a sampler of any kind. */
must_check int sim_sampler_new(
	enum sampler_kind kind, uint64_t seed, struct sampler **ret);
