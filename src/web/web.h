// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"

/*
 * A small HTTP server for monitoring: GET /metrics answers with the mount's file metrics (in
 * Prometheus' text format, or in OpenMetrics if the request accepts it), and GET /dashboard.html
 * with the mount's page of that name.
 *
 *   Flow: main starts the server when the mount exists, and ends it before the scheduler ends.
 *   Threads: one of its own. Slow clients can't block others (visitors.h).
 *   Errors: logged.
 */

struct web;

/* Starts the server. place: PORT, ADDRESS:PORT or [ADDRESS]:PORT. Without an address, the server
 * listens on 127.0.0.1, which other machines can't reach. Port 0: any free port; its number is
 * logged. -EINVAL: `place` has another form; -ENOSYS: joaderfs was built without libmicrohttpd;
 * other errors: the server can't listen there. */
must_check int web_new(
	const struct files_context *context, const char *place, struct web **ret);
void web_free(struct web **web);
