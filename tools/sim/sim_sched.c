// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sim_sched_internal.h"
#include "epoch/questions.h"

#include <errno.h>
#include <stdlib.h>

void sim_fail(struct sim_sched *sched, int err)
{
	if (!sched->error)
		sched->error = err;
}

/* Tells the draw engine of a binding. The daemon would also write the record to a journal. */
static void note(struct sim_sched_job *job, const struct record *record)
{
	if (record->kind != RECORD_BOUND)
		return;
	sim_draw_asks(job, false);
	sim_draw_bound(job);
}

static void answer(struct sim_open *open)
{
	open->answered = true;
	if (open->request.status == 0)
		sim_supply_attach(open);
}

/* Refuses to open an earlier epoch, because the simulation saves no orders. */
static void look_up(struct sim_open *open)
{
	open->answered = true;
	open->request.status = -ESTALE;
}

static void end(struct sim_sched_job *job, const struct drawn_queue *queue)
{
	for (uint32_t i = 0; i < queue->length; i++) {
		const struct drawn *drawn = &queue->ring[(queue->head + i) % queue->size];
		if (drawn->pinned)
			sim_supply_unpin(job->sched, drawn->sample);
	}
	sim_draw_end(job);
	free(queue->ring);
}

static void execute(struct sim_sched_job *job, struct effects *effects);

static void draw(struct sim_sched_job *job, uint32_t position)
{
	struct effects effects;
	sim_draw_asked(job, position);
	effects_init(&effects);
	epochs_take_drawn(job->epochs, &effects);
	execute(job, &effects);
}

static void execute_one(struct sim_sched_job *job, struct effect *effect)
{
	switch (effect->kind) {
	case EFFECT_BEGIN:
	case EFFECT_SAVE:
		job->wants_clerk = true;
		break;
	case EFFECT_NOTICE: /* the simulated scripts make no mistakes */
		break;
	case EFFECT_END:
		end(job, &effect->queue);
		break;
	case EFFECT_DRAW:
		draw(job, effect->position);
		break;
	case EFFECT_UNPIN:
		sim_supply_unpin(job->sched, effect->sample);
		break;
	case EFFECT_ANSWER:
		answer(struct_of(effect->request, struct sim_open, request));
		break;
	case EFFECT_LOOK_UP:
		look_up(struct_of(effect->request, struct sim_open, request));
		break;
	case EFFECT_RECORD:
		note(job, &effect->record);
		break;
	case EFFECT_LOAD:
	case EFFECT_KINDS:
		ensure(!"an effect");
	}
}

static void execute(struct sim_sched_job *job, struct effects *effects)
{
	const struct pin *pin;
	for (unsigned i = 0; i < effects->n; i++)
		execute_one(job, &effects->list[i]);
	TAILQ_FOREACH (pin, &effects->unpinned, link)
		sim_supply_unpin(job->sched, pin->sample);
	epochs_unpinned(job->epochs, effects);
}

static void resume(struct sim_sched_job *job)
{
	struct effects effects;
	effects_init(&effects);
	while (epochs_resume(job->epochs, 0, &effects)) {
		execute(job, &effects);
		effects_init(&effects);
	}
}

static bool draws_already(const struct sim_open *open)
{
	return open->job->has_stream && open->job->stream.epoch == open->request.epoch;
}

static void ask(struct sim_open *open)
{
	struct effects effects;
	effects_init(&effects);
	epochs_open(open->job->epochs, &open->request, 0, &effects);
	execute(open->job, &effects);
}

/* A separate thread, the clerk, does this work in the daemon. */
static void do_clerks_work(struct sim_sched_job *job)
{
	uint32_t epoch;
	if (!job->wants_clerk)
		return;
	job->wants_clerk = false;
	while (epochs_wants(job->epochs, EFFECT_BEGIN, &epoch)) {
		int err = sim_draw_begin(job, epoch);
		sim_fail(job->sched, err);
		epochs_begun(job->epochs, epoch, err, 0);
		job->wants_refill = true;
	}
	while (epochs_wants(job->epochs, EFFECT_SAVE, &epoch))
		epochs_saved(job->epochs, epoch);
}

static void refill(struct sim_sched_job *job)
{
	if (job->wants_refill)
		sim_draw_fill(job);
	job->wants_refill = false;
}

int sim_sched_open(struct sim_sched *sched, struct sim_open *const *opens, size_t n)
{
	ensure(n == 1 || !sched->config.lookahead);
	for (size_t i = 0; i < n; i++) {
		sim_draw_asks(opens[i]->job, true);
		if (!draws_already(opens[i]))
			ask(opens[i]);
	}
	for (size_t i = 0; i < n; i++)
		do_clerks_work(opens[i]->job);
	for (size_t i = 0; i < n; i++) {
		if (!opens[i]->answered && !opens[i]->request.waits)
			ask(opens[i]);
		resume(opens[i]->job);
		ensure(opens[i]->answered);
	}
	for (size_t i = 0; i < n; i++) {
		sim_draw_asks(opens[i]->job, false);
		refill(opens[i]->job);
	}
	sim_supply_reap(sched);
	return sched->error;
}

int sim_sched_load(struct sim_open *open)
{
	struct sim_sched *sched = open->job->sched;
	const struct open_request *request = &open->request;
	ensure(open->answered && request->status == 0);
	sim_supply_load_now(open);
	open->miss = sched->unread[request->sample];
	sched->unread[request->sample] = false;
	sim_supply_work(sched);
	return sched->error;
}

