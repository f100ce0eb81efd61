// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

#define UNIQUE_RESEND (UINT64_C(1) << 63) /* FUSE_UNIQUE_RESEND, from Linux 6.9 on */

/*
 * The list of open files that an engine leaves to the next engine.
 *
 * An open file's inode and handle usually tell enough: the next engine prepares the file again when
 * it is read, and consumes its position when it is released. Two more facts are kept in the memory
 * that the engines share (base/kept.h):
 *
 * - The backing file from which the kernel reads an inode. While the inode is open, the answer to
 *   each further open must name the same backing file, whichever engine registered it. So the
 *   backing file is kept until the last open file that uses it is released.
 * - The epoch of a shard of current/, which is determined by its first read.
 *
 *   Threads: any.   Locks: none is held, unless the name says so.
 */

/* Lists an open file: one that the kernel reads from `backing`, or a shard (backing is 0). Called
 * before the open is answered. NULL: too many files are listed. */
struct kept_open *handover_add(
	struct session *session, uint64_t handle, uint64_t number, int backing);

/* Returns the session's entry that follows `before`, or NULL. before NULL: returns the first
 * entry. */
struct kept_open *handover_next(struct session *session, const struct kept_open *before);
/* Returns the entry of an open shard, which has the shard's epoch. NULL: there is none. */
struct kept_open *handover_find(struct session *session, uint64_t handle);
/* Returns the entry of the open that the kernel is sending again. NULL: no earlier engine listed
 * it. */
struct kept_open *handover_find_resent(struct session *session);
/* Takes one close off the list of closes that arrived while no engine could run. false: the list is
 * empty. */
bool handover_take_close(
	struct session *session, uint64_t *ret_number, uint64_t *ret_handle);

/* Tells whether open files use `backing`, a file that an earlier engine registered. */
bool handover_has_locked(const struct session *session, int backing);
/* Counts one more open file that uses `backing`. -ENOMEM */
must_check int handover_hold_locked(struct session *session, int backing);
/* Counts one open file less. After the last one, makes the kernel forget `backing`. */
void handover_put(struct session *session, int backing);
/* Frees the counts after the session has ended. */
void handover_end(struct session *session);

/* Returns the kernel's number of the last request that this thread received. */
uint64_t handover_request(void);
/* Tells whether the kernel has sent that request a second time. */
bool handover_is_resent(void);
/* Notes that the calling thread answers this request next. The request may have been received by
 * another thread. Opens that the thread lists now belong to this request. */
void handover_answers(uint64_t request);
/* Notes the number of a request. Called by the function that received the request. */
void handover_received(uint64_t unique);
