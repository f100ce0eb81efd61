// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "group/peers.h"
#include "image/image.h"
#include "sched/ranks.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* time in which a node gets no fetches of a space, after it has answered that it has no job with
 * the sample */
#define WITHOUT_JOB_NS (5 * SECOND_NS)
#define AWAY_NS SECOND_NS /* the same, after a failed connection or a timeout */

/* --- fetching ---------------------------------------------------------------------------- */

static bool is_elsewhere(void *context, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample)
{
	struct peer_fetch unused;
	return peers_find(context, dataset, preparation, sample, &unused);
}

static void *place_for(
	void *context, const void *head, size_t head_bytes, uint64_t length)
{
	uint32_t shape[2];
	if (head_bytes != PEERS_HEAD)
		return NULL;
	memcpy(shape, head, sizeof(shape));
	return sched_fetch_place(context,
		(struct tensor_shape){
			.height = le32toh(shape[0]), .width = le32toh(shape[1])},
		length);
}

static void note_failure(struct peers *peers, const struct sched_fetch *fetch, int err)
{
	uint64_t now_ns = clock_now_ns();
	if (err == -ENOENT)
		peers_refused(
			peers, fetch->node, fetch->space, err, now_ns + WITHOUT_JOB_NS);
	else if (err == -EHOSTDOWN || err == -ECONNRESET || err == -ETIMEDOUT)
		peers_refused(peers, fetch->node, fetch->space, err, now_ns + AWAY_NS);
}

static void done(void *context, int err)
{
	struct sched_fetch *fetch = context;
	note_failure(fetch->context, fetch, err);
	sched_fetch_done(fetch, err);
}

static int fetch_sample(void *context, struct sched_fetch *fetch)
{
	struct peers *peers = context;
	struct peer_fetch asks = {.deadline_ns = clock_now_ns() + peers->patience_ns,
		.place_for = place_for,
		.done = done,
		.context = fetch};
	if (!peers_find(peers, fetch->dataset, fetch->preparation, fetch->sample, &asks))
		return -EHOSTDOWN; /* the home has left or refused meanwhile */
	fetch->context = peers;
	fetch->node = asks.node;
	fetch->space = asks.space;
	int err = peer_fetch(peers->client, &asks);
	if (err)
		note_failure(peers, fetch, err);
	return err;
}

/* --- life -------------------------------------------------------------------------------- */

static uint64_t most_bytes(const struct daemon_config *config)
{
	uint64_t pixels = config->max_pixels ? config->max_pixels : IMAGE_MAX_PIXELS;
	return 8 * pixels; /* 4 channels of 16 bits */
}

static int listen_at(
	struct peers *peers, const struct cluster_config *config, struct coord_node *self)
{
	const struct peer_server_calls calls = {.asked = peers_asked, .context = peers};
	int err = peer_server_new(config->listen, &peers->self, &calls, &peers->server);
	if (err)
		return err;
	return advertise(config, peer_server_address(peers->server), self->address);
}

static int start(struct peers *peers, const struct daemon_config *config,
	struct dataset **datasets, struct coord_node *self)
{
	const struct cluster_config *cluster = &config->cluster;
	const struct peer_trust_files trust = {.secret = cluster->secret,
		.ca = cluster->tls_ca,
		.cert = cluster->tls_cert,
		.key = cluster->tls_key,
		.is_plain = !cluster->encrypt};
	if (strlen(self->name) > PEER_NAME) {
		log_error("[cluster]:node: found \"%s\", allowed: at most %d bytes",
			self->name, PEER_NAME);
		return -EINVAL;
	}
	int err = peer_trust_new(&trust, &peers->trust);
	peers->self.trust = peers->trust;
	if (!err && peers->trust && !cluster->encrypt)
		log_info("[cluster]:encrypt = no: nodes send images unencrypted, which "
			 "needs a trusted network");
	for (size_t i = 0; !err && i < config->n_datasets; i++)
		err = peers_share(peers, datasets[i]);
	if (!err)
		err = peer_client_new(&peers->self, most_bytes(config), &peers->client);
	if (!err)
		err = listen_at(peers, cluster, self);
	return err;
}

int peers_new(const struct daemon_config *config, struct dataset **datasets,
	struct sched *sched, struct coord_node *self, struct peers **ret)
{
	if (!config->cluster.listen)
		return 0;
	struct peers *peers = calloc(1, sizeof(*peers));
	if (!peers)
		return -ENOMEM;
	peers->sched = sched;
	peers->patience_ns = 2 * config->cluster.ttl_s * SECOND_NS;
	peers->self =
		(struct peer_self){.name = self->name, .incarnation = self->incarnation};
	lock_init(&peers->lock, LOCK_RANK_HOMES, "homes");
	int err = start(peers, config, datasets, self);
	if (err) {
		peers_free(&peers);
		return err;
	}
	sched_fetch_by(sched, &(struct sched_fetcher){.is_elsewhere = is_elsewhere,
				      .fetch = fetch_sample,
				      .context = peers});
	*ret = peers;
	return 0;
}

void peers_free(struct peers **peers_pointer)
{
	struct peers *peers = *peers_pointer;
	*peers_pointer = NULL;
	if (!peers)
		return;
	if (peers->server)
		peer_server_stop(peers->server);
	peer_client_free(&peers->client);
	peer_server_free(&peers->server);
	peer_trust_free(&peers->trust);
	place_free(&peers->place);
	free(peers->homes);
	free(peers->at);
	shared_free(peers);
	lock_destroy(&peers->lock);
	free(peers);
}

bool peers_bytes(
	const struct peers *peers, const char *name, uint64_t *ret_in, uint64_t *ret_out)
{
	*ret_in = *ret_out = 0;
	bool known = peer_client_bytes(peers->client, name, ret_in);
	return peer_server_bytes(peers->server, name, ret_out) || known;
}
