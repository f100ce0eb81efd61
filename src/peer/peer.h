// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Daemons send each other tensors over TCP. Each daemon has a server, which sends tensors of its
 * cache, and a client, which fetches tensors from other daemons.
 *
 *     node a                                                     node b
 *     peer_fetch -> client ==== connection: TLS, hellos ====>  server -> asked()
 *                     |         space, samples ...                          |
 *       done() <------+ <====== head and bytes of each, as they are ready --+ peer_answer
 *
 *   Flow: peer_server_new -> asked() for each sample that a peer wants -> peer_answer or
 *         peer_refuse, once each -> peer_server_stop -> peer_server_free.
 *         peer_client_new -> peer_client_node and peer_client_space return numbers
 *         -> peer_fetch -> done(), once each -> peer_client_free.
 *   Owns: connections, and the fetches and requests that wait on them; never a tensor's bytes.
 *   Threads: the server and the client have one thread each, which makes the callbacks and
 *         waits for nothing but events. All functions but _new, _stop and _free may be called
 *         from any thread, also from callbacks.
 *   Locks: server and client have one each (LOCK_RANK_PEER), for their queues. Callbacks run
 *         under no lock. peer_fetch, peer_answer and peer_refuse only append to a queue, and may
 *         be called under locks of a lower rank.
 *   Errors: -errno. A peer that breaks the protocol loses its connection, with a line in the log.
 *   Memory: a server needs at most 2 MB per connection, beside the tensors that its owner holds
 *         until their release.
 *   Life: a request lives from asked() to peer_answer or peer_refuse, also if its
 *         connection breaks in between.
 *
 * Authentication: with a trust (a secret or certificates) both sides prove by TLS 1.3 that they
 * have it, and everything is encrypted. If the trust says so, only the handshake is encrypted;
 * the network between the daemons then has to be trusted with the data, as with NFS. Without a
 * trust both sides accept only loopback addresses, and nothing is encrypted.
 */

#define PEER_VERSION 2u
#define PEER_NAME 63	     /* bytes of a node's name */
#define PEER_HEAD 256	     /* bytes of a head, at most */
#define PEER_WINDOW 1024     /* samples in flight on a connection, at most */
#define PEER_SPACES 256	     /* spaces of a connection, at most */
#define PEER_SPACE_TEXT 2048 /* bytes of a dataset's name or a preparation, at most */
#define PEER_SECRET 4096     /* bytes of a secret, at most; 16 at least */

/* The identity of this node, and its trust. */
struct peer_self {
	const char *name;	  /* this node's name: [1, PEER_NAME] bytes */
	uint64_t incarnation;	  /* differs at each start of the daemon */
	struct peer_trust *trust; /* NULL: loopback only; outlives server and client */
};

/* Names the dataset and the preparation of samples. Tensors of equal spaces are interchangeable. */
struct peer_space {
	const char *dataset;	 /* the dataset's name */
	const char *preparation; /* the preparation's canonical text */
	uint64_t fingerprint;	 /* dataset_fingerprint */
};

/* --- the trust --------------------------------------------------------------------------- */

struct peer_trust;

/* Absolute paths; the strings outlive the trust. */
struct peer_trust_files {
	const char *secret;	     /* NULL: none */
	const char *ca, *cert, *key; /* PEM, instead of a secret; NULL: none */
	bool is_plain;		     /* only the handshake is encrypted */
	uint64_t key_lasts;	     /* bytes sent with one key; 0: as many as are safe */
};

/*
 * Reads the secret, without a newline at its end, or the certificates. A new connection rereads
 * certificates that have changed. *ret is NULL if `files` names neither. -EACCES: users other
 * than the owner and the group may read the secret or the key; -EINVAL: the secret is too short
 * or too long, the certificates can't be used, or `files` names both kinds; -ENOTSUP: built
 * without OpenSSL's libssl. These errors are logged with the option and the file.
 */
must_check int peer_trust_new(
	const struct peer_trust_files *files, struct peer_trust **ret);
void peer_trust_free(struct peer_trust **trust);

/* --- the server -------------------------------------------------------------------------- */

struct peer_server;
struct peer_request;

struct peer_server_calls {
	/*
	 * Tells the owner that a peer wants a sample; has to return at once. The owner calls
	 * peer_answer or peer_refuse, before it returns or later. The space is valid until then.
	 */
	void (*asked)(void *context, struct peer_request *request,
		const struct peer_space *space, sample_id sample);
	void *context;
};

/*
 * Creates a server that listens at ADDRESS:PORT ("10.0.0.7:7070", "[::1]:0"), NAME:PORT or
 * :PORT; port 0: any free one. -EINVAL: no such address; -EPERM: no trust, and not a loopback
 * address; else the errno of socket, bind or listen. These errors are logged.
 */
must_check int peer_server_new(const char *listen, const struct peer_self *self,
	const struct peer_server_calls *calls, struct peer_server **ret);

/* Returns ADDRESS:PORT where the server listens, with the port that the kernel chose. Valid until
 * peer_server_free. */
