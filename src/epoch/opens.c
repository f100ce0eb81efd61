// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

#include <errno.h>

/*
 * The way of an open:
 *
 *     epochs_open -> take_up -> choose the epoch -> bound already?      -> answer
 *                        ^                       -> a sample is queued? -> bind, answer
 *                        |                       -> no: DRAW -> epochs_take_drawn; or,
 *                        |                          where samples are fed, wait
 *     epochs_resume -----+---------------------- -> no stream: wait
 */

static void answer(struct open_request *request, int status, const struct epoch *epoch,
	struct effects *effects)
{
	request->status = status;
	request->sample = SAMPLE_NONE;
	if (status == 0) {
		request->found_epoch = epoch->number;
		request->sample = epoch->samples[request->position] - 1;
		struct pin *pin =
			request->label ? NULL : epoch_pin(epoch, request->position);
		if (pin)
			pin->opens++;
	}
	effect_add(effects, EFFECT_ANSWER)->request = request;
}

sample_id fixed_sample(const struct epoch_set *set, uint32_t position)
{
	uint32_t sample;
	if (set->fixed)
		return set->fixed[position];
	bool found = roaring_bitmap_select(set->selection, position, &sample);
	ensure(found);
	return sample;
}

static void return_request(enum effect_kind kind, struct open_request *request,
	uint32_t epoch, sample_id sample, struct effects *effects)
{
	request->status = 0;
	request->found_epoch = epoch;
	request->sample = sample;
	effect_add(effects, kind)->request = request;
}

static void bind(struct epochs *epochs, struct open_request *request, struct epoch *epoch,
	struct effects *effects)
{
	struct drawn drawn = epoch_pop(epoch);
	epoch_bind(epoch, request->position, drawn.sample, drawn.served);
	effect_record_bound(
		effects, epoch->number, request->position, drawn.sample, drawn.served);
	if (drawn.pinned)
		epoch_keep_pin(epochs, epoch, request->position, drawn.sample, effects);
	/* Reading only a position's label makes no release, which would drop the position's pin.
	 * Therefore the pins of positions that were bound long ago are dropped here. */
	epoch_drop_pins(
		epochs, epoch, 4 * epochs->config.lookahead + 256, false, effects);
	/* Two conditions end the draining epoch, which may be `epoch` itself: no script reads the
	 * draining epoch; and more than half of the running epoch was bound since a file of the
	 * draining epoch was last opened. */
	if (epochs->draining && !epochs->drains_on &&
		epochs->running->bound - epochs->draining->read_at >
			epochs->running->set->positions / 2)
		let_go_of_draining(epochs, effects);
	answer(request, 0, epoch, effects);
}

static void draw(struct epochs *epochs, struct open_request *request,
	const struct epoch *epoch, struct effects *effects)
{
	ensure(!epochs->drawing);
	epochs->drawing = request;
	epochs->drawing_epoch = epoch->number;
	struct effect *effect = effect_add(effects, EFFECT_DRAW);
	effect->epoch = epoch->number;
	effect->position = request->position;
	if (epochs->config.kind == EPOCHS_FIXED)
		effect->sample = fixed_sample(epoch->set, request->position);
}

static void wait(struct epochs *epochs, struct open_request *request, uint32_t number)
{
	request->waits = true;
	request->awaited = number;
	TAILQ_INSERT_TAIL(&epochs->waiting, request, link);
}

void resume_waiting(struct epochs *epochs, uint32_t number, int status)
{
	struct open_request *request, *next;
	for (request = TAILQ_FIRST(&epochs->waiting); request; request = next) {
		next = TAILQ_NEXT(request, link);
		if (request->awaited != number)
			continue;
		TAILQ_REMOVE(&epochs->waiting, request, link);
		request->status = status;
		TAILQ_INSERT_TAIL(&epochs->resuming, request, link);
	}
}

