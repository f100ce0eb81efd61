// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/kept.h"
#include "files/inode.h"

/*
 * The kernel's names for open files: numbers, from which and from the inode an engine that
 * did not open the file can open it again.
 *
 *   63..50                      49..0
 *   the epoch that was found    a number that no other open has
 */

/* What no other open has, when the epoch is found later. */
#define HANDLE_SERIAL ((UINT64_C(1) << KEPT_SERIAL_BITS) - 1)

static inline uint64_t handle_of(uint32_t epoch, uint64_t serial)
{
	return (uint64_t)epoch << KEPT_SERIAL_BITS | serial;
}

/* epoch: INODE_CURRENT while it is not known. */
static inline uint64_t handle_new(uint32_t epoch)
{
	return handle_of(epoch, kept_serial());
}

static inline uint32_t handle_epoch(uint64_t handle)
{
	return (uint32_t)(handle >> KEPT_SERIAL_BITS);
}
