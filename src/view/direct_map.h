// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "view/view_internal.h"

/*
 * Linux 6.6 lets files that bypass the page cache be mapped, if it is told so when a
 * session begins. libfuse before 3.17 knows no such flag; there the two messages that
 * begin a session are looked into on their way.
 */

/* After fuse_session_mount. -errno */
must_check int direct_map_prepare(struct view *view);

/* Called by the session's init: asks for it. Whether it is granted. */
bool direct_map_wanted(struct view *view, struct fuse_conn_info *conn);
