// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "place/divide.h"
#include "group/peers.h"

#include <errno.h>
#include <string.h>

#define OF_LATE_NS UINT64_C(10000000000)

/* Finds the homes (place.h) of samples, for the scheduler and for the leader. */

static bool is_home_of(const struct home *home, const struct coord_node *node)
{
	return home->incarnation == node->incarnation &&
	       home->capacity == node->capacity && strcmp(home->name, node->name) == 0 &&
	       strcmp(home->address, node->address) == 0;
}

static bool is_same(const struct peers *peers, const struct coord_node *members, size_t n)
{
	size_t k = 0;
	for (size_t i = 0; i < n; i++) {
		if (!members[i].address[0])
			continue;
		if (k == peers->n_homes || !is_home_of(&peers->homes[k], &members[i]))
			return false;
		k++;
	}
	return k == peers->n_homes;
}

/* Lists the members that listen: the possible homes. Returns their number, or -ENOMEM. */
static ssize_t make_homes(const struct peers *peers, const struct coord_node *members,
	size_t n, struct home **ret)
{
	struct home *homes = calloc(n + 1, sizeof(*homes));
	ssize_t k = 0;
	if (!homes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct home *home = &homes[k];
		if (!members[i].address[0])
			continue;
		home->incarnation = members[i].incarnation;
		home->capacity = members[i].capacity;
		strcpy(home->name, members[i].name);
		strcpy(home->address, members[i].address);
		home->is_here = home->incarnation == peers->self.incarnation;
		home->is_bad =
			!home->is_here && peer_client_node(peers->client, home->name,
						  home->address, &home->node) != 0;
		k++;
	}
	*ret = homes;
	return k;
}

/* Makes a table of the homes whose is_bad is false. Sets ret_at[i] to the index in `homes` of node
 * i of the table. NULL: this node is no home, no memory, or an error that was logged. */
static struct place *make_place(const struct home *homes, size_t n, uint32_t *ret_at)
{
	auto_free struct place_node *nodes = calloc(n + 1, sizeof(*nodes));
	struct place *place = NULL;
	uint32_t k = 0;
	bool has_this_node = false;
	if (!nodes)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		has_this_node |= homes[i].is_here;
		if (homes[i].is_bad)
			continue;
		ret_at[k] = (uint32_t)i;
		nodes[k++] = (struct place_node){
			.hash = place_hash(homes[i].name, strlen(homes[i].name)),
			.capacity = homes[i].capacity};
	}
	if (!has_this_node)
		return NULL;
	int err = place_new(nodes, k, &place);
	if (err)
		log_error("cluster: the homes of samples can't be computed: %s",
			strerror(-err));
	return err ? NULL : place;
}

static void forget_gone(const struct peers *peers, const struct home *homes, size_t n)
{
	for (size_t i = 0; i < peers->n_homes; i++) {
		const struct home *old = &peers->homes[i];
		bool is_gone = !old->is_here && !old->is_bad;
		for (size_t k = 0; k < n; k++)
			is_gone &= strcmp(old->name, homes[k].name) != 0;
		if (is_gone)
			peer_client_forget(peers->client, old->node);
	}
}

void peers_members(struct peers *peers, const struct coord_node *members, size_t n)
{
	auto_free struct home *homes = NULL;
	if (!peers || is_same(peers, members, n))
		return;
	ssize_t n_homes = make_homes(peers, members, n, &homes);
	auto_free uint32_t *at = calloc(n + 1, sizeof(*at));
	if (n_homes < 0 || !at)
		return; /* the next call tries again */
	forget_gone(peers, homes, (size_t)n_homes);
	struct place *place = make_place(homes, (size_t)n_homes, at);
	struct home *old_homes = peers->homes;
	struct place *old_place = peers->place;
	uint32_t *old_at = peers->at;
	{
		LOCK_SCOPE(&peers->lock);
		peers->homes = homes;
		peers->n_homes = (size_t)n_homes;
		peers->place = place;
		peers->at = at;
	}
	homes = old_homes;
	at = old_at;
	place_free(&old_place);
}

/* --- the scheduler asks ------------------------------------------------------------------ */

/* The hash leaves out the preparation, so one home decodes a sample for all preparations. */
static uint64_t hash_of(const struct shared_dataset *shared)
{
	const char *name = dataset_name(shared->dataset);
	return place_hash(name, strlen(name)) ^ shared->fingerprint;
}

/* Returns the index of the space, and adds the space if it is new. PEER_SPACES: no room, or the
 * dataset is not shared. */
