// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/*
 * An engine in a server that speaks the Redis protocol, version 7 or later: Redis, Valkey. Atomic
 * changes are functions of a library in the server (coord.lua). A connection loads the library if
 * it is missing or older.
 *
 *   Flow: coord_resp_new does not connect; the first call does, and each call after a failure.
 *         The caller decides how often it tries.
 *   Life of the engine: the server's run_id in INFO, which each connection asks for first. All
 *         answers of one connection are of one life.
 *   Errors: as in coord_engine.h. After -ETIMEDOUT, -ECONNRESET and the like the connection
 *         is closed; the server may still execute commands that it had received.
 *   Signals: the process ignores SIGPIPE.
 *   Threads: one at a time.
 */

struct coord_resp;

/* The server's address and secrets. The strings are the caller's; paths are absolute, or NULL. */
struct coord_server {
	const char *url; /* coord_url.h */
	/* A file of mode 0600 or 0640, read at each connection. If neither it nor the URL gives a
	 * password, JOADERFS_ENGINE_PASSWORD of the environment is one, if it is set. */
	const char *password_file;
	/* Files in PEM for URLs with TLS, read at each connection. ca: the trusted authorities;
	 * NULL: the system's. cert, key: the node's own, or NULL; the key's mode is 0600 or
	 * 0640. */
	const char *ca, *cert, *key;
};

/*
 * Creates an engine. group: nodes of one group share an order. -ENOTSUP: built without hiredis. All
 * errors but -ENOMEM have a message, or were logged. No message shows any part of a password.
 */
must_check int coord_resp_new(const struct coord_server *server, const char *group,
	uint32_t timeout_ms, struct coord_resp **ret, char message[COORD_TEXT]);
void coord_resp_free(struct coord_resp **resp);
/* Returns the functions of the engine, valid until coord_resp_free. */
const struct coord_engine *coord_resp_engine(struct coord_resp *resp);

/* Checks whether the server accepts the user; changes nothing there. said: the server's
 * maxmemory-policy, or what it did instead, as in "refuses AUTH"; "": neither. */
must_check int coord_resp_look(struct coord_resp *resp, char said[COORD_TEXT]);
/*
 * Lets the group forget a training that no live node runs, or a dead node. Operators may call it
 * at any time. -EBUSY: the node is live, or live nodes run the training: said lists them.
 * -ENOENT: no such node or training. After other errors said tells what the server did instead.
 */
must_check int coord_resp_drop(
	struct coord_resp *resp, const char *name, char said[COORD_TEXT]);
/*
 * Lets the training go on where it is when jobs with so many ranks come, local_ranks of them in each
 * job; 0: as many in each job as before. Operators may call it at any time. -EBUSY: live nodes run the training: said lists them. -EINVAL: the training can't go
 * on with so many ranks: said tells why. -ENOENT: no such training; -EAGAIN: the log is being
 * repaired. After other errors said tells what the server did instead.
 */
must_check int coord_resp_resize(struct coord_resp *resp, const char *job, uint32_t ranks,
	uint32_t local_ranks, char said[COORD_TEXT]);
/* Tells whether a maxmemory-policy evicts keys without a time to live. */
bool coord_policy_evicts(const char *policy);
