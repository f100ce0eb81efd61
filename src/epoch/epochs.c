// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

#include <errno.h>

void effect_unpin(struct effects *effects, uint32_t epoch, sample_id sample)
{
	struct effect *effect = effect_add(effects, EFFECT_UNPIN);
	effect->epoch = epoch;
	effect->sample = sample;
}

void effect_notice(struct effects *effects, enum notice notice, uint32_t epoch)
{
	struct effect *effect = effect_add(effects, EFFECT_NOTICE);
	effect->notice = notice;
	effect->epoch = epoch;
}

int epochs_new(const struct epochs_config *config, struct epochs **ret)
{
	struct epochs *epochs = calloc(1, sizeof(*epochs));
	if (!epochs)
		return -ENOMEM;
	epochs->config = *config;
	TAILQ_INIT(&epochs->sets);
	epochs_use_set(epochs, 0, &epochs->config.set);
	TAILQ_INIT(&epochs->waiting);
	TAILQ_INIT(&epochs->resuming);
	TAILQ_INIT(&epochs->spare);
	epochs->saved = roaring_bitmap_create();
	if (!epochs->saved) {
		epochs_free(&epochs);
		return -ENOMEM;
	}
	*ret = epochs;
	return 0;
}

void epochs_free(struct epochs **epochs_pointer)
{
	struct epochs *epochs = *epochs_pointer;
	struct epoch *epoch;
	struct pin *pin;
	if (!epochs)
		return;
	ensure(TAILQ_EMPTY(&epochs->waiting) && TAILQ_EMPTY(&epochs->resuming));
	epochs->running = epochs->draining = NULL;
	while ((epoch = LIST_FIRST(&epochs->live)))
		epoch_kill(epochs, epoch);
	while ((epoch = epochs_reap(epochs)))
		epoch_reaped_free(epoch);
	while ((pin = epoch_take_spare(epochs)))
		free(pin);
	skip_forget(epochs, UINT32_MAX);
	current_destroy(epochs);
	free(epochs->adopting.files);
	bitmap_free(&epochs->saved);
	free(epochs->current.before);
	free(epochs->known);
	free(epochs);
	*epochs_pointer = NULL;
}

/* Ends the draining epoch, which no worker is expected to read any more. */
void let_go_of_draining(struct epochs *epochs, struct effects *effects)
{
	struct epoch *draining = epochs->draining;
	if (!draining)
		return;
	epoch_end(epochs, draining, effects);
	epochs->draining = NULL;
	epochs->drained = 0;
	effect_record(effects,
		(struct record){.kind = RECORD_LET_GO, .epoch = draining->number});
	epoch_save(epochs, draining, effects);
}

/* If the previous epoch drains, its stream ends. The previous epoch gets another stream if a slow
 * worker opens one of its unbound positions. */
int epochs_begin(struct epochs *epochs, uint32_t number, bool drains,
	struct effects *effects, struct epoch **ret)
{
	struct epoch *before = epochs->running;
	uint32_t bound = epochs_known_bound(epochs, number);
	int err = epoch_new(epochs, number, ret);
	if (err)
		return err;
	let_go_of_draining(epochs, effects);
	ensure(drains ? before != NULL : !before || before->over);
	if (drains)
		epoch_end_stream(epochs, before, effects);
	epoch_run(epochs, *ret, drains);
	effect_record(effects, (struct record){.kind = RECORD_BEGUN,
				       .epoch = number,
				       .rolls = drains,
				       .bound = bound});
	if (before && !drains)
		epoch_save(epochs, before, effects);
	if (bound > 0)
		epoch_load(*ret, effects);
	return 0;
}

bool epochs_given(struct epochs *epochs, uint32_t number, uint32_t position)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	struct pin *pin = epoch ? epoch_pin(epoch, position) : NULL;
	if (epochs->config.kind == EPOCHS_MIRRORED)
		/* a job with layout = mirror has no pins, and counts each read */
		return true;
	if (!pin || pin->given)
		return false;
	pin->given = true;
	return true;
}

static void consume(struct epochs *epochs, struct epoch *epoch, uint32_t position,
	struct pin *pin, struct effects *effects)
{
	if (epoch_has_consumed(epoch, position))
		return;
	epoch_mark_consumed(epoch, position);
	effect_record_consumed(effects, epoch->number, position);
	if (pin)
		epoch_drop_pin(epochs, epoch, pin, effects);
	if (!epoch->over && epoch->consumed == epoch->set->positions)
		epoch_end(epochs, epoch, effects);
}

int epochs_go_on(struct epochs *epochs, uint32_t number, struct effects *effects)
{
	struct epoch *running = epochs->running, *begun;
	if (running && number == running->number)
		let_go_of_draining(epochs, effects);
	if (running && number <= running->number)
		return 0;
	if (running && !running->over)
		epoch_end(epochs, running, effects);
	return epochs_begin(epochs, number, false, effects, &begun);
}

static uint32_t first_unbound(struct epoch *epoch)
{
	while (epoch_has_bound(epoch, epoch->first_unbound))
		epoch->first_unbound++;
	return epoch->first_unbound;
}

static sample_id drop_drawn(
	struct epochs *epochs, struct epoch *epoch, struct effects *effects)
{
	struct drawn drawn = epoch_pop(epoch);
	if (drawn.pinned) {
		epochs->pins--;
		effect_unpin(effects, epoch->number, drawn.sample);
	}
	return drawn.sample;
}

