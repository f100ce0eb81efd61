// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A site is a call for memory or for a file. The n-th site of a run fails, once.
 */

enum site { SITE_NONE, SITE_MEMORY, SITE_FILE };

/* n: from 1 on; 0: no site fails. error: the errno of the failure. */
void sites_begin(enum site kind, uint64_t n, int error);
/* While `rest` is true, calls are no sites, because a test makes them. */
void sites_rest(bool rest);
bool sites_have_failed(void);
/* Tells whether this call fails, and sets errno if it does. */
bool site_fails(enum site kind);
