// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "base/ensure.h"
#include "epoch/epoch_internal.h"

#include <errno.h>

/*
 * One epoch: its positions and the pins of its samples.
 *
 *    sampler --drawn--> queue --bound--> pins --consumed--> given back
 *                         |                |
 *                         +----------------+--- the epoch ends, or the job is parked
 */

#define FIRST_LOG_ROOM 1024
#define FIRST_CHAIN_BITS 5

static struct pin_chain *chain_of(const struct epoch *epoch, uint32_t position)
{
	uint32_t hash = position * UINT32_C(0x9e3779b1);
	return &epoch->chains[hash >> (32 - epoch->chain_bits)];
}

struct pin *epoch_pin(const struct epoch *epoch, uint32_t position)
{
	struct pin *pin;
	LIST_FOREACH (pin, chain_of(epoch, position), chain)
		if (pin->position == position)
			return pin;
	return NULL;
}

/* Doubles the number of hash chains. If there is no memory, their number stays, and the chains grow
 * longer. */
static void add_chains(struct epoch *epoch)
{
	struct pin *pin;
	struct pin_chain *chains =
		calloc(2 * ((size_t)1 << epoch->chain_bits), sizeof(*chains));
	if (!chains)
		return;
	free(epoch->chains);
	epoch->chains = chains;
	epoch->chain_bits++;
	TAILQ_FOREACH (pin, &epoch->pins, link)
		LIST_INSERT_HEAD(chain_of(epoch, pin->position), pin, chain);
}

int epoch_alloc(const struct epoch_set *set, uint32_t number, struct epoch **ret)
{
	uint32_t n = set->positions;
	struct epoch *epoch = calloc(1, sizeof(*epoch));
	*ret = NULL;
	if (!epoch)
		return -ENOMEM;
	epoch->number = number;
	epoch->set = set;
	epoch->chain_bits = FIRST_CHAIN_BITS;
	epoch->chains = calloc((size_t)1 << FIRST_CHAIN_BITS, sizeof(*epoch->chains));
	epoch->samples = calloc(n, sizeof(*epoch->samples));
	epoch->consumed_bits = calloc(n / 8 + 1, 1);
	epoch->reads = calloc(n, sizeof(*epoch->reads));
	TAILQ_INIT(&epoch->pins);
	if (!epoch->chains || !epoch->samples || !epoch->consumed_bits || !epoch->reads) {
		epoch_reaped_free(epoch);
		return -ENOMEM;
	}
	*ret = epoch;
	return 0;
}

int epoch_new(struct epochs *epochs, uint32_t number, struct epoch **ret)
{
	int err = epoch_alloc(set_of(epochs, number), number, ret);
	if (!err)
		LIST_INSERT_HEAD(&epochs->live, *ret, link);
	return err;
}

void epoch_kill(struct epochs *epochs, struct epoch *epoch)
{
	ensure(!epoch->queue.ring && TAILQ_EMPTY(&epoch->pins));
	ensure(epoch != epochs->running && epoch != epochs->draining);
	LIST_REMOVE(epoch, link);
	LIST_INSERT_HEAD(&epochs->dead, epoch, link);
}

struct epoch *epochs_reap(struct epochs *epochs)
{
	struct epoch *epoch = LIST_FIRST(&epochs->dead);
	if (epoch)
		LIST_REMOVE(epoch, link);
	return epoch;
}

void epoch_reaped_free(struct epoch *epoch)
{
	if (!epoch)
		return;
	free(epoch->chains);
	free(epoch->samples);
	free(epoch->log);
	free(epoch->consumed_bits);
	free(epoch->reads);
	free(epoch->files_read);
	bitmap_free(&epoch->replayed);
	free(epoch);
}