int epochs_had(
	struct epochs *epochs, uint32_t number, sample_id next, struct effects *effects)
{
	struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch && !epoch->over);
	int err = epoch_reserve(epoch);
	if (err)
		return err;
	if (epoch->queue.length > 0)
		next = drop_drawn(epochs, epoch, effects);
	else
		epochs->needed -= epoch->stream == STREAM_READY;
	ensure(next != SAMPLE_NONE);
	uint32_t position = first_unbound(epoch);
	epoch_bind(epoch, position, next, SERVED_HIT);
	effect_record_bound(effects, number, position, next, SERVED_HIT);
	consume(epochs, epoch, position, NULL, effects);
	resume_waiting(epochs, number, 0);
	return 0;
}

/* Notes that a reader has closed the file. Drops the pin if no reader has the file open any more,
 * and the epoch is over or the job is parked. Then returns NULL, otherwise the pin. */
static struct pin *close_pin(struct epochs *epochs, struct epoch *epoch, struct pin *pin,
	struct effects *effects)
{
	pin->opens--;
	if (pin->opens > 0 || (!epoch->over && !epochs->idle))
		return pin;
	epoch_drop_pin(epochs, epoch, pin, effects);
	return NULL;
}

static void kill_if_saved(struct epochs *epochs, struct epoch *epoch)
{
	if (epoch->saved && TAILQ_EMPTY(&epoch->pins))
		epoch_kill(epochs, epoch);
}

void epochs_released(struct epochs *epochs, uint32_t number, uint32_t position, bool read,
	uint64_t now_ns, struct effects *effects)
{
	struct epoch *epoch = find_epoch(epochs, number);
	epochs->last_read_ns = now_ns;
	if (!epoch)
		return;
	struct pin *pin = epoch_pin(epoch, position);
	if (pin)
		pin = close_pin(epochs, epoch, pin, effects);
	if (read && !epochs->left)
		consume(epochs, epoch, position, pin, effects);
	kill_if_saved(epochs, epoch);
}

void epochs_released_before(struct epochs *epochs, uint32_t number, uint32_t position,
	uint64_t now_ns, struct effects *effects)
{
	struct epoch *epoch = find_epoch(epochs, number);
	epochs->last_read_ns = now_ns;
	if (!epoch || epochs->left || position >= epoch->set->positions ||
		!epoch_has_bound(epoch, position))
		return;
	consume(epochs, epoch, position, epoch_pin(epoch, position), effects);
	kill_if_saved(epochs, epoch);
}

void epochs_saved(struct epochs *epochs, uint32_t number)
{
	struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch && epoch->over);
	ensure(epoch != epochs->running && epoch != epochs->draining);
	roaring_bitmap_add(epochs->saved, number);
	epoch->saved = true;
	kill_if_saved(epochs, epoch);
}

void epochs_forget_before(struct epochs *epochs, uint32_t number)
{
	roaring_bitmap_remove_range(epochs->saved, 0, number);
	skip_forget(epochs, number);
}

static void end_streams(struct epochs *epochs, bool all_pins, struct effects *effects)
{
	struct epoch *epoch, *next;
	for (epoch = LIST_FIRST(&epochs->live); epoch; epoch = next) {
		next = LIST_NEXT(epoch, link);
		epoch_end_stream(epochs, epoch, effects);
		epoch_drop_pins(epochs, epoch, 0, all_pins, effects);
		kill_if_saved(epochs, epoch);
	}
}

/* Tells whether the epoch has a stream or a pin that a parked job must not have. */
static bool holds(const struct epoch *epoch)
{
	const struct pin *pin;
	if (epoch->stream == STREAM_READY)
		return true;
	TAILQ_FOREACH (pin, &epoch->pins, link)
		if (pin->opens == 0)
			return true;
	return false;
}

static bool is_waited_for(const struct epochs *epochs, const struct epoch *epoch)
{
	const struct open_request *request;
	TAILQ_FOREACH (request, &epochs->waiting, link)
		if (request->awaited == epoch->number)
			return true;
	return false;
}

/* Tells whether a fed job's draining epoch must end before all its samples are consumed. Two
 * conditions must hold. First, the reads of this epoch have stopped: no script reads the epoch, or
 * the epoch pauses, that is, none of its samples was consumed for a minute. Second, somebody waits
 * for the end of this epoch: an open of the running epoch waits for a sample; or other ranks wait
 * (epochs_hurry), and either a script reads current/ or the draining epoch pauses. */
static bool is_stranded(struct epochs *epochs, uint64_t now_ns)
{
	const struct epoch *draining = epochs->draining;
	if (!draining || !epochs->config.fed)
		return false;
	if (epochs->drained != draining->consumed + 1) {
		epochs->drained = draining->consumed + 1;
		epochs->drained_ns = now_ns;
	}
	bool pauses = epochs->drained_ns + PAUSE_NS < now_ns;
	bool stands = pauses || !current_needs_draining(epochs, now_ns);
	bool others =
		epochs->hurries && (pauses || epochs_current_is_read(epochs, now_ns));
	return stands && draining->consumed < draining->set->positions &&
	       (others || is_waited_for(epochs, epochs->running));
}

void epochs_hurry(struct epochs *epochs, bool hurries)
{
	epochs->hurries = hurries;
}

void epochs_time(struct epochs *epochs, uint64_t now_ns, struct effects *effects)
{
	const struct epoch *epoch;
	bool any = false;
	if (is_stranded(epochs, now_ns)) {
		let_go_of_draining(epochs, effects);
		return;
	}
	LIST_FOREACH (epoch, &epochs->live, link)
		any = any || holds(epoch);
	if (!any || epochs->last_read_ns + epochs->config.idle_ns >= now_ns)
		return;
	end_streams(epochs, false, effects);
	epochs->idle = true;
}

void epochs_leave(struct epochs *epochs, struct effects *effects)
{
	epochs->left = true;
	end_streams(epochs, true, effects);
	TAILQ_CONCAT(&epochs->resuming, &epochs->waiting, link);
}
