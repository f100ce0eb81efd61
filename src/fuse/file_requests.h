// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/reply.h"

/*
 * Requests for files, passed on to the functions of the file's kind (open_file_ops.h), which may
 * answer after they have returned.
 *
 *   Threads: any.   Locks: none.
 */

void file_open(struct request *request);
void file_read(struct request *request);
/* Closes a file, which an earlier engine may have opened, and consumes its positions. */
void file_release(struct session *session, uint64_t number, uint64_t handle);

/* Continues the work of an earlier engine: lists the files that are still open, and makes the
 * kernel forget backing files that no open file uses. Called before the session serves requests. */
void files_go_on(struct session *session);