int epoch_reserve(struct epoch *epoch)
{
	uint32_t most = epoch->set->positions;
	if (epoch->bound < epoch->log_room)
		return 0;
	ensure(epoch->bound < most);
	uint64_t room = epoch->log_room ? 2 * (uint64_t)epoch->log_room : FIRST_LOG_ROOM;
	if (room > most)
		room = most;
	if (!array_resize(epoch->log, room))
		return -ENOMEM;
	epoch->log_room = (uint32_t)room;
	return 0;
}

void epoch_bind(
	struct epoch *epoch, uint32_t position, sample_id sample, enum served served)
{
	ensure(!epoch_has_bound(epoch, position) && epoch->bound < epoch->log_room);
	epoch->samples[position] = sample + 1;
	epoch->log[epoch->bound++] = order_log_entry(position, served);
}

void epoch_mark_consumed(struct epoch *epoch, uint32_t position)
{
	epoch->consumed_bits[position / 8] |= (uint8_t)(1u << (position % 8));
	epoch->reads[epoch->consumed++] = position;
	epoch->reads_hash = order_reads_hash(epoch->reads_hash, position);
	if (position >= epoch->read_end)
		epoch->read_end = position + 1;
	while (epoch->first_unread < epoch->read_end &&
		epoch_has_consumed(epoch, epoch->first_unread))
		epoch->first_unread++;
}

void epoch_run(struct epochs *epochs, struct epoch *epoch, bool drains)
{
	ensure(!epochs->draining);
	if (drains)
		epochs->draining = epochs->running;
	epochs->running = epoch;
	epochs->current.begun = epochs->current.opened;
}

struct pin *epoch_take_spare(struct epochs *epochs)
{
	struct pin *pin = TAILQ_LAST(&epochs->spare, pins);
	if (pin)
		TAILQ_REMOVE(&epochs->spare, pin, link);
	return pin;
}

void epochs_unpinned(struct epochs *epochs, struct effects *effects)
{
	TAILQ_CONCAT(&epochs->spare, &effects->unpinned, link);
}

void epoch_keep_pin(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	sample_id sample, struct effects *effects)
{
	struct pin *pin = epoch_take_spare(epochs);
	if (!pin)
		pin = malloc(sizeof(*pin));
	if (!pin) {
		epochs->pins--;
		effect_unpin(effects, epoch->number, sample);
		return;
	}
	*pin = (struct pin){.epoch = epoch->number,
		.position = position,
		.sample = sample,
		.sequence = epoch->bound - 1};
	if (epoch->n_pins++ >> epoch->chain_bits)
		add_chains(epoch);
	LIST_INSERT_HEAD(chain_of(epoch, position), pin, chain);
	TAILQ_INSERT_TAIL(&epoch->pins, pin, link);
}

void epoch_drop_pin(struct epochs *epochs, struct epoch *epoch, struct pin *pin,
	struct effects *effects)
{
	LIST_REMOVE(pin, chain);
	epoch->n_pins--;
	TAILQ_REMOVE(&epoch->pins, pin, link);
	epochs->pins--;
	TAILQ_INSERT_TAIL(&effects->unpinned, pin, link);
}

void epoch_drop_pins(struct epochs *epochs, struct epoch *epoch, uint32_t far, bool all,
	struct effects *effects)
{
	struct pin *pin = TAILQ_FIRST(&epoch->pins);
	while (pin && epoch->bound - pin->sequence > far) {
		struct pin *next = TAILQ_NEXT(pin, link);
		if (pin->opens == 0 || all)
			epoch_drop_pin(epochs, epoch, pin, effects);
		pin = next;
	}
}

void epochs_drawn(struct epochs *epochs, uint32_t number, const struct drawn *drawn)
{
	struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch && epoch->stream == STREAM_READY);
	struct drawn_queue *queue = &epoch->queue;
	ensure(queue->length < queue->size);
	uint32_t at = queue->head + queue->length++;
	queue->ring[at < queue->size ? at : at - queue->size] = *drawn;
	epochs->pins += drawn->pinned;
	epochs->needed--;
	if (epochs->config.fed)
		resume_waiting(epochs, number, 0);
}

