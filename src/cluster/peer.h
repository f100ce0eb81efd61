// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Tensors from daemon to daemon, over TCP. Each daemon has a server, which gives what its
 * cache holds, and a client, which asks other daemons.
 *
 *     node a                                                     node b
 *     peer_fetch -> client ==== connection: TLS, hellos ====>  server -> asked()
 *                     |         space, samples ...                          |
 *       done() <------+ <====== head and bytes of each, as they are ready --+ peer_answer
 *
 *   Flow: peer_server_new -> asked() for each sample that a peer wants -> peer_answer or
 *         peer_refuse, once each -> peer_server_stop -> peer_server_free.
 *         peer_client_new -> peer_client_node and peer_client_space, for the number of each
 *         -> peer_fetch -> done(), once each -> peer_client_free.
 *   Owns: connections, and what waits on them; never a tensor's bytes.
 *   Threads: one for the server and one for the client, which call back, and wait for
 *         nothing but events. All functions may be called from any thread, also from
 *         within callbacks, but for _new, _stop and _free.
 *   Locks: one each (LOCK_RANK_PEER), for lists of what is waiting. Callbacks run under no
 *         lock. peer_fetch, peer_answer and peer_refuse may be called under locks of a
 *         lower rank: they put something on a list.
 *   Errors: -errno. What a peer does wrong ends its own connection, with a line in the log.
 *   Memory: of a server at most 2 MB for each connection, beside the tensors that its
 *         owner holds until their release.
 *   Life: a request lives from asked() to peer_answer or peer_refuse, also if its
 *         connection breaks in between.
 *
 * Who may connect. With a trust, a secret or certificates, both sides prove by TLS 1.3 that
 * they have it, and all is encrypted; or, if the trust says so, only the greetings are, and the
 * network between the daemons has to be trusted with the data, as it is with that of NFS.
 * Without a trust both sides accept only loopback addresses, and nothing is encrypted.
 */

#define PEER_VERSION 2u
#define PEER_NAME 63	     /* bytes of a node's name */
#define PEER_HEAD 256	     /* bytes of a head, at most */
#define PEER_WINDOW 1024     /* samples that a connection has asked for, at most */
#define PEER_SPACES 256	     /* of a connection */
#define PEER_SPACE_TEXT 2048 /* bytes of a dataset's name, and of a preparation */
#define PEER_SECRET 4096     /* bytes of a secret, at most; at least 16 */

/* Who we are, and what we know. */
struct peer_self {
	const char *name;	  /* of this node: [1, PEER_NAME] bytes */
	uint64_t incarnation;	  /* another one for each start of the daemon */
	struct peer_trust *trust; /* NULL: loopback only; outlives server and client */
};

/* What samples are samples of. Tensors of equal spaces are interchangeable. */
struct peer_space {
	const char *dataset;	 /* its name */
	const char *preparation; /* its canonical text */
	uint64_t fingerprint;	 /* dataset_fingerprint */
};

/* --- the trust --------------------------------------------------------------------------- */

struct peer_trust;

/* Absolute paths, which outlive the trust. */
struct peer_trust_files {
	const char *secret;	     /* NULL: none */
	const char *ca, *cert, *key; /* PEM, instead of a secret; NULL: none */
	bool is_plain;		     /* only the greetings are encrypted */
	uint64_t key_lasts; /* bytes, until the next key; 0: as many as are safe */
};

/*
 * Reads a secret, without a newline at its end, or certificates, which are read again for a
 * connection when they have changed. *ret stays NULL without both. -EACCES: others than the
 * owner and the group may read the secret or the key; -EINVAL: a secret that is too short or too
 * long, no certificates, or both kinds; -ENOTSUP: built without OpenSSL's libssl; each logged
 * with the option and the file.
 */
must_check int peer_trust_new(
	const struct peer_trust_files *files, struct peer_trust **ret);
void peer_trust_free(struct peer_trust **trust);

/* --- the server -------------------------------------------------------------------------- */

struct peer_server;
struct peer_request;

struct peer_server_calls {
	/*
	 * A peer wants a sample. It returns at once; peer_answer or peer_refuse may be
	 * called before it returns, or later. The space is valid until then.
	 */
	void (*asked)(void *context, struct peer_request *request,
		const struct peer_space *space, sample_id sample);
	void *context;
};

/*
 * Listens at ADDRESS:PORT ("10.0.0.7:7070", "[::1]:0", port 0: any that is free).
 * -EINVAL: no such address; -EPERM: no trust, and not a loopback address; or why it can't
 * listen there; each logged.
 */
must_check int peer_server_new(const char *listen, const struct peer_self *self,
	const struct peer_server_calls *calls, struct peer_server **ret);

