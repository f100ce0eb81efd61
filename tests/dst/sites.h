// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Each call that asks for memory, or does something with a file, is a site. The so-manieth
 * of a run fails, once.
 */

enum site { SITE_NONE, SITE_MEMORY, SITE_FILE };

/* n: from 1 on; 0: none fails. error: the errno. */
void sites_begin(enum site kind, uint64_t n, int error);
/* For a while no call is a site: a test asks. */
void sites_rest(bool rest);
/* It has. */
bool sites_have_failed(void);
/* Whether the call that is made now is the one; errno is set then. */
bool site_fails(enum site kind);
