// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/kept.h"
#include "files/inode.h"

/*
 * Handles: the kernel's numbers for open files. If an engine dies, the next one can open its files
 * again by their handles and inodes.
 *
 *   63..50                      49..0
 *   epoch of the open file      serial number, which no other open has
 */

/* Mask of the serial number, which identifies a file even before its epoch is known. */
#define HANDLE_SERIAL ((UINT64_C(1) << KEPT_SERIAL_BITS) - 1)

static inline uint64_t handle_of(uint32_t epoch, uint64_t serial)
{
	return (uint64_t)epoch << KEPT_SERIAL_BITS | serial;
}

/* Makes a handle with a new serial number. epoch: INODE_CURRENT if the epoch is not known yet. */
static inline uint64_t handle_new(uint32_t epoch)
{
	return handle_of(epoch, kept_serial());
}

static inline uint32_t handle_epoch(uint64_t handle)
{
	return (uint32_t)(handle >> KEPT_SERIAL_BITS);
}