const char *peer_server_address(const struct peer_server *server);

/* An answer's head, and where its bytes are. */
struct peer_tensor {
	/* Opaque data beside the bytes, such as the shape; peer_answer copies it. */
	const void *head;
	size_t head_bytes; /* at most PEER_HEAD */
	/* fd >= 0: the bytes lie in this file from `offset` on, and go out by sendfile(2); they
	 * must never change, not even after the release. fd -1: the bytes lie in memory, for
	 * instance where such a file is mapped. Over loopback, memory costs less than sendfile:
	 * the kernel passes it on in larger pieces than a page. */
	int fd;
	uint64_t offset;
	const void *bytes;
	uint64_t length;
	/* Tells the owner that the descriptor and the bytes are no longer used. Called once, by
	 * any thread, under no lock of peer's, perhaps before peer_answer returns. May be NULL. */
	void (*release)(void *context);
	void *context;
};

/* Answers the request with the tensor, and consumes the request. */
void peer_answer(struct peer_request *request, const struct peer_tensor *tensor);

/* Refuses the request, and consumes it. err: a negative errno, with which the fetch fails. */
void peer_refuse(struct peer_request *request, int err);

/* Closes all connections, and waits for a running asked(); none is called afterwards. The owner
 * still has to answer or refuse the requests that are left. */
void peer_server_stop(struct peer_server *server);
/* Frees the server. May be called after peer_server_stop, once every request was answered or
 * refused. */
void peer_server_free(struct peer_server **server);

/* --- the client -------------------------------------------------------------------------- */

struct peer_client;

/* Creates a client. most_bytes: an answer that announces a longer tensor ends its connection. */
must_check int peer_client_new(
	const struct peer_self *self, uint64_t most_bytes, struct peer_client **ret);
/* Fails all unfinished fetches with -ECANCELED, and frees the client. */
void peer_client_free(struct peer_client **client);

/*
 * Returns the number of the node of this name, and sets its address (ADDRESS:PORT). A connection
 * to its former address ends. A daemon there that has another name is refused. Numbers are
 * dense, and stay until the end. -EINVAL: malformed name or address; -EPERM: no trust, and not a
 * loopback address; -ENOMEM.
 */
must_check int peer_client_node(struct peer_client *client, const char *name,
	const char *address, uint32_t *ret_node);
/* Ends the connection of a node that is gone. Fetches from it fail at once (-EHOSTDOWN), until
 * peer_client_node names it again. */
void peer_client_forget(struct peer_client *client, uint32_t node);

/* Returns the number of the space, which is copied; equal spaces have one number. -EINVAL: a text
 * is too long; -ENOSPC: there are PEER_SPACES already; -ENOMEM. */
must_check int peer_client_space(
	struct peer_client *client, const struct peer_space *space, uint32_t *ret_space);

struct peer_fetch {
	uint32_t node, space; /* numbers, see above */
	sample_id sample;
	uint64_t deadline_ns; /* time of clock_now_ns */
	/*
	 * Returns memory for `length` bytes, which is written until done(). NULL: there is no
	 * memory, or the head or the length is invalid; the fetch then fails with -EBADMSG.
	 */
	void *(*place_for)(
		void *context, const void *head, size_t head_bytes, uint64_t length);
	/*
	 * Reports the outcome, once, from the client's thread. 0: all bytes are there; else
	 *   -ETIMEDOUT                   the deadline has passed
	 *   -EHOSTDOWN                   no connection, and none is tried at the moment
	 *   -ECONNRESET                  the connection broke
	 *   -EBADMSG                     place_for returned NULL
	 *   -ECANCELED                   peer_client_free was called
	 *   another error                the peer's peer_refuse
	 */
	void (*done)(void *context, int err);
	void *context;
};

/*
 * Fetches a sample from a node. Fetches that wait for the connection or the client's thread are
 * sent together. When a connection breaks or can't be made, all its fetches fail at once, as do
 * new ones until the client connects again (10 ms later, then twice as long each time, up to
 * 2 s). -EHOSTDOWN, -ECANCELED, -ENOMEM: done() is not called.
 */
must_check int peer_fetch(struct peer_client *client, const struct peer_fetch *fetch);

/* --- counters ---------------------------------------------------------------------------- */

struct peer_counters {
	char name[PEER_NAME + 1]; /* the other node's name */
	uint64_t incarnation;	  /* the node's, when last connected; 0: never */
	bool connected;
	uint64_t bytes;	  /* bytes of tensors received (client) or sent (server) */
	uint64_t samples; /* samples received or sent completely */
	uint64_t failed;  /* failed fetches; refused or dropped requests */
	uint64_t waiting; /* unfinished fetches or requests */
};

/* Fills in the counters of up to n nodes, and returns the number of nodes. */
size_t peer_server_counters(
	struct peer_server *server, struct peer_counters *ret, size_t n);
size_t peer_client_counters(
	struct peer_client *client, struct peer_counters *ret, size_t n);
