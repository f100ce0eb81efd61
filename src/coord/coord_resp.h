// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord_engine.h"

/*
 * An engine in a server that speaks the Redis protocol: Redis 7 or later, or Valkey. Atomic changes
 * are functions of a library that runs in the server (coord.lua). A new connection loads the
 * library if the server has none, or an older one.
 *
 *   Flow: coord_resp_new does not connect. The first call connects, and so does each call after a
 *         failure. The caller decides how often it tries.
 *   Life of the engine: its name is the run_id in the server's INFO, which each new connection asks
 *         for. All answers over one connection belong to one life.
 *   Errors: as in coord_engine.h. After -ETIMEDOUT, -ECONNRESET and the like the connection is
 *         closed; the server may still execute commands that it had received.
 *   Signals: the process must ignore SIGPIPE.
 *   Threads: one at a time.
 */

struct coord_resp;

/* Paths are absolute, or NULL. */
struct coord_server {
	const char *url; /* a URL in one of the forms of coord_url.h */
	/* file of mode 0600 or 0640 with the password, read at each connection; NULL: none. The
	 * environment variable JOADERFS_ENGINE_PASSWORD is used if neither file nor URL has one. */
	const char *password_file;
	/* PEM files for URLs with TLS, read at each connection. ca: trusted authorities; NULL: the
	 * system's. cert: this node's certificate; NULL: none. key: the certificate's key, of mode
	 * 0600 or 0640; NULL: none. */
	const char *ca, *cert, *key;
};

/* The nodes of one `group` share an order. The strings of *server must outlive the engine.
 * -ENOTSUP: built without hiredis. Errors except -ENOMEM have a message or were logged. A message
 * never shows a part of a password. */
must_check int coord_resp_new(const struct coord_server *server, const char *group,
	uint32_t timeout_ms, struct coord_resp **ret, char message[COORD_TEXT]);
void coord_resp_free(struct coord_resp **resp);
/* The functions are valid until coord_resp_free. */
const struct coord_engine *coord_resp_engine(struct coord_resp *resp);

/* Checks that the server accepts the user, and changes nothing. said: the server's
 * maxmemory-policy, "" if not known; after an error the server's refusal. */
must_check int coord_resp_look(struct coord_resp *resp, char said[COORD_TEXT]);
/* Makes the group forget a dead node, or a training (a job of coord.h) that no live node runs.
 * -EBUSY: the node is live, or live nodes run the training; `said` lists the live nodes.
 * -ENOENT: no such node or training. Other errors: `said` is the server's refusal. */
must_check int coord_resp_drop(
	struct coord_resp *resp, const char *name, char said[COORD_TEXT]);
/* Lets the training continue with `ranks` processes, even while nodes run it. local_ranks: number
 * of these processes that together read one rank's samples (coord_job); 0: as before. -EINVAL: not
 * possible; `said` is the reason. -ENOENT: no such training; -EAGAIN: the log is being repaired.
 * Other errors: `said` is the server's refusal. */
must_check int coord_resp_resize(struct coord_resp *resp, const char *job, uint32_t ranks,
	uint32_t local_ranks, char said[COORD_TEXT]);
/* Tells whether the maxmemory-policy lets the server evict even keys that have no time to live. */
bool coord_policy_evicts(const char *policy);
