// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sim_sched_internal.h"

#include <errno.h>
#include <stdlib.h>

/* The supply has a single dataset, preparation and storage. A chosen sample counts as read at once
 * (take); a caller with a clock lets reading and decoding together take time (sim_sched_loaded). */

int sim_supply_make(struct sim_sched *sched)
{
	const struct sim_sched_config *config = &sched->config;
	struct supply *supply = &sched->supply;
	sched->daemon.cache_bytes = config->capacity;
	sched->daemon.share = config->timed ? config->share : SHARE_FIFO;
	sched->daemon.workers = 1;
	supply_init(supply, &sched->daemon);
	supply->cache = sched->cache;
	supply->sources = calloc(1, sizeof(struct source *));
	supply->storages = calloc(1, sizeof(*supply->storages));
	sched->unread = calloc(config->n_ids + 1, sizeof(*sched->unread));
	if (!supply->sources || !supply->storages || !sched->unread)
		return -ENOMEM;
	supply->n_sources = 1;
	supply->sources[0] = &sched->source;
	sched->source.supply = supply;
	LIST_INIT(&sched->source.spaces);
	sched->prepared = (struct space){.source = &sched->source,
		.cache = sched->space,
		.cost_ns = config->cost_ns,
		.references = 1};
	LIST_INSERT_HEAD(&sched->source.spaces, &sched->prepared, link);
	return storage_get(supply, 0, "storage", &sched->source.storage);
}

void sim_supply_free(struct sim_sched *sched)
{
	supply_end(&sched->supply);
	free(sched->unread);
}

static void execute(struct sim_sched *sched)
{
	struct supply_effects effects;
	supply_take_effects(&sched->supply, &effects);
	if (effects.gone)
		sampler_evicted(sched->sampler, 0, effects.gone_sample);
}

bool sim_sched_has(const struct sim_sched *sched, sample_id sample)
{
	return cache_state(sched->space, sample) == CACHE_READY;
}

uint64_t sim_supply_bytes(const struct sim_sched *sched, sample_id sample)
{
	return sched->config.bytes ? sched->config.bytes[sample] : 1;
}

static void ask(struct sim_sched_job *job, sample_id sample, bool urgent)
{
	struct sim_sched *sched = job->sched;
	const struct want want = {.job = &job->share,
		.id = job->id,
		.urgent = urgent,
		.needs.memory.tensor = sim_supply_bytes(sched, sample)};
	struct wanted *wanted = wanted_get(&sched->prepared, sample);
	sim_fail(sched, wanted ? supply_want(&sched->supply, wanted, &want) : -ENOMEM);
	execute(sched);
}

void sim_supply_request(struct sim_sched_job *job, sample_id sample)
{
	if (cache_state(job->sched->space, sample) == CACHE_ABSENT)
		ask(job, sample, false);
}

void sim_supply_unpin(struct sim_sched *sched, sample_id sample)
{
	supply_drop(&sched->prepared, sample);
	execute(sched);
}

void sim_supply_attach(struct sim_open *open)
{
	struct sim_sched *sched = open->job->sched;
	sample_id sample = open->request.sample;
	sim_fail(sched, cache_pin(sched->space, sample));
	open->wanted = wanted_get(&sched->prepared, sample);
	sim_fail(sched, open->wanted ? 0 : -ENOMEM);
	if (open->wanted)
		open->wanted->opens++;
}

void sim_supply_detach(struct sim_open *open)
{
	supply_detach(open->wanted, &open->job->share);
	execute(open->job->sched);
}

/* Takes the sample to load next. Returns NULL if no sample can be loaded now. */
static struct wanted *take(struct sim_sched *sched)
{
	struct wanted *wanted = supply_next_read(&sched->supply, 0, NULL, NULL);
	if (!wanted)
		return NULL;
	supply_was_read(&sched->supply, wanted, 0);
	bool decodes = supply_next_decode(&sched->supply, false) == wanted;
	ensure(decodes);
	execute(sched);
	sim_supply_reap(sched);
	return wanted;
}

/* Puts a loaded sample into the cache, and counts the load. */
static void end(struct sim_sched *sched, struct wanted *wanted)
{
	sample_id sample = (sample_id)wanted->key.sample;
	struct supply_result result = {
		.tensor = tensor_new((struct tensor_shape){.height = 0, .width = 0},
			sim_supply_bytes(sched, sample))};
	result.status = result.tensor ? 0 : -ENOMEM;
	sim_fail(sched, result.status);
	sched->unread[sample] = result.status == 0;
	sched->loads += result.status == 0;
	supply_done(&sched->supply, wanted, &result, 0);
	execute(sched);
	sim_supply_reap(sched);
}

void sim_supply_work(struct sim_sched *sched)
{
	struct wanted *wanted;
	if (sched->config.timed)
		return; /* the caller takes samples by sim_sched_take */
	while (!sched->error && (wanted = take(sched)))
		end(sched, wanted);
}

void sim_supply_load_now(struct sim_open *open)
{
	struct sim_sched *sched = open->job->sched;
	if (sim_sched_has(sched, open->request.sample))
		return;
	ask(open->job, open->request.sample, true);
	struct wanted *wanted = sched->error ? NULL : take(sched);
	if (!wanted)
		return;
	ensure(wanted == open->wanted);
	end(sched, wanted);
}

void sim_supply_reap(struct sim_sched *sched)
{
	struct tensor *tensor;
	while ((tensor = cache_reap(sched->cache)))
		tensor_free(tensor);
}

int sim_sched_wait(struct sim_open *open)
{
	ask(open->job, open->request.sample, true);
	return open->job->sched->error;
}

sample_id sim_sched_take(struct sim_sched *sched)
{
	const struct wanted *wanted = take(sched);
	return wanted ? (sample_id)wanted->key.sample : SAMPLE_NONE;
}

int sim_sched_loaded(struct sim_sched *sched, sample_id sample)
{
	struct wanted *wanted = wanted_find(&sched->prepared, sample);
	ensure(wanted && wanted->state == WANTED_LOADING);
	end(sched, wanted);
	return sched->error;
}

void sim_sched_waited(struct sim_sched_job *job, uint64_t ns)
{
	job->share.waited_ns += ns;
}

int sim_sched_window(
	struct sim_sched *sched, double seconds, double decoders, double busy)
{
	return shares_window(&sched->supply.shares, seconds, decoders, busy);
}
