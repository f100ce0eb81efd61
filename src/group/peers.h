// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "coord/coord.h"
#include "peer/peer.h"
#include "place/place.h"
#include "dataset/dataset.h"
#include "image/preparation.h"

struct sched;

/*
 * Shares tensors between nodes. Each sample has a home, the node that prepares it for all others.
 *
 *     scheduler --is_elsewhere, fetch--> homes.c -> client ===> another node
 *     scheduler <--sched_open_sample---- give.c <-- server <=== another node
 *
 *   Flow: peers_new before there are jobs; peers_members when the group may have changed;
 *         peers_free after sched_stop and before sched_free.
 *   Threads: the server's, the client's, the scheduler's and the group's.
 *   Locks: one, LOCK_RANK_HOMES. The scheduler calls peers_find with its own lock held.
 *   Errors: -errno, logged. This node prepares samples that it can't fetch.
 */

/* A node of the group that listens. */
struct home {
	char name[COORD_NAME];
	char address[COORD_ADDRESS];
	uint64_t incarnation;
	double capacity;
	bool is_here, is_bad; /* bad: the client refused it, which was logged */
	uint32_t node;	      /* the client's number; not set if here or bad */
	/* [client's number of the space]: time until which the node gives no samples of it */
	uint64_t refuses_until_ns[PEER_SPACES];
	uint64_t refused_ns; /* the last refusal or failure; 0: never */
	int refused_errno;
};

struct shared_dataset {
	struct dataset *dataset; /* with a reference */
	uint64_t fingerprint;	 /* fingerprint of all its samples */
};

struct shared_space {
	const struct dataset *dataset; /* NULL: the entry is free */
	struct preparation preparation;
	uint32_t number; /* the client's number of the space */
	uint64_t hash;
};

struct peers {
	struct sched *sched;
	uint64_t patience_ns; /* longest wait for an answer */
	struct peer_self self;
	struct peer_trust *trust;
	struct peer_server *server;
	struct peer_client *client;
	/* The group's thread changes these fields with the lock, and reads them without it. */
	struct lock lock;
	struct home *homes;
	size_t n_homes;
	struct place *place; /* NULL: no sample is elsewhere */
	uint32_t *at;	     /* [node of `place`]: index in `homes` */
	/* (lock) */
	struct shared_space spaces[PEER_SPACES];
	uint32_t n_spaces;
	struct shared_dataset *shared; /* the newest edition of a dataset comes last */
	size_t n_shared;
};

/* --- peers.c ----------------------------------------------------------------------------- */

/* Starts server and client, and sets self->address. Leaves *ret alone if the configuration has no
 * `listen`. */
must_check int peers_new(const struct daemon_config *config, struct dataset **datasets,
	struct sched *sched, struct coord_node *self, struct peers **ret);
/* Fails the fetches under way. Neither calls the scheduler nor holds its samples afterwards. */
void peers_free(struct peers **peers);
/* Returns the bytes of tensors received from and sent to the node. false: the nodes were never
 * connected. */
bool peers_bytes(
	const struct peers *peers, const char *name, uint64_t *ret_in, uint64_t *ret_out);

/* --- shared.c ---------------------------------------------------------------------------- */

/* Shares the samples of the dataset, or of the next edition of one that is shared; takes a
 * reference. -ENOMEM. */
must_check int peers_share(struct peers *peers, struct dataset *dataset);
/* Ends sharing of all editions of the dataset. */
void peers_unshare(struct peers *peers, const char *name);
/* Finds a dataset's entry. NULL: it is not shared. */
const struct shared_dataset *shared_find_locked(
	const struct peers *peers, const struct dataset *dataset);
/* Finds the newest edition of the name, with this fingerprint if that is not NULL. */
const struct shared_dataset *shared_named_locked(
	const struct peers *peers, const char *name, const uint64_t *fingerprint);
/* Frees the table. */
void shared_free(struct peers *peers);

/* --- advertise.c ------------------------------------------------------------------------- */

/* Finds the address at which other nodes reach the server that listens at `bound`. -EINVAL:
 * logged. */
must_check int advertise(const struct cluster_config *config, const char *bound,
	char ret[static COORD_ADDRESS]);

/* --- homes.c ----------------------------------------------------------------------------- */

/* Recomputes the homes if the live nodes have changed. members: the live nodes. For the group's
 * thread; peers may be NULL. */
void peers_members(struct peers *peers, const struct coord_node *members, size_t n);
/* Finds the node to fetch the sample from; sets node, space and sample of *ret. false: this node
 * prepares it. */
bool peers_find(struct peers *peers, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, struct peer_fetch *ret);
/* Notes that the node gives no samples of the space until until_ns; the next nodes in order are
 * their homes. err: the reason. */
void peers_refused(
	struct peers *peers, uint32_t node, uint32_t space, int err, uint64_t until_ns);
/* Returns the node's last refusal or failure within 10 s: -errno; 0: none. */
int peers_refusal(struct peers *peers, const char *name);

/* Divides a mini-batch among ranks by the homes of its samples, as coord_calls.place does. For the
 * group's thread. */
bool peers_place(struct peers *peers, const struct coord_batch *batch, uint32_t *rank_of);

/* --- give.c ------------------------------------------------------------------------------ */

#define PEERS_HEAD 8 /* bytes before a tensor: its height and width, little-endian */

/* Answers the request with the sample's tensor, or refuses it; for peer_server_calls.asked. */
void peers_asked(void *context, struct peer_request *request,
	const struct peer_space *space, sample_id sample);
