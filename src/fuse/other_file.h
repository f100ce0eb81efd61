// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * Files of layout mirror that are no samples. Each read opens the source file: nothing is kept
 * of an open one, so that another engine goes on with it.
 *
 *   Flow: ops.c, for INODE_OTHER.   Owns: nothing.
 *   Threads: workers read; the kernel's page cache keeps what they have read.
 *   Errors: EIO, logged: the file has changed since the scan, or can't be read.
 */

void other_file_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);
void other_file_read(fuse_req_t req, struct session *session, struct inode inode,
	size_t size, uint64_t offset);
