// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/* Functions that transfer a whole range. Any thread may call them. Errors: -errno, not logged. */

/* Writes n bytes at the offset. *ret_done: number of bytes written, also after a failure. place:
 * the name under which a test can make this fail (base/fault.h). */
must_check int disk_write(int fd, const void *bytes, size_t n, uint64_t offset,
	const char *place, size_t *ret_done);

/* Reads n bytes at the offset. *ret_n: bytes read, less than n only if the file ends before. */
must_check int disk_read(int fd, void *bytes, size_t n, uint64_t offset, size_t *ret_n);
