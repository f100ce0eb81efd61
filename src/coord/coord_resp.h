// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/*
 * An engine in a server that speaks the Redis protocol, version 7 or later: Redis, Valkey. Atomic
 * changes are functions of a library that runs in the server (coord.lua). A new connection loads
 * the library if the server has none, or an older one.
 *
 *   Flow: coord_resp_new does not connect. The first call connects, and so does each call after a
 *         failure. The caller decides how often it tries.
 *   Life of the engine: its name is the run_id in the server's INFO, which each new connection asks
 *         for. All answers over one connection belong to one life.
 *   Errors: as in coord_engine.h. After -ETIMEDOUT, -ECONNRESET and the like the connection is
 *         closed; the server may still execute commands that it had received.
 *   Signals: the process ignores SIGPIPE.
 *   Threads: one at a time.
 */

struct coord_resp;

/* The server's address and secrets. The caller owns the strings. Paths are absolute, or NULL. */
struct coord_server {
	const char *url; /* in one of the forms of coord_url.h */
	/* Path of a file of mode 0600 or 0640 with the password, read at each connection; NULL:
	 * none. If neither the file nor the URL gives a password, the environment variable
	 * JOADERFS_ENGINE_PASSWORD is used, if it is set. */
	const char *password_file;
	/* Paths of PEM files for URLs with TLS, read at each connection. ca: the trusted
	 * authorities; NULL: those of the system. cert, key: this node's certificate and key, or
	 * NULL. The mode of the key's file must be 0600 or 0640. */
	const char *ca, *cert, *key;
};

/*
 * Creates an engine. group: name of the group; its nodes share an order. -ENOTSUP: built without
 * hiredis. Except for -ENOMEM, errors have a message or were logged. No message shows any part of a
 * password.
 */
must_check int coord_resp_new(const struct coord_server *server, const char *group,
	uint32_t timeout_ms, struct coord_resp **ret, char message[COORD_TEXT]);
void coord_resp_free(struct coord_resp **resp);
/* Returns the engine's functions. They are valid until coord_resp_free. */
const struct coord_engine *coord_resp_engine(struct coord_resp *resp);

/* Checks whether the server accepts the user. Changes nothing in the server. said: the server's
 * maxmemory-policy; after an error, the server's refusal, such as "refuses AUTH"; "": not known. */
must_check int coord_resp_look(struct coord_resp *resp, char said[COORD_TEXT]);
/*
 * Makes the group forget a dead node, or a training that no live node runs. Operators may call it
 * at any time. -EBUSY: the node is live, or live nodes, listed in `said`, run the training.
 * -ENOENT: no such node or training. After other errors `said` has the server's refusal.
 */
must_check int coord_resp_drop(
	struct coord_resp *resp, const char *name, char said[COORD_TEXT]);
/*
 * Lets the training continue with another number of ranks. local_ranks: the number of ranks in
 * each job; 0: as many as before. Operators may call it at any time. -EBUSY: live nodes, listed in
 * `said`, run the training. -EINVAL: the training can't continue with this number of ranks, for the
 * reason in `said`. -ENOENT: no such training; -EAGAIN: the log is being repaired. After other
 * errors `said` has the server's refusal.
 */
must_check int coord_resp_resize(struct coord_resp *resp, const char *job, uint32_t ranks,
	uint32_t local_ranks, char said[COORD_TEXT]);
/* Tells whether a maxmemory-policy evicts keys without a time to live. */
bool coord_policy_evicts(const char *policy);