struct drawn epoch_pop(struct epoch *epoch)
{
	struct drawn_queue *queue = &epoch->queue;
	ensure(queue->length > 0);
	struct drawn drawn = queue->ring[queue->head];
	queue->head = queue->head + 1 < queue->size ? queue->head + 1 : 0;
	queue->length--;
	return drawn;
}

/* Moves the queue, with the pins of its samples, to the caller. */
static void hand_over_queue(
	struct epochs *epochs, struct epoch *epoch, struct drawn_queue *ret)
{
	struct drawn_queue *queue = &epoch->queue;
	for (uint32_t i = 0; i < queue->length; i++)
		epochs->pins -= queue->ring[(queue->head + i) % queue->size].pinned;
	*ret = *queue;
	*queue = (struct drawn_queue){0};
}

int epoch_begin_stream(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects)
{
	const struct epochs_config *config = &epochs->config;
	uint32_t size = config->most_ahead ? config->most_ahead : config->lookahead;
	ensure(epoch->stream == STREAM_ABSENT);
	struct drawn *ring = calloc(size, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	epoch->queue = (struct drawn_queue){.ring = ring, .size = size};
	epoch->stream = STREAM_BEGINNING;
	epochs->idle = false;
	effect_add(effects, EFFECT_BEGIN)->epoch = epoch->number;
	return 0;
}

void epochs_begun(struct epochs *epochs, uint32_t number, int status, uint64_t now_ns)
{
	struct epoch *epoch = find_epoch(epochs, number);
	/* a job whose stream takes long to make is not idle */
	epochs->last_read_ns = now_ns;
	if (!epoch || epoch->stream != STREAM_BEGINNING)
		return; /* the engine has ended the stream meanwhile */
	if (status) {
		free(epoch->queue.ring);
		epoch->queue = (struct drawn_queue){0};
		epoch->stream = STREAM_ABSENT;
	} else {
		epoch->stream = STREAM_READY;
		epochs->needed += epoch->set->positions - epoch->bound;
	}
	resume_waiting(epochs, number, status);
}

/* Requests that wait for the stream are handled again, in epochs_resume: they demand another stream
 * or, if the epoch is over, choose another epoch (EPOCH_CURRENT) or get -ESTALE. */
void epoch_end_stream(struct epochs *epochs, struct epoch *epoch, struct effects *effects)
{
	if (epoch->stream == STREAM_ABSENT)
		return;
	if (epoch->stream == STREAM_READY)
		epochs->needed -=
			epoch->set->positions - epoch->bound - epoch->queue.length;
	epoch->stream = STREAM_ABSENT;
	struct effect *effect = effect_add(effects, EFFECT_END);
	effect->epoch = epoch->number;
	hand_over_queue(epochs, epoch, &effect->queue);
	resume_waiting(epochs, epoch->number, 0);
}

void epoch_save(struct epochs *epochs, struct epoch *epoch, struct effects *effects)
{
	if (!epoch->over || epoch->saving || epoch == epochs->running ||
		epoch == epochs->draining)
		return;
	/* nothing was bound, because the order was not loaded: its file is still complete */
	if (epoch->load != LOAD_DONE) {
		known_remove(epochs, epoch->number);
		resume_waiting(epochs, epoch->number, 0);
		epochs_saved(epochs, epoch->number);
		return;
	}
	epoch->saving = true;
	effect_add(effects, EFFECT_SAVE)->epoch = epoch->number;
}

void epoch_end(struct epochs *epochs, struct epoch *epoch, struct effects *effects)
{
	if (!epoch->over) {
		epoch->over = true;
		effect_record(effects,
			(struct record){.kind = RECORD_ENDED, .epoch = epoch->number});
	}
	epoch_drop_pins(epochs, epoch, 0, false, effects);
	epoch_end_stream(epochs, epoch, effects);
}
