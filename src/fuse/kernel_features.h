// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * Features that Linux offers when a session begins. libfuse before 3.17 does not know them.
 * With such a libfuse, this file reads and changes the two messages that begin a session.
 *
 *   maps_direct     from 6.6 on, files that bypass the page cache can be mapped
 *   passes_through  from 6.9 on, the kernel can read a file of the mount from another one
 */

/* Asks the kernel to send unanswered requests again. A kernel before Linux 6.9 can't: these
 * requests wait until their readers are killed. */
void kernel_features_resend(struct session *session);

/* Makes the session's messages pass through this file. Called after fuse_session_mount. -errno */
must_check int kernel_features_prepare(struct session *session);

/* Asks for both features in the session's init, and sets the two members of the session as the
 * kernel grants them. */
void kernel_features_ask(struct session *session, struct fuse_conn_info *conn);
