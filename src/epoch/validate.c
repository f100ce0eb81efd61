// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

static uint32_t count_pinned(const struct drawn_queue *queue)
{
	uint32_t n = 0;
	ensure(queue->length <= queue->size);
	for (uint32_t i = 0; i < queue->length; i++)
		n += queue->ring[(queue->head + i) % queue->size].pinned;
	return n;
}

/* Checks that each sample is one of the job's, and is bound or drawn at most once. */
static void validate_samples(const struct epoch *epoch)
{
	const struct drawn_queue *queue = &epoch->queue;
	auto_bitmap roaring_bitmap_t *seen = roaring_bitmap_create();
	for (uint32_t position = 0; position < epoch->set->positions; position++)
		if (epoch_has_bound(epoch, position))
			ensure(roaring_bitmap_add_checked(
				seen, epoch->samples[position] - 1));
	ensure(roaring_bitmap_get_cardinality(seen) == epoch->bound);
	for (uint32_t i = 0; i < queue->length; i++)
		ensure(roaring_bitmap_add_checked(
			seen, queue->ring[(queue->head + i) % queue->size].sample));
	ensure(roaring_bitmap_is_subset(seen, epoch->set->selection));
}

static void validate_log(const struct epoch *epoch)
{
	struct order order = {.positions = epoch->set->positions,
		.bound = epoch->bound,
		.samples = epoch->samples,
		.log = epoch->log};
	auto_bitmap roaring_bitmap_t *seen = roaring_bitmap_create();
	for (uint32_t k = 0; k < epoch->bound; k++) {
		struct binding binding = order_binding(&order, k);
		ensure(roaring_bitmap_add_checked(seen, binding.position));
		ensure(epoch_has_bound(epoch, binding.position));
	}
}

static void validate_consumed(const struct epoch *epoch)
{
	uint32_t n = 0;
	for (uint32_t position = 0; position < epoch->set->positions; position++) {
		if (!epoch_has_consumed(epoch, position))
			continue;
		ensure(epoch_has_bound(epoch, position) && !epoch_pin(epoch, position));
		n++;
	}
	ensure(n == epoch->consumed);
	uint32_t unread = 0, end = 0;
	for (uint32_t k = 0; k < n; k++) {
		ensure(epoch_has_consumed(epoch, epoch->reads[k]));
		end = epoch->reads[k] >= end ? epoch->reads[k] + 1 : end;
	}
	while (unread < end && epoch_has_consumed(epoch, unread))
		unread++;
	ensure(end == epoch->read_end && unread == epoch->first_unread);
}

static uint32_t validate_pins(const struct epoch *epoch)
{
	const struct pin *pin;
	uint32_t n = 0;
	TAILQ_FOREACH (pin, &epoch->pins, link) {
		ensure(epoch_pin(epoch, pin->position) == pin);
		ensure(epoch->samples[pin->position] == pin->sample + 1);
		ensure(pin->opens > 0 || !epoch->over);
		n++;
	}
	ensure(n == epoch->n_pins);
	return n + count_pinned(&epoch->queue);
}

static void validate_stream(const struct epochs *epochs, const struct epoch *epoch)
{
	bool has = epoch->stream != STREAM_ABSENT;
	ensure(has == (epoch->queue.ring != NULL));
	ensure(!has || epoch == epochs->running || epoch == epochs->draining);
	ensure(!has || !epoch->over);
	ensure(epoch->queue.length == 0 || epoch->stream == STREAM_READY);
	ensure(epoch->bound + epoch->queue.length <= epoch->set->positions);
}

/* Checks that the script's run did not begin before its epoch, that the files which count as opened
 * are counted right, and that the script has the epoch's set. */
static void validate_script(const struct epochs *epochs, const struct script *script)
{
	const struct epoch *epoch = find_epoch(epochs, script->epoch);
	uint32_t opened = 0;
	ensure(script->run >= script->begun && script->opens >= script->run);
	for (uint32_t file = 0; file < script->files; file++)
		opened += is_opened(script, file);
	ensure(opened == script->opened);
	ensure(!epoch || script->set == epoch->set);
}

void epochs_validate(const struct epochs *epochs)
{
	const struct epoch *epoch;
	uint64_t needed = 0;
	uint32_t pins = 0;
	LIST_FOREACH (epoch, &epochs->live, link) {
		ensure(epoch->set == set_of(epochs, epoch->number));
		validate_stream(epochs, epoch);
		validate_samples(epoch);
		validate_log(epoch);
		validate_consumed(epoch);
		pins += validate_pins(epoch);
		if (epoch->stream == STREAM_READY)
			needed += epoch->set->positions - epoch->bound -
				  epoch->queue.length;
		ensure(!roaring_bitmap_contains(epochs->saved, epoch->number) ||
			epoch->saved);
	}
	for (uint32_t i = 0; i < epochs->current.n_scripts; i++)
		if (epochs->current.scripts[i].marks)
			validate_script(epochs, &epochs->current.scripts[i]);
	ensure(pins == epochs->pins);
	ensure(needed == epochs->needed);
	ensure(!epochs->idle || !epochs->running ||
		epochs->running->stream == STREAM_ABSENT);
}

uint32_t epochs_pins(const struct epochs *epochs)
{
	return epochs->pins;
}

uint32_t epochs_pins_of(const struct epochs *epochs, const void *owner, sample_id sample)
{
	const struct epoch *epoch;
	const struct pin *pin;
	uint32_t n = 0;
	LIST_FOREACH (epoch, &epochs->live, link) {
		const struct drawn_queue *queue = &epoch->queue;
		if (epoch->set->owner != owner)
			continue;
		for (uint32_t i = 0; i < queue->length; i++) {
			const struct drawn *drawn =
				&queue->ring[(queue->head + i) % queue->size];
			n += drawn->pinned && drawn->sample == sample;
		}
		TAILQ_FOREACH (pin, &epoch->pins, link)
			n += pin->sample == sample;
	}
	return n;
}
