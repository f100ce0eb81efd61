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
 * Shares tensors between nodes. Each sample has a home: the node that prepares it for all others.
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

/* A node that listens, so that it can be the home of samples. */
struct home {
	char name[COORD_NAME];
	char address[COORD_ADDRESS];
	uint64_t incarnation;
	double capacity;
	/* is_here: this node; is_bad: peer_client_node refused the node (logged) */
	bool is_here, is_bad;
	uint32_t node; /* index in the peer client; not set if is_here or is_bad */
	/* until when the node refuses requests; index: shared_space.number */
	uint64_t refuses_until_ns[PEER_SPACES];
	uint64_t refused_ns; /* last refusal or failure; 0: never */
	int refused_errno;
};

struct shared_dataset {
	struct dataset *dataset; /* a reference */
	uint64_t fingerprint;
};

/* The tensors of a dataset with one preparation. */
struct shared_space {
	const struct dataset *dataset; /* NULL: the entry is free */
	struct preparation preparation;
	uint32_t number; /* the client's number of the space */
	/* argument `space` of place_home; equal for all preparations of the dataset */
	uint64_t hash;
};

struct peers {
	struct sched *sched;
	uint64_t patience_ns; /* longest wait for an answer */
	struct peer_self self;
	struct peer_trust *trust;
	struct peer_server *server;
	struct peer_client *client;
	/* The group's thread writes the fields below under the lock. Other threads read them under
	 * the lock. */
	struct lock lock;
	struct home *homes;
	size_t n_homes;
	struct place *place; /* NULL: this node prepares all samples */
	uint32_t *at;	     /* at[i]: index in `homes` of node i of `place` */
	/* Each thread takes the lock to read and to write the fields from here on. */
	struct shared_space spaces[PEER_SPACES];
	uint32_t n_spaces;
	/* editions of datasets that other nodes may ask for; the newest of a dataset comes last */
	struct shared_dataset *shared;
	size_t n_shared;
};

/* --- peers.c ----------------------------------------------------------------------------- */

/* Starts the server and the client, and sets self->address. If the configuration has no `listen`,
 * starts nothing, and leaves *ret unchanged. */
must_check int peers_new(const struct daemon_config *config, struct dataset **datasets,
	struct sched *sched, struct coord_node *self, struct peers **ret);
/* Fails unfinished fetches. Afterwards no thread of the server or the client calls the scheduler,
 * or holds samples of the scheduler. */
void peers_free(struct peers **peers);
/* Sets *ret_in and *ret_out to the bytes of tensors received from and sent to the node `name`.
 * Returns false if there was no connection with the node. */
bool peers_bytes(
	const struct peers *peers, const char *name, uint64_t *ret_in, uint64_t *ret_out);

/* --- shared.c ---------------------------------------------------------------------------- */

/* Shares the dataset, which may be the next edition of a shared one. Takes a reference. */
must_check int peers_share(struct peers *peers, struct dataset *dataset);
void peers_unshare(struct peers *peers, const char *name);
/* Returns the dataset's entry; NULL: the dataset is not shared. */
const struct shared_dataset *shared_find_locked(
	const struct peers *peers, const struct dataset *dataset);
/* Finds the newest edition with this name and fingerprint; `fingerprint` NULL: any. */
const struct shared_dataset *shared_named_locked(
	const struct peers *peers, const char *name, const uint64_t *fingerprint);
void shared_free(struct peers *peers);

/* --- advertise.c ------------------------------------------------------------------------- */

/* Sets `ret` to the address at which other nodes reach this node's server, which listens at
 * `bound`. -EINVAL: there is none (logged). */
must_check int advertise(const struct cluster_config *config, const char *bound,
	char ret[static COORD_ADDRESS]);

/* --- homes.c ----------------------------------------------------------------------------- */

/* Recomputes the homes if the live nodes changed. For the group's thread. peers may be NULL. */
void peers_members(struct peers *peers, const struct coord_node *members, size_t n);
/* Sets node, space and sample of *ret. Returns false if this node has to prepare the sample. */
bool peers_find(struct peers *peers, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, struct peer_fetch *ret);
/* Notes that the node refuses the space until until_ns, because of err. Until then samples whose
 * home is the node are fetched from the next node in their order of homes. */
void peers_refused(
	struct peers *peers, uint32_t node, uint32_t space, int err, uint64_t until_ns);
/* Returns the node's last refusal or failure within 10 s as -errno; 0: none. */
int peers_refusal(struct peers *peers, const char *name);

/* The callback coord_calls.place: divides a mini-batch by the homes of its samples. For the group's
 * thread. */
bool peers_place(struct peers *peers, const struct coord_batch *batch, uint32_t *rank_of);

/* --- give.c ------------------------------------------------------------------------------ */

#define PEERS_HEAD 8 /* bytes of a tensor's head: height and width, little-endian */

/* The callback peer_server_calls.asked: answers with the sample's tensor, or refuses. */
void peers_asked(void *context, struct peer_request *request,
	const struct peer_space *space, sample_id sample);
