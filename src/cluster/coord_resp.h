// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/coord_engine.h"

/*
 * An engine that speaks the Redis protocol, of version 7 or later: Redis, Valkey. What has
 * to be atomic is a function of a library there (coord.lua), which each connection loads.
 *
 *   Flow: coord_resp_new connects to nothing; the first call does, and each one after a
 *         failure. The caller decides how often it tries.
 *   Life of the engine: the server's run_id, as INFO tells it at each connection. What one
 *         connection says thus is of one life.
 *   Errors: as in coord_engine.h. After -ETIMEDOUT, -ECONNRESET and the like the connection
 *         is closed; what the server had received it may still do.
 *   Signals: the process ignores SIGPIPE.
 *   Threads: one at a time.
 */

struct coord_resp;

/*
 * url: redis://[:PASSWORD@]HOST[:PORT][/DB] or redis+unix://PATH[?DB]; group: nodes of one
 * group share an order. -EINVAL, -ENOTSUP (built without hiredis): message says why.
 */
must_check int coord_resp_new(const char *url, const char *group, uint32_t timeout_ms,
	struct coord_resp **ret, char message[COORD_TEXT]);
void coord_resp_free(struct coord_resp **resp);
const struct coord_engine *coord_resp_engine(struct coord_resp *resp);
