// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * Features that Linux offers when a session begins. libfuse before 3.17 does not know these
 * features. If joaderfs is built with such a libfuse, this module itself reads and changes the two
 * messages that begin a session.
 *
 *   maps_direct     from 6.6 on, files that bypass the page cache can be mapped
 *   passes_through  from 6.9 on, the kernel can read a file of the mount from another file
 */

/* code of the message of kernel_features_resend, from FUSE protocol 7.40 on */
#define NOTIFY_RESEND 7
/* Asks the kernel to send unanswered requests again. Linux before 6.9 does not send them. */
void kernel_features_resend(struct session *session);

/* Routes the session's messages through this module. Called after fuse_session_mount. */
must_check int kernel_features_prepare(struct session *session);

/* Asks for both features, and notes in session->mount which of them Linux grants. */
void kernel_features_ask(struct session *session, struct fuse_conn_info *conn);
