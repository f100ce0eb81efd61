// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/reply.h"

/*
 * Requests for files: finds the kind of a file, whose functions answer (open_file_ops.h).
 *
 *   Flow: ops.c calls.   Threads: any.   Locks: none.
 */

/* Answers an open, perhaps later. Sets request->ops. */
void file_open(struct request *request);
/* Answers a read, perhaps later. Sets request->ops. */
void file_read(struct request *request);
/* Closes a file, whichever engine has opened it, and consumes its positions. */
void file_release(struct session *session, uint64_t number, uint64_t handle);

/* Lists the files that are open since an earlier engine, and has the kernel forget all files
 * that nobody reads. Called before the session serves again. */
void files_go_on(struct session *session);