static void take_unbound(struct epochs *epochs, struct open_request *request,
	struct epoch *epoch, struct effects *effects)
{
	int err = epoch->over ? -ESTALE : epoch_reserve(epoch);
	if (!err && epoch->stream == STREAM_ABSENT)
		err = epoch_begin_stream(epochs, epoch, effects);
	if (err)
		answer(request, err, NULL, effects);
	else if (epoch->stream != STREAM_READY)
		wait(epochs, request, epoch->number);
	else if (epoch->queue.length > 0 && !epochs->lent)
		bind(epochs, request, epoch, effects);
	else if (epochs->config.fed && epochs->starved)
		answer(request, epochs->starved, NULL, effects);
	else if (epochs->config.fed)
		wait(epochs, request, epoch->number);
	else
		draw(epochs, request, epoch, effects);
}

/* Chooses the epoch of a file of current/. If this epoch ends while the request waits, chooses
 * again. */
static int choose_epoch(
	struct epochs *epochs, struct open_request *request, struct effects *effects)
{
	struct epoch *epoch = find_epoch(epochs, request->awaited);
	if (request->chosen && epoch && has_file(epoch, request) &&
		(!epoch->over || epoch_has_bound(epoch, request->position)))
		return 0;
	if (!request->chosen && current_was_chosen(epochs, request, &request->awaited)) {
		request->chosen = true;
		return 0;
	}
	struct choice choice = current_choose(epochs, request);
	if (request->names != set_of(epochs, choice.epoch)->names)
		return -ESTALE;
	/* the epoch may have fewer positions than other epochs */
	if (request->position >= set_of(epochs, choice.epoch)->positions)
		return -ENOENT;
	struct record opened = {.kind = RECORD_OPENED,
		.epoch = choice.epoch,
		.position = request->position,
		.reader = request->reader,
		.how = choice.how,
		.label = request->label && !request->images};
	request->awaited = choice.epoch;
	request->chosen = true;
	if (choice.notice == NOTICE_SCRIPTS && epochs->config.refuses_second) {
		effect_notice(effects, NOTICE_SCRIPTS, choice.epoch);
		return -EBUSY;
	}
	int err = 0;
	if (choice.notice == NOTICES)
		choice.notice = misuse_of(epochs, &opened);
	/* If positions decide their samples, a file gives the intended sample in any epoch. Then
	 * the user need not know of other notices than NOTICE_LAST. */
	if (choice.notice == NOTICE_LAST ||
		(choice.notice != NOTICES && epochs->config.kind != EPOCHS_FIXED))
		effect_notice(effects, choice.notice, choice.epoch);
	if (epochs_state(epochs, choice.epoch) == EPOCH_UNKNOWN)
		err = epochs_begin(
			epochs, choice.epoch, epochs->running != NULL, effects, &epoch);
	if (err || current_says_it(epochs, &opened))
		return err;
	if (adopt_begin(epochs, &opened, effects))
		return 0;
	err = current_note(epochs, &opened);
	if (!err)
		effect_record(effects, opened);
	return err;
}

/* Finds an epoch that has begun, by its number; begins the epoch if it is the next one. */
static int find_or_begin(
	struct epochs *epochs, struct open_request *request, struct effects *effects)
{
	const struct epoch *running = epochs->running;
	struct epoch *begun;
	uint32_t next = running ? running->number + 1 : 0;
	request->awaited = request->epoch;
	if (epochs_state(epochs, request->epoch) != EPOCH_UNKNOWN)
		return 0;
	if (request->epoch != next)
		return -ENOENT;
	bool early = running && !running->over && !epochs->idle &&
		     running->bound <= running->set->positions / 2;
	if (early || current_belongs_to_another(epochs, request, epochs->last_read_ns)) {
		effect_notice(effects, NOTICE_EARLY, next);
		return -EAGAIN;
	}
	bool drains = running && (!running->over || epochs_current_is_read(epochs,
							    epochs->last_read_ns));
	return epochs_begin(epochs, next, drains, effects, &begun);
}

/* Lets the request wait until the order of an epoch that has begun again is loaded. */
static void take_known(struct epochs *epochs, struct open_request *request,
	struct epoch *epoch, struct effects *effects)
{
	if (epoch->load == LOAD_FAILED)
		epoch_load(epoch, effects);
	wait(epochs, request, epoch->number);
}