/* ADDRESS:PORT where it listens, with the port that it was given. Valid as long as it. */
const char *peer_server_address(const struct peer_server *server);

/* Where the bytes of an answer are. */
struct peer_tensor {
	/* Opaque; copied; for what the bytes don't tell, as the shape. */
	const void *head;
	size_t head_bytes; /* at most PEER_HEAD */
	/* The bytes: of a file, from `offset` on, which goes out by sendfile(2), and must
	 * not change any more, also after the release; or, with fd -1, in memory, as where
	 * such a file is mapped. Over loopback, memory costs less than sendfile: it goes
	 * through the kernel in larger pieces than a page. */
	int fd;
	uint64_t offset;
	const void *bytes;
	uint64_t length;
	/* The descriptor and the bytes are not used any more. Called once, by any thread,
	 * under no lock of peer's, perhaps before peer_answer returns. May be NULL. */
	void (*release)(void *context);
	void *context;
};

void peer_answer(struct peer_request *request, const struct peer_tensor *tensor);

/* err: a negative errno, which the fetch fails with. */
void peer_refuse(struct peer_request *request, int err);

/* When it returns, asked() does not run and will not be called any more, and all
 * connections are closed. Requests that are left are still to be answered. */
void peer_server_stop(struct peer_server *server);
/* After peer_server_stop, when each request was answered or refused. */
void peer_server_free(struct peer_server **server);

/* --- the client -------------------------------------------------------------------------- */

struct peer_client;

/* most_bytes: a tensor that claims to be longer ends the connection. */
must_check int peer_client_new(
	const struct peer_self *self, uint64_t most_bytes, struct peer_client **ret);
/* What was asked for and is not there yet fails with -ECANCELED, before this returns. */
void peer_client_free(struct peer_client **client);

/*
 * The number of the node of this name, which is at ADDRESS:PORT from now on: if it was
 * elsewhere, that connection ends. A daemon there that has another name is refused.
 * Numbers are dense, and stay until the end. -EINVAL: no such name or address.
 */
must_check int peer_client_node(struct peer_client *client, const char *name,
	const char *address, uint32_t *ret_node);
/* The node is gone: its connection ends, and fetches from it fail at once (-EHOSTDOWN),
 * until peer_client_node names it again. */
void peer_client_forget(struct peer_client *client, uint32_t node);

/* The number of a space, copied; the same for an equal one. -EINVAL: texts too long;
 * -ENOSPC: PEER_SPACES are there. */
must_check int peer_client_space(
	struct peer_client *client, const struct peer_space *space, uint32_t *ret_space);

struct peer_fetch {
	uint32_t node, space; /* numbers from above */
	sample_id sample;
	uint64_t deadline_ns; /* of clock_now_ns */
	/*
	 * Where the bytes go: memory for `length` bytes, which is used until done().
	 * NULL: it can't be, because there is no memory, or the head or the length can't
	 * be right; the fetch then fails with -EBADMSG.
	 */
	void *(*place_for)(
		void *context, const void *head, size_t head_bytes, uint64_t length);
	/*
	 * Called once, by the client's thread: 0, all bytes are there; else
	 *   -ETIMEDOUT                   the deadline has passed
	 *   -EHOSTDOWN                   there is no connection, nor will there be just now
	 *   -ECONNRESET                  the connection broke
	 *   -EBADMSG                     place_for returned NULL
	 *   -ECANCELED                   peer_client_free
	 *   another one                  what the peer's peer_refuse says
	 */
	void (*done)(void *context, int err);
	void *context;
};

/*
 * Asks for a sample. What is asked for while the connection is being made or its thread
 * is busy goes out together. When a connection can't be made or breaks, all its fetches
 * fail at once, and so do those that come before it is tried again (10 ms later, then
 * twice as long each time, up to 2 s). -EHOSTDOWN, -ECANCELED, -ENOMEM: done() is not
 * called.
 */
must_check int peer_fetch(struct peer_client *client, const struct peer_fetch *fetch);

/* --- counters ---------------------------------------------------------------------------- */

struct peer_counters {
	char name[PEER_NAME + 1]; /* of the other node */
	uint64_t incarnation;	  /* that it had when it was last connected; 0: never */
	bool connected;
	uint64_t bytes;	  /* of tensors, that came (client) or went (server) */
	uint64_t samples; /* that came or went whole */
	uint64_t failed;  /* fetches that failed; requests that were refused or in vain */
	uint64_t waiting; /* asked for and not there yet */
};

/* Fills in up to n; returns how many nodes there are. */
size_t peer_server_counters(
	struct peer_server *server, struct peer_counters *ret, size_t n);
size_t peer_client_counters(
	struct peer_client *client, struct peer_counters *ret, size_t n);
