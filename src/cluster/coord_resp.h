// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/coord_engine.h"

/*
 * An engine that speaks the Redis protocol, of version 7 or later: Redis, Valkey. What has
 * to be atomic is a function of a library there (coord.lua), which a connection loads if it is
 * missing or older.
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

/* Where the server is. The strings are the caller's; paths are absolute, or NULL. */
struct coord_server {
	const char *url; /* coord_url.h */
	/* A file of mode 0600 or 0640, read at each connection. Without a password in the URL
	 * and a file, JOADERFS_ENGINE_PASSWORD of the environment is one, if it is there. */
	const char *password_file;
	/* Files in PEM for URLs with TLS, read at each connection. ca: the authorities that are
	 * trusted, NULL: the system's. cert, key: the node's own, or NULL; the key's mode is as
	 * the password file's. */
	const char *ca, *cert, *key;
};

/*
 * group: nodes of one group share an order. -ENOTSUP: built without hiredis; all errors but
 * -ENOMEM have a message, or were logged. No message has anything of a password.
 */
must_check int coord_resp_new(const struct coord_server *server, const char *group,
	uint32_t timeout_ms, struct coord_resp **ret, char message[COORD_TEXT]);
void coord_resp_free(struct coord_resp **resp);
const struct coord_engine *coord_resp_engine(struct coord_resp *resp);

/* Whether the server takes its user, without a trace there. `said`: its maxmemory-policy, or
 * what it does instead, as in "refuses AUTH"; "": neither. */
must_check int coord_resp_look(struct coord_resp *resp, char said[COORD_TEXT]);
/*
 * For operators, at any time. said: which nodes live that run the training, or that the node
 * lives (-EBUSY); or why the training can't go on with so many ranks (-EINVAL); or what the
 * server did instead. -ENOENT: no such node or training; -EAGAIN: the log is made whole now.
 *
 * coord_resp_drop: the group forgets the training, or that the node has run any.
 * coord_resp_resize: the training goes on where it is when jobs with so many ranks come.
 */
must_check int coord_resp_drop(
	struct coord_resp *resp, const char *name, char said[COORD_TEXT]);
must_check int coord_resp_resize(
	struct coord_resp *resp, const char *job, uint32_t ranks, char said[COORD_TEXT]);
/* Of a maxmemory-policy. */
bool coord_policy_evicts(const char *policy);