int sim_sched_release(struct sim_open *open)
{
	struct sim_sched_job *job = open->job;
	struct effects effects;
	ensure(open->answered && open->request.status == 0);
	sim_supply_detach(open);
	job->share.samples++;
	effects_init(&effects);
	epochs_released(job->epochs, open->request.found_epoch, open->request.position,
		true, 0, &effects);
	execute(job, &effects);
	sim_supply_work(job->sched);
	sim_supply_reap(job->sched);
	return job->sched->error;
}

uint64_t sim_sched_loads(const struct sim_sched *sched)
{
	return sched->loads;
}

static int make_epochs(struct sim_sched_job *job)
{
	uint32_t lookahead = job->sched->config.lookahead;
	struct epochs_config config = {
		.kind = job->labels ? EPOCHS_DRAWN_AT_OPEN : EPOCHS_DRAWN,
		.set.selection = job->selection,
		.set.positions = (uint32_t)roaring_bitmap_get_cardinality(job->selection),
		.limit = EPOCH_CURRENT,
		.lookahead = lookahead ? lookahead : 1,
		.file = 1,
	};
	return epochs_new(&config, &job->epochs);
}

int sim_sched_join(struct sim_sched *sched, job_id id, const roaring_bitmap_t *selection,
	const uint32_t *labels, struct sim_sched_job **ret)
{
	struct sim_sched_job *job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	*job = (struct sim_sched_job){
		.sched = sched, .id = id, .selection = selection, .labels = labels};
	int err = make_epochs(job);
	if (!err)
		err = sampler_join(sched->sampler, id, 0, selection);
	if (err) {
		epochs_free(&job->epochs);
		free(job);
		return err;
	}
	share_join(&sched->supply.shares, &job->share, 1, sched->config.cost_ns);
	TAILQ_INSERT_TAIL(&sched->jobs, job, link);
	*ret = job;
	return 0;
}

void sim_sched_leave(struct sim_sched_job *job)
{
	struct sim_sched *sched = job->sched;
	struct effects effects;
	effects_init(&effects);
	epochs_leave(job->epochs, &effects);
	execute(job, &effects);
	sampler_leave(sched->sampler, job->id);
	share_leave(&job->share);
	epochs_free(&job->epochs);
	TAILQ_REMOVE(&sched->jobs, job, link);
	free(job);
}

static void gone(void *context, struct cache_space *space, sample_id sample)
{
	struct sim_sched *sched = context;
	(void)space;
	sampler_evicted(sched->sampler, 0, sample);
}

static int make_sampler(struct sim_sched *sched)
{
	const struct sim_sched_config *config = &sched->config;
	if (config->labels)
		return sampler_new_labelled(config->sampler_seed, config->labels,
			config->n_ids, &sched->sampler);
	return sim_sampler_new(config->sampler, config->sampler_seed, &sched->sampler);
}

int sim_sched_new(const struct sim_sched_config *config, struct sim_sched **ret)
{
	struct sim_sched *sched = calloc(1, sizeof(*sched));
	*ret = NULL;
	if (!sched)
		return -ENOMEM;
	sched->config = *config;
	TAILQ_INIT(&sched->jobs);
	draw_init(&sched->draw);
	int err = make_sampler(sched);
	if (!err)
		err = cache_new(config->capacity, config->eviction, config->cache_seed,
			&sched->cache);
	if (!err) {
		cache_on_gone(sched->cache, gone, sched);
		err = cache_space_new(sched->cache, config->n_ids, &sched->space);
	}
	if (!err)
		err = sim_supply_make(sched);
	if (err)
		sim_sched_free(&sched);
	*ret = sched;
	return err;
}

void sim_sched_free(struct sim_sched **sched_pointer)
{
	struct sim_sched *sched = *sched_pointer;
	struct sim_sched_job *job;
	if (!sched)
		return;
	while ((job = TAILQ_FIRST(&sched->jobs)))
		sim_sched_leave(job);
	if (sched->cache)
		cache_free(&sched->cache);
	sampler_free(&sched->sampler);
	sim_supply_free(sched);
	draw_free(&sched->draw);
	free(sched);
	*sched_pointer = NULL;
}

uint32_t *sim_labels_new(uint32_t n_ids, uint32_t labels)
{
	uint32_t *ret = calloc(n_ids + 1, sizeof(*ret));
	for (uint32_t id = 0; ret && id < n_ids; id++)
		ret[id] = id % labels;
	return ret;
}

int sim_positions_new(const roaring_bitmap_t *selection, uint32_t n,
	const uint32_t *id_labels, uint32_t **ret_labels, uint32_t **ret_opens)
{
	uint32_t *labels = *ret_labels = calloc(n + 1, sizeof(*labels));
	uint32_t *opens = *ret_opens = calloc(n + 1, sizeof(*opens));
	if (!labels || !opens)
		return -ENOMEM;
	roaring_bitmap_to_uint32_array(selection, labels);
	for (uint32_t i = 0; i < n; i++) {
		labels[i] = id_labels[labels[i]];
		opens[i] = i;
	}
	return 0;
}

void sim_shuffle(struct rng *rng, uint32_t *opens, uint32_t n)
{
	for (; n > 1; n--) {
		uint32_t i = (uint32_t)rng_below(rng, n), position = opens[i];
		opens[i] = opens[n - 1];
		opens[n - 1] = position;
	}
}
