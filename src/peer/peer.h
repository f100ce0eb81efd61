// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Daemons send tensors to each other over TCP. Each daemon has a server, which sends tensors from
 * the daemon's cache, and a client, which fetches tensors from other daemons.
 *
 *     node a                                                     node b
 *    peer_fetch -> client ==== connection: TLS, hellos ====>  server -> asked()
 *                    |         space, samples ...                          |
 *      done() <------+ <====== head and bytes of each, when ready ---------+ peer_answer
 *
 *   Server: peer_server_new -> asked() for each sample that a peer wants -> peer_answer or
 *         peer_refuse, once each -> peer_server_stop -> peer_server_free.
 *   Client: peer_client_new -> peer_client_node and peer_client_space return numbers -> peer_fetch
 *         -> done(), once each -> peer_client_free.
 *   Owns: connections, fetches and requests, but never the bytes of a tensor.
 *   Threads: server and client have one thread each, which makes the callbacks and waits only for
 *         events. All functions except _new, _stop and _free may be called from any thread, also
 *         from callbacks.
 *   Locks: server and client have one lock each (LOCK_RANK_PEER), which is not held during
 *         callbacks. peer_fetch, peer_answer and peer_refuse only append to a queue, and may be
 *         called under locks of a lower rank (lock.h).
 *   Errors: -errno. A peer that breaks the protocol loses its connection, with a line in the log.
 *   Memory: a server needs at most 2 MB per connection, beside the tensors that its owner, the
 *         caller of peer_server_new, holds until their release.
 *   Life: a request lives from asked() to peer_answer or peer_refuse, even if its connection ends.
 *
 * Authentication: with a trust (a secret or certificates), both sides prove by TLS 1.3 that they
 * have the trust, and all data are encrypted. A trust with peer_trust_files.is_plain encrypts only
 * the handshake, so the network between the daemons must be trusted, as with NFS. Daemons without a
 * trust accept only loopback addresses, and encrypt nothing.
 */

#define PEER_VERSION 2u
#define PEER_NAME 63	     /* most bytes of a node's name, without the \0 */
#define PEER_HEAD 256	     /* most bytes of a tensor's head (struct peer_tensor) */
#define PEER_WINDOW 1024     /* most unanswered requests of a connection */
#define PEER_SPACES 256	     /* most spaces (struct peer_space) that a connection uses */
#define PEER_SPACE_TEXT 2048 /* most bytes of a dataset's name or a preparation */
#define PEER_SECRET 4096     /* most bytes of a secret */

struct peer_self {
	const char *name;     /* 1 to PEER_NAME bytes */
	uint64_t incarnation; /* differs at each start of the daemon */
	/* outlives server and client; NULL: no trust, so only loopback addresses are allowed */
	struct peer_trust *trust;
};

/* A dataset and a way of preparing its samples. Equal spaces have equal tensors. */
struct peer_space {
	const char *dataset;	 /* name */
	const char *preparation; /* equal preparations have equal texts */
	uint64_t fingerprint;	 /* fingerprint of all samples of the dataset */
};

/* --- the trust --------------------------------------------------------------------------- */

struct peer_trust;

/* Absolute paths. The strings must outlive the trust. */
struct peer_trust_files {
	const char *secret;	     /* NULL: none */
	const char *ca, *cert, *key; /* PEM files, instead of a secret; NULL: none */
	bool is_plain;		     /* only the handshake is encrypted */
	uint64_t key_lasts; /* most bytes sent with one key; 0: the largest safe number */
};

/*
 * Reads the secret, or the certificates. A newline at the end of the secret's file is left out. A
 * new connection reads the certificates again if they have changed. *ret is NULL if `files` names
 * neither. -EACCES: users other than the owner and the group may read the secret or the key;
 * -EINVAL: the secret has a wrong length, the certificates can't be used, or `files` names both;
 * -ENOTSUP: built without OpenSSL's libssl. Errors are logged.
 */
must_check int peer_trust_new(
	const struct peer_trust_files *files, struct peer_trust **ret);
void peer_trust_free(struct peer_trust **trust);

/* --- the server -------------------------------------------------------------------------- */

struct peer_server;
struct peer_request;

struct peer_server_calls {
	/* Tells that a peer wants a sample; must return at once. The owner calls peer_answer or
	 * peer_refuse, now or later; the space is valid until then. */
	void (*asked)(void *context, struct peer_request *request,
		const struct peer_space *space, sample_id sample);
	void *context;
};