static uint32_t find_space_locked(struct peers *peers, const struct dataset *dataset,
	const struct preparation *preparation)
{
	char text[PREPARATION_TEXT];
	lock_assert_held(&peers->lock);
	for (uint32_t i = 0; i < peers->n_spaces; i++)
		if (peers->spaces[i].dataset == dataset &&
			preparation_equal(&peers->spaces[i].preparation, preparation))
			return i;
	const struct shared_dataset *shared = shared_find_locked(peers, dataset);
	uint32_t at = 0, number;
	while (at < peers->n_spaces && peers->spaces[at].dataset)
		at++;
	if (!shared || at == PEER_SPACES)
		return PEER_SPACES;
	preparation_print(preparation, text);
	const struct peer_space named = {.dataset = dataset_name(dataset),
		.preparation = text,
		.fingerprint = shared->fingerprint};
	if (peer_client_space(peers->client, &named, &number) != 0)
		return PEER_SPACES;
	peers->spaces[at] = (struct shared_space){.dataset = dataset,
		.preparation = *preparation,
		.number = number,
		.hash = hash_of(shared)};
	peers->n_spaces += at == peers->n_spaces;
	return at;
}

/* Returns the first node in the sample's order of homes (place.h) that does not refuse the space
 * now. NULL: this node comes first, or there is no such node. */
static struct home *find_home_locked(
	struct peers *peers, const struct shared_space *space, sample_id sample)
{
	lock_assert_held(&peers->lock);
	uint32_t i = place_home(peers->place, space->hash, sample);
	while (i != PLACE_NONE) {
		struct home *home = &peers->homes[peers->at[i]];
		if (home->is_here)
			return NULL;
		if (clock_now_ns() >= home->refuses_until_ns[space->number])
			return home;
		i = place_next(peers->place, space->hash, sample, i);
	}
	return NULL;
}

bool peers_find(struct peers *peers, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, struct peer_fetch *ret)
{
	LOCK_SCOPE(&peers->lock);
	if (!peers->place)
		return false;
	uint32_t i = find_space_locked(peers, dataset, preparation);
	if (i == PEER_SPACES)
		return false;
	const struct home *home = find_home_locked(peers, &peers->spaces[i], sample);
	if (!home)
		return false;
	ret->node = home->node;
	ret->space = peers->spaces[i].number;
	ret->sample = sample;
	return true;
}

void peers_refused(
	struct peers *peers, uint32_t node, uint32_t space, int err, uint64_t until_ns)
{
	LOCK_SCOPE(&peers->lock);
	for (size_t i = 0; i < peers->n_homes; i++) {
		struct home *home = &peers->homes[i];
		if (home->is_here || home->is_bad || home->node != node)
			continue;
		home->refuses_until_ns[space] = until_ns;
		home->refused_ns = clock_now_ns();
		home->refused_errno = err;
	}
}

int peers_refusal(struct peers *peers, const char *name)
{
	LOCK_SCOPE(&peers->lock);
	for (size_t i = 0; i < peers->n_homes; i++) {
		const struct home *home = &peers->homes[i];
		if (home->refused_ns && strcmp(home->name, name) == 0 &&
			clock_now_ns() - home->refused_ns < OF_LATE_NS)
			return home->refused_errno;
	}
	return 0;
}

/* --- the leader asks --------------------------------------------------------------------- */

static bool find_hash(struct peers *peers, const char *name, uint64_t *ret)
{
	LOCK_SCOPE(&peers->lock);
	const struct shared_dataset *shared = shared_named_locked(peers, name, NULL);
	if (shared)
		*ret = hash_of(shared);
	return shared != NULL;
}

static bool serves_a_rank(const struct coord_batch *batch, const struct home *home)
{
	for (uint32_t r = 0; r < batch->ranks; r++)
		if (batch->rank_node[r] == home->incarnation)
			return true;
	return false;
}

/* Makes a table only of nodes that serve a rank of the batch: other nodes have no job with these
 * samples, and would refuse fetches. */
static struct place *make_place_of_ranks(
	const struct peers *peers, const struct coord_batch *batch, uint32_t *ret_at)
{
	auto_free struct home *homes = calloc(peers->n_homes + 1, sizeof(*homes));
	if (!homes)
		return NULL;
	for (size_t i = 0; i < peers->n_homes; i++) {
		homes[i] = peers->homes[i];
		homes[i].is_bad |= !serves_a_rank(batch, &homes[i]);
	}
	return make_place(homes, peers->n_homes, ret_at);
}

bool peers_place(struct peers *peers, const struct coord_batch *batch, uint32_t *rank_of)
{
	uint64_t hash;
	if (!peers->place || peers->n_homes < 2 ||
		!find_hash(peers, batch->dataset, &hash))
		return false;
	auto_free uint64_t *nodes = calloc(peers->n_homes, sizeof(*nodes));
	auto_free uint32_t *home = calloc(batch->n, sizeof(*home));
	auto_free uint32_t *at = calloc(peers->n_homes + 1, sizeof(*at));
	struct place *place =
		nodes && home && at ? make_place_of_ranks(peers, batch, at) : NULL;
	if (!place)
		return false;
	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t k = place_home(place, hash, batch->ids[i]);
		home[i] = k == PLACE_NONE ? PLACE_NONE : at[k];
	}
	place_free(&place);
	for (size_t i = 0; i < peers->n_homes; i++)
		nodes[i] = peers->homes[i].incarnation;
	return divide(batch, home, nodes, (uint32_t)peers->n_homes, rank_of);
}
