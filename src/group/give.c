// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "group/peers.h"
#include "sched/positions.h"
#include "stats/stats.h"

#include <endian.h>
#include <errno.h>

/* A sample stays open until its tensor is sent, so that the cache keeps the tensor. */

struct giving {
	struct peer_request *request;
	struct sched_handle *handle;
};

static void sent(void *context)
{
	struct giving *giving = context;
	sched_undo(giving->handle);
	free(giving);
}

static void opened(void *context, const struct sched_opened *opened)
{
	struct giving *giving = context;
	struct peer_request *request = giving->request;
	if (opened->status) {
		free(giving);
		peer_refuse(request, opened->status);
		return;
	}
	giving->handle = opened->handle;
	const struct tensor *tensor = sched_handle_tensor(opened->handle);
	const uint32_t head[2] = {
		htole32(tensor->shape.height), htole32(tensor->shape.width)};
	const struct peer_tensor answer = {.head = head,
		.head_bytes = PEERS_HEAD,
		.bytes = tensor->data,
		.length = tensor->bytes,
		.release = sent,
		.context = giving};
	stats_add(STAT_GIVEN, 1);
	stats_add(STAT_GIVEN_BYTES, tensor->bytes);
	peer_answer(request, &answer);
}

/* Returns a reference to the shared dataset with this name and fingerprint; NULL: none. */
static struct dataset *hold_dataset(struct peers *peers, const struct peer_space *space)
{
	LOCK_SCOPE(&peers->lock);
	const struct shared_dataset *shared =
		shared_named_locked(peers, space->dataset, &space->fingerprint);
	return shared ? dataset_hold(shared->dataset) : NULL;
}

void peers_asked(void *context, struct peer_request *request,
	const struct peer_space *space, sample_id sample)
{
	struct peers *peers = context;
	struct dataset *dataset = hold_dataset(peers, space);
	struct giving *giving = malloc(sizeof(*giving));
	int err = !giving ? -ENOMEM : !dataset ? -ENOENT : 0;
	if (!err) {
		*giving = (struct giving){.request = request};
		const struct sched_open_callbacks callbacks = {
			.opened = opened, .context = giving};
		err = sched_open_sample(
			peers->sched, dataset, space->preparation, sample, &callbacks);
	}
	dataset_close(&dataset);
	if (err) {
		free(giving);
		peer_refuse(request, err);
	}
}