/* Listens at ADDRESS:PORT (such as "[::1]:7070"), NAME:PORT or :PORT; port 0: any free port.
 * -EINVAL: no such address; -EPERM: no trust, but not a loopback address; otherwise the errno of
 * socket, bind or listen. Errors are logged. */
must_check int peer_server_new(const char *listen, const struct peer_self *self,
	const struct peer_server_calls *calls, struct peer_server **ret);

/* Returns the ADDRESS:PORT at which the server listens; valid until peer_server_free. */
const char *peer_server_address(const struct peer_server *server);

struct peer_tensor {
	/* data that precede the bytes, such as the shape; peer_answer copies them */
	const void *head;
	size_t head_bytes; /* at most PEER_HEAD */
	const void *bytes; /* the caller's until the release */
	uint64_t length;
	/* Called once, when the bytes are no longer used: by any thread, without a lock of this
	 * module, possibly before peer_answer returns. NULL: nothing is called. */
	void (*release)(void *context);
	void *context;
};

/* Answers the request, which must not be used after peer_answer or peer_refuse. */
void peer_answer(struct peer_request *request, const struct peer_tensor *tensor);

/* Refuses the request. err: a negative errno, with which the fetch fails. */
void peer_refuse(struct peer_request *request, int err);

/* Closes all connections. After this function has returned, asked() is neither running nor called
 * again. The owner must still answer or refuse the remaining requests. */
void peer_server_stop(struct peer_server *server);
/* The server must be stopped, and all requests answered or refused. */
void peer_server_free(struct peer_server **server);

/* --- the client -------------------------------------------------------------------------- */

struct peer_client;

/* most_bytes: longest tensor allowed; a peer that announces a longer one is disconnected */
must_check int peer_client_new(
	const struct peer_self *self, uint64_t most_bytes, struct peer_client **ret);
/* Fails all unfinished fetches with -ECANCELED. */
void peer_client_free(struct peer_client **client);

/* Sets *ret_node to the number of the node with this name, counted from 0, and sets its address
 * (ADDRESS:PORT). A connection to the node's earlier address ends. A daemon that answers at the new
 * address under another name is refused.
 * -EINVAL: malformed name or address; -EPERM: no trust, but not a loopback address; -ENOMEM. */
must_check int peer_client_node(struct peer_client *client, const char *name,
	const char *address, uint32_t *ret_node);
/* Ends the connection; fetches from the node fail (-EHOSTDOWN) until peer_client_node is called. */
void peer_client_forget(struct peer_client *client, uint32_t node);

/* Sets *ret_space to the number of the space, which is copied; equal spaces have equal numbers.
 * -EINVAL: a text is too long; -ENOSPC: there are PEER_SPACES spaces; -ENOMEM. */
must_check int peer_client_space(
	struct peer_client *client, const struct peer_space *space, uint32_t *ret_space);

struct peer_fetch {
	uint32_t node, space; /* from peer_client_node and peer_client_space */
	sample_id sample;
	uint64_t deadline_ns; /* on the clock of clock_now_ns */
	/* Returns memory for `length` bytes, to which the client may write until it calls done().
	 * NULL: no memory, or an invalid head or length; the fetch fails with -EBADMSG. */
	void *(*place_for)(
		void *context, const void *head, size_t head_bytes, uint64_t length);
	/* Reports the outcome, once, from the client's thread. 0: all bytes are there; -ETIMEDOUT:
	 * the deadline has passed; -EHOSTDOWN: no connection; -ECONNRESET: the connection broke;
	 * -EBADMSG: place_for returned NULL; -ECANCELED: peer_client_free was called; another
	 * error: the peer called peer_refuse with this error. */
	void (*done)(void *context, int err);
	void *context;
};

/* Fetches a sample from a node. If a connection breaks or can't be made, all fetches from the node
 * fail at once. New fetches from the node fail during a pause of 10 ms, doubled after each further
 * failure, up to 2 s. If peer_fetch returns an error (-EHOSTDOWN, -ECANCELED, -ENOMEM), it does not
 * call done(). */
must_check int peer_fetch(struct peer_client *client, const struct peer_fetch *fetch);

/* --- counters ---------------------------------------------------------------------------- */

/* Sets *ret to the bytes of tensors sent to (server) or received from (client) the node `name`.
 * Returns false if the server or the client does not know the node. */
bool peer_server_bytes(struct peer_server *server, const char *name, uint64_t *ret);
bool peer_client_bytes(struct peer_client *client, const char *name, uint64_t *ret);