static void take_up(struct epochs *epochs, struct open_request *request, uint64_t now_ns,
	struct effects *effects)
{
	request->era = epochs->era;
	if (epochs->held) {
		wait(epochs, request, request->awaited);
		return;
	}
	epochs->last_read_ns = now_ns;
	epochs->drains_on = current_needs_draining(epochs, now_ns);
	int err = request->epoch == EPOCH_CURRENT
			  ? choose_epoch(epochs, request, effects)
			  : find_or_begin(epochs, request, effects);
	/* the new epoch first keeps samples (adopt.c); then this request precedes all others */
	if (epochs->adopting.active) {
		request->waits = true;
		request->status = 0;
		TAILQ_INSERT_HEAD(&epochs->resuming, request, link);
		return;
	}
	struct epoch *epoch = find_epoch(epochs, request->awaited);
	if (epoch && epoch == epochs->draining)
		epoch->read_at = epochs->running->bound;
	if (err)
		answer(request, err, NULL, effects);
	else if (!epoch && epochs_state(epochs, request->awaited) == EPOCH_SAVED)
		return_request(
			EFFECT_LOOK_UP, request, request->awaited, SAMPLE_NONE, effects);
	else if (!epoch)
		answer(request, -ESTALE, NULL, effects);
	else if (epoch->load != LOAD_DONE)
		take_known(epochs, request, epoch, effects);
	else if (epoch_has_bound(epoch, request->position))
		answer(request, 0, epoch, effects);
	else
		take_unbound(epochs, request, epoch, effects);
}

void epochs_open(struct epochs *epochs, struct open_request *request, uint64_t now_ns,
	struct effects *effects)
{
	bool current = request->epoch == EPOCH_CURRENT;
	const struct epoch_set *set = epochs_set(epochs, request->epoch);
	const struct epoch_set *widest = current ? epochs_widest_set(epochs) : set;
	bool exists = (current || request->epoch < epochs->config.limit) &&
		      request->position < widest->positions;
	request->waits = request->chosen = false;
	ensure(!epochs->adopting.active);
	if (epochs->left)
		answer(request, -ENODEV, NULL, effects);
	/* the file names have changed; the caller looks up the name again */
	else if (request->names != set->names)
		answer(request, -ESTALE, NULL, effects);
	else if (!exists)
		answer(request, -ENOENT, NULL, effects);
	/* all epochs of a mirror have the same samples; current/ is its epoch 0 */
	else if (epochs->config.kind == EPOCHS_MIRRORED)
		return_request(EFFECT_ANSWER, request, current ? 0 : request->epoch,
			fixed_sample(&epochs->config.set, request->position), effects);
	else
		take_up(epochs, request, now_ns, effects);
}

bool epochs_cancel(struct epochs *epochs, struct open_request *request)
{
	struct open_request *other;
	if (!request->waits)
		return false;
	TAILQ_FOREACH (other, &epochs->resuming, link)
		if (other == request)
			break;
	TAILQ_REMOVE(other ? &epochs->resuming : &epochs->waiting, request, link);
	request->waits = false;
	return true;
}

bool epochs_resume(struct epochs *epochs, uint64_t now_ns, struct effects *effects)
{
	struct open_request *request =
		epochs->held && !epochs->left ? NULL : TAILQ_FIRST(&epochs->resuming);
	if (epochs->adopting.active) {
		adopt_some(epochs, effects);
		return true;
	}
	if (!request)
		return false;
	TAILQ_REMOVE(&epochs->resuming, request, link);
	request->waits = false;
	int status = epochs->left ? -ENODEV : request->status;
	if (status)
		answer(request, status, NULL, effects);
	else
		take_up(epochs, request, now_ns, effects);
	return true;
}

static void resume_fed(struct epochs *epochs)
{
	ensure(epochs->config.fed);
	if (epochs->running)
		resume_waiting(epochs, epochs->running->number, 0);
	if (epochs->draining)
		resume_waiting(epochs, epochs->draining->number, 0);
}

void epochs_starve(struct epochs *epochs, int status)
{
	epochs->starved = status;
	resume_fed(epochs);
}

void epochs_lend(struct epochs *epochs, bool lent)
{
	epochs->lent = lent;
	resume_fed(epochs);
}

void epochs_take_drawn(struct epochs *epochs, struct effects *effects)
{
	struct open_request *request = epochs->drawing;
	ensure(request);
	epochs->drawing = NULL;
	bind(epochs, request, find_epoch(epochs, epochs->drawing_epoch), effects);
}
