// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/reply.h"

/*
 * Requests for files. Each request goes to the functions of the file's kind (open_file_ops.h).
 *
 *   Flow: ops.c calls.   Threads: any.   Locks: none.
 */

/* Sets request->ops, and answers an open, possibly after the function has returned. */
void file_open(struct request *request);
/* Sets request->ops, and answers a read, possibly after the function has returned. */
void file_read(struct request *request);
/* Closes a file, and consumes its positions. An earlier engine process may have opened
 * the file. */
void file_release(struct session *session, uint64_t number, uint64_t handle);

/* Continues the work of an earlier engine process: adds the files that are still open to
 * the session's list, and makes the kernel forget backing files that no open file uses.
 * Called before the session serves requests. */
void files_go_on(struct session *session);
