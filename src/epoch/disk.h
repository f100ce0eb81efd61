// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/disk_io.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Files of the journal and of the orders of epochs. Threads: any. Errors: -errno, not logged; the
 * callers log what has failed (disk_cant). */

/* Logs "PATH: can't be WHAT" with the reason err; returns err. */
int disk_cant(const char *path, const char *what, int err);

/* Opens a file for reading; follows no link. Returns NULL and sets errno on errors. */
FILE *disk_fopen(const char *path);

/* Brings the file's data to the disk (fdatasync). place: a name of the caller, by which fault
 * injection finds this call, as in disk_write (base/disk_io.h). */
must_check int disk_sync(int fd, const char *place);
must_check int disk_sync_directory(const char *directory, const char *place);

/* Replaces a file completely or not at all: writes NAME.new, and renames it. */
must_check int disk_replace(
	const char *directory, const char *name, const char *text, mode_t mode);
must_check int disk_replace_bytes(const char *directory, const char *name,
	const void *bytes, size_t n, mode_t mode);

/* Lists the numbers of files <prefix>NNNN<suffix>, ascending. The caller frees *ret. */
must_check int disk_list(const char *directory, const char *prefix, const char *suffix,
	uint32_t **ret, size_t *ret_n);
