// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"

/*
 * A small HTTP server for monitoring. GET /metrics returns what the mount's file metrics has, in
 * OpenMetrics if the request accepts it, else in Prometheus' format. GET /dashboard.html returns
 * the page of the mount's file dashboard.html.
 *
 *   Flow: main starts the server when the mount exists, and ends it before the scheduler ends.
 *   Threads: one of its own. Slow clients can't block others (visitors.h).   Errors: logged.
 */

struct web;

/* Starts the server. place: PORT, ADDRESS:PORT or [ADDRESS]:PORT; PORT alone is on 127.0.0.1. Port
 * 0 stands for any free port, whose number is logged. -EINVAL: `place` has another form; -ENOSYS:
 * built without libmicrohttpd; other errors: the server can't listen. */
must_check int web_new(
	const struct files_context *context, const char *place, struct web **ret);
void web_free(struct web **web);
