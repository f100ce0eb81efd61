// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"

/*
 * A small HTTP server for monitoring: GET /metrics is the file metrics of the mount, as
 * Prometheus asks for it (text, or OpenMetrics where the request accepts that), and GET
 * /dashboard.html the page of that name.
 *
 *   Flow: main starts it when the mount is there, and ends it before the scheduler.
 *   Threads: one of its own. Slow clients can't keep it from others: visitors.h.
 *   Errors: logged.
 */

struct web;

/* Starts the server. place: PORT, ADDRESS:PORT or [ADDRESS]:PORT. A PORT alone is of 127.0.0.1,
 * which no other machine reaches. Port 0: any that is free, which is logged. -EINVAL: the place
 * has another form; -ENOSYS: built without libmicrohttpd; or why it can't listen there. */
must_check int web_new(
	const struct files_context *context, const char *place, struct web **ret);
void web_free(struct web **web);
