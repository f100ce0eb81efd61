// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "cluster/coord.h"
#include "cluster/peer.h"
#include "cluster/place.h"
#include "dataset/dataset.h"
#include "image/preparation.h"

struct sched;

/*
 * Tensors from node to node: each sample has a home, which prepares it for all.
 *
 *     scheduler --is_elsewhere, fetch--> homes.c -> client ===> another node
 *     scheduler <--sched_open_sample---- give.c <-- server <=== another node
 *
 *   Flow: peers_new before there are jobs; peers_members when the group may have changed;
 *         peers_free after sched_stop and before sched_free.
 *   Threads: those of server and client, and the scheduler's. One lock, LOCK_RANK_HOMES:
 *         the scheduler asks with its own lock held.
 *   Errors: -errno, logged. What can't be fetched is prepared here.
 */

/* A member of the group that listens. */
struct home {
	char name[COORD_NAME];
	char address[COORD_ADDRESS];
	uint64_t incarnation;
	double capacity;
	bool is_here, is_bad; /* bad: it can't be asked, which was logged */
	uint32_t node;	      /* the client's number, unless it is here or bad */
	uint64_t refuses_until_ns[PEER_SPACES];
	uint64_t refused_ns; /* the last time; 0: never */
	int refused_errno;
};

struct shared_space {
	const struct dataset *dataset;
	struct preparation preparation;
	uint32_t number; /* the client's */
	uint64_t hash;
};

struct peers {
	struct sched *sched;
	struct dataset **datasets;
	size_t n_datasets;
	uint64_t *fingerprints; /* of whole datasets */
	uint64_t patience_ns;	/* for an answer */
	struct peer_self self;
	struct peer_trust *trust;
	struct peer_server *server;
	struct peer_client *client;
	/* The group's thread changes these with the lock, and reads them without it. */
	struct lock lock;
	struct home *homes;
	size_t n_homes;
	struct place *place; /* NULL: no sample is elsewhere */
	uint32_t *at;	     /* of a node of `place`: where it is in `homes` */
	/* (lock) */
	struct shared_space spaces[PEER_SPACES];
	uint32_t n_spaces;
};

/* --- peers.c ----------------------------------------------------------------------------- */

/* *ret stays NULL if the daemon does not listen. `address` becomes that of the server. */
must_check int peers_new(const struct daemon_config *config, struct dataset **datasets,
	struct sched *sched, struct coord_node *self, struct peers **ret);
/* What is under way fails; nothing of the scheduler is called or held afterwards. */
void peers_free(struct peers **peers);
uint64_t peers_fingerprint(const struct peers *peers, const struct dataset *dataset);
/* Bytes that came from the node and went there; false: it was never met. */
bool peers_bytes(
	const struct peers *peers, const char *name, uint64_t *ret_in, uint64_t *ret_out);

/* --- advertise.c ------------------------------------------------------------------------- */

/* Where other nodes reach the server that listens at `bound`. -EINVAL: logged. */
must_check int advertise(const struct cluster_config *config, const char *bound,
	char ret[static COORD_ADDRESS]);

/* --- homes.c ----------------------------------------------------------------------------- */

/* Who is live. By the group's thread; peers may be NULL. */
void peers_members(struct peers *peers, const struct coord_node *members, size_t n);
/* Whom to ask for the sample: node, space and sample of *ret. false: nobody. */
bool peers_find(struct peers *peers, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, struct peer_fetch *ret);
/* The node does not give samples of the space; the next one in order is their home. */
void peers_refused(
	struct peers *peers, uint32_t node, uint32_t space, int err, uint64_t until_ns);
/* Why the node has given nothing of late: -errno; 0: it gives what it is asked for. */
int peers_refusal(struct peers *peers, const char *name);

/* Divides a mini-batch among ranks, by the homes of its samples: coord_calls.place. By the
 * group's thread. */
bool peers_place(struct peers *peers, const struct coord_batch *batch, uint32_t *rank_of);

/* --- give.c ------------------------------------------------------------------------------ */

#define PEERS_HEAD 8 /* bytes before a tensor: its height and width, little-endian */

void peers_asked(void *context, struct peer_request *request,
	const struct peer_space *space, sample_id sample);
